# SPDX-License-Identifier: BSD-3-Clause
"""The results of saves: SHUTDOWN SAVE together with other saves and after an error, BGSAVE in a transaction, hints
about the use of keys, and log lines about data that a file lacks or that old versions of Redis cannot read."""

import subprocess
import threading
import time

import pytest
import redis
from harness import Server, start_redis, tool_path
from pairs import wait_for_link
from raw_client import RawClient
from waiting import wait_until

IN_PROGRESS = "rdb_bgsave_in_progress"
SLOT_INFO = b"\xf4\x5c\xc5\x01\x00"  # slot 7365 has one key, without an expiry


def text(value):
    """A short text of an RDB file."""
    return bytes([len(value)]) + value


def run_tool(name, data_dir, path):
    """Runs cairn-import or cairn-export; returns its result."""
    return subprocess.run([tool_path(f"cairn-{name}"), "--dir", data_dir, path], capture_output=True, text=True,
                          timeout=300, check=True)


def start_long_save(cairn, keys=2000):
    """Fills the server and starts a background save that does not end by itself."""
    cairn.client().mset({f"k{number}": number for number in range(keys)})
    cairn.client().config_set("rdb-key-save-delay", 50000)
    cairn.client().execute_command("BGSAVE")
    assert cairn.client().info("persistence")[IN_PROGRESS] == 1


def await_file(folder, pattern):
    """Waits until a save has created the file, or a temporary one."""
    wait_until(lambda: list(folder.glob(pattern)), pattern)


@pytest.fixture(name="blocked")
def blocked_server():
    """A server whose RDB file cannot be written, because a directory has its name."""
    with Server() as cairn:
        (cairn.data_dir / "dump.rdb" / "full").mkdir(parents=True)
        yield cairn


def test_shutdown_save_replaces_a_background_save():
    """The running save ends at once, and the file has all data, including writes after the start of that save."""
    with Server() as cairn:
        start_long_save(cairn)
        cairn.client().config_set("rdb-key-save-delay", 0)
        cairn.client().set("later", 1)
        began = time.monotonic()
        assert cairn.shutdown("SAVE") == 0
        assert time.monotonic() - began < 60
        with start_redis(dir=cairn.data_dir) as other:
            assert other.client().dbsize() == 2001
            assert other.client().get("later") == b"1"


@pytest.mark.slow
def test_shutdown_save_waits_for_a_running_save_command():
    """SAVE gets its reply, and then the server saves again and ends."""
    with Server() as cairn:
        client = cairn.client()
        client.mset({f"k{number}": number for number in range(100)})
        client.config_set("rdb-key-save-delay", 5000)
        answers = []
        saver = threading.Thread(target=lambda: answers.append(RawClient(cairn.port)("save")))
        saver.start()
        await_file(cairn.data_dir, "*.tmp")
        assert cairn.client().set("later", 1)
        assert cairn.shutdown("SAVE") == 0
        saver.join()
        assert answers == [(b"+", b"OK")]
        with start_redis(dir=cairn.data_dir) as other:
            assert other.client().get("later") == b"1"


@pytest.mark.parametrize("how", ["NOSAVE", "SIGTERM"])
def test_other_shutdowns_abort_the_background_save(how):
    """The shutdown does not wait for it, and no partial file remains."""
    with Server() as cairn:
        start_long_save(cairn)
        assert (cairn.terminate() if how == "SIGTERM" else cairn.shutdown(how)) == 0
        assert not [path for path in cairn.data_dir.iterdir() if "rdb" in path.name]


def test_shutdown_save_contains_all_acknowledged_writes():
    """Clients write until they are disconnected, and the file has all their acknowledged writes."""
    with Server() as cairn:
        cairn.client().mset({f"k{number}": number for number in range(2000)})
        counts = [0] * 4

        def write(which):
            client = RawClient(cairn.port)
            try:
                while client("incr", f"count:{which}")[0] == b":":
                    counts[which] += 1
            except OSError:
                pass

        writers = [threading.Thread(target=write, args=(which,)) for which in range(4)]
        for writer in writers:
            writer.start()
        wait_until(lambda: min(counts) > 0, "the writes of all")
        assert cairn.shutdown("SAVE") == 0
        for writer in writers:
            writer.join()
        with start_redis(dir=cairn.data_dir) as other:
            saved = [int(value) for value in other.client().mget(*(f"count:{which}" for which in range(4)))]
        assert min(counts) > 0
        assert all(kept >= told for kept, told in zip(saved, counts)), (saved, counts)


def test_shutdown_save_that_fails_is_refused(blocked):
    """With Redis's error text. The server continues and accepts writes; when the file can be written, it ends."""
    client = blocked.client()
    for _ in range(2):
        with pytest.raises(redis.ResponseError, match=r"^Errors trying to SHUTDOWN\. Check logs\.$"):
            client.execute_command("SHUTDOWN", "SAVE")
        assert client.incr("written") > 0
    assert "can't exit" in blocked.log_tail()
    (blocked.data_dir / "dump.rdb" / "full").rmdir()
    (blocked.data_dir / "dump.rdb").rmdir()
    assert blocked.shutdown("SAVE") == 0
    with start_redis(dir=blocked.data_dir) as other:
        assert other.client().get("written") == b"2"


@pytest.mark.slow
def test_writes_blocked_by_a_failed_shutdown_are_run(blocked):
    """A client that wrote meanwhile gets its reply when the shutdown is refused."""
    blocked_path = blocked.data_dir / "dump.rdb"
    blocked_path.rename(blocked.data_dir / "later")
    client = blocked.client()
    client.mset({f"k{number}": number for number in range(100)})
    client.config_set("rdb-key-save-delay", 20000)
    refusals = []
    ending = threading.Thread(target=lambda: refusals.append(RawClient(blocked.port)("shutdown", "save")))
    ending.start()
    await_file(blocked.data_dir, "*.tmp")
    assert client.get("k1") == b"1"
    assert not refusals
    (blocked.data_dir / "later").rename(blocked_path)
    assert client.set("held", 1)
    ending.join()
    assert refusals == [(b"-", b"ERR Errors trying to SHUTDOWN. Check logs.")]


def test_forced_shutdown_ends_although_the_save_fails(blocked):
    """The data is in the directory anyway."""
    blocked.client().set("kept", 1)
    assert blocked.shutdown("SAVE", "FORCE") == 0
    assert "Exit anyway" in blocked.log_tail()
    blocked.start()
    assert blocked.client().get("kept") == b"1"


def test_a_failed_save_replies_like_redis(blocked):
    """The reply does not mention the file; the log does."""
    with start_redis() as other:
        (other.data_dir / "dump.rdb" / "full").mkdir(parents=True)
        assert RawClient(blocked.port)("save") == RawClient(other.port)("save") == (b"-", b"ERR")
    assert "dump.rdb exists and is not an RDB file" in blocked.log_tail()
    assert blocked.client().info("persistence")["rdb_last_bgsave_status"] == "err"


@pytest.mark.parametrize("start", [Server, start_redis], ids=["cairn", "redis"])
@pytest.mark.parametrize("words", [["BGSAVE"], ["BGSAVE", "SCHEDULE"]], ids=" ".join)
def test_bgsave_in_a_transaction_includes_the_transaction(start, words):
    """It is scheduled, and the file has the writes of the transaction before and after it."""
    with start() as server:
        client = RawClient(server.port)
        for argv in (["multi"], ["set", "before", "1"], words, ["set", "after", "2"]):
            client(*argv)
        done = (b"+", b"OK")
        assert client("exec") == (b"*", [done, (b"+", b"Background saving scheduled"), done])
        await_file(server.data_dir, "dump.rdb")
        with start_redis(dir=server.data_dir) as other:
            assert other.client().mget("before", "after") == [b"1", b"2"]


def test_bgsave_in_a_transaction_is_refused_while_a_save_runs():
    """The same error as outside a transaction."""
    with Server() as cairn:
        start_long_save(cairn)
        for words in (["BGSAVE"], ["BGSAVE", "SCHEDULE"]):
            pipe = cairn.client().pipeline(transaction=True)
            pipe.execute_command(*words)
            with pytest.raises(redis.ResponseError, match="Background save already in progress"):
                pipe.execute()


@pytest.mark.slow
@pytest.mark.parametrize("policy, hint, value, most", [("allkeys-lfu", "FREQ", 77, 77),
                                                       ("volatile-lru", "IDLETIME", 5000, 5060)])
def test_the_use_of_keys_is_in_the_file(tmp_path, policy, hint, value, most):
    """From redis-server to Cairn by a first start and by a replica's transfer, and back by SAVE."""
    use = {"maxmemory_policy": policy, "lfu_decay_time": 0}  # a new minute during the test must not matter
    with start_redis(**use) as source:
        client = source.client()
        client.set("plain", 1)
        client.execute_command("RESTORE", "k", 0, client.dump("plain"), hint, value)
        client.save()
        (tmp_path / "dump.rdb").write_bytes((source.data_dir / "dump.rdb").read_bytes())
        with Server(**use, replicaof=f"127.0.0.1 {source.port}") as replica:
            wait_for_link(replica)
            assert value <= replica.client().execute_command("OBJECT", hint, "k") <= most
    with Server(data_dir=tmp_path, **use) as cairn:
        assert value <= cairn.client().execute_command("OBJECT", hint, "k") <= most
        cairn.client().save()
        loader = start_redis(data_dir=tmp_path, maxmemory="1gb", **use)
        with loader:
            assert value <= loader.client().execute_command("OBJECT", hint, "k") <= most


def test_no_hints_without_a_policy(tmp_path):
    """A file has no hints if the policy does not need the use of keys."""
    with Server(data_dir=tmp_path) as cairn:
        cairn.client().set("k", "v")
        cairn.client().save()
    assert b"\xfb\x01\x00\x00" + text(b"k") + text(b"v") + b"\xff" in (tmp_path / "dump.rdb").read_bytes()


@pytest.mark.slow
def test_export_writes_all_databases_and_a_save_reports_missing_ones(tmp_path):
    """A server with fewer databases than its directory saves those it offers, and logs that there are more."""
    with Server(databases=32) as cairn:
        cairn.client().set("first", 1)
        cairn.client(db=20).mset({"a": 1, "b": 2})
        cairn.shutdown()
        cairn.directives["databases"] = 16
        cairn.start()
        cairn.client().save()
        assert "2 keys are left out of a copy of the data" in cairn.log_tail()
        cairn.shutdown()
        assert "3 keys exported" in run_tool("export", cairn.data_dir, tmp_path / "all.rdb").stdout
        with start_redis(dir=cairn.data_dir) as other:
            assert other.client().dbsize() == 1
        with start_redis(dir=tmp_path, dbfilename="all.rdb", databases=32) as other:
            assert other.client(db=20).mget("a", "b") == [b"1", b"2"]
            assert other.client().get("first") == b"1"
        cairn.directives["databases"] = 4
        cairn.start()
        cairn.shutdown()
        assert "3 keys exported" in run_tool("export", cairn.data_dir, tmp_path / "again.rdb").stdout


@pytest.mark.slow
def test_export_warns_of_fields_that_expire(tmp_path):
    """The file has version 10, and Redis before 7.4 refuses it at the first such hash."""
    with Server() as cairn:
        client = cairn.client()
        client.hset("timed", mapping={"f": 1, "g": 2})
        cairn.shutdown()
        assert "expire" not in run_tool("export", cairn.data_dir, tmp_path / "without.rdb").stderr
        cairn.start()
        cairn.client().execute_command("HEXPIRE", "timed", 1000, "FIELDS", 1, "f")
        cairn.shutdown()
        warning = run_tool("export", cairn.data_dir, tmp_path / "with.rdb").stderr
        assert "1 hashes have fields that expire, the first of them timed: Redis before 7.4" in warning


@pytest.mark.slow
def test_export_warns_of_types_of_its_own(tmp_path):
    """Redis refuses the file at the first such key, with an error that does not name it."""
    with Server() as cairn:
        client = cairn.client()
        client.set("text", "x")
        client.execute_command("JSON.SET", "document", "$", "1")
        client.execute_command("BF.ADD", "filter", "item")
        cairn.shutdown()
        warning = run_tool("export", cairn.data_dir, tmp_path / "own.rdb").stderr
        assert "2 keys are JSON values, filters or sketches, the first of them" in warning


def test_slot_info_is_skipped(tmp_path):
    """Redis 7.4 and later write it in a cluster."""
    path = tmp_path / "slots.rdb"
    path.write_bytes(b"REDIS0012\xfe\x00" + SLOT_INFO + b"\xfb\x01\x00\x00" + text(b"foo") + text(b"bar")
                     + b"\xff" + bytes(8))
    assert "1 keys imported" in run_tool("import", tmp_path / "data", path).stdout
    with Server(data_dir=tmp_path / "data") as cairn:
        assert cairn.client().get("foo") == b"bar"


def test_a_start_deletes_what_a_killed_save_has_left():
    with Server() as server:
        left = [server.data_dir / f"{name}.rdb.0123456789abcdef.tmp" for name in ("dump", "memory-databases")]
        others = [server.data_dir / name for name in ("dump.rdb.tmp", "dump.rdb.0123456789abcdeg.tmp", "own.rdb")]
        for path in left + others:
            path.write_bytes(b"REDIS")
        server.restart()
        assert not any(path.exists() for path in left) and all(path.exists() for path in others)


def test_a_file_for_valkey_is_replaced(tmp_path):
    with Server() as server:
        server.client().set("key", "value")
        server.shutdown()
        for _ in range(2):
            subprocess.run([tool_path("cairn-export"), "--valkey", "--dir", server.data_dir, tmp_path / "dump.rdb"],
                           check=True, timeout=60)
        assert (tmp_path / "dump.rdb").read_bytes().startswith(b"VALKEY")
