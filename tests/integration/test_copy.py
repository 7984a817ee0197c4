# SPDX-License-Identifier: BSD-3-Clause
"""cairn-copy: the keys of a server that speaks Redis's protocol, over the wire."""

import contextlib
import os
import socket
import subprocess
import threading
import time

import pytest
import redis
from harness import Server, start_redis, start_valkey, tool_path
from load import describe, fill
from pairs import wait_for_link
from raw_client import TIMEOUT_S
from waiting import wait_until


def copy(source_port, target, *options, status=0, host="127.0.0.1", **environment):
    """Runs the tool into a server; returns its output. `host` is the source's."""
    done = subprocess.run([tool_path("cairn-copy"), *options, f"{host}:{source_port}", f"127.0.0.1:{target.port}"],
                          capture_output=True, text=True, check=False, env={**os.environ, **environment})
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


def without_pending(values):
    """The values that commands can read: of a stream all but its pending entries and consumers."""
    kept = {}
    for key, (kind, expiry, value) in values.items():
        if kind == b"stream":
            entries, groups, _, _, info = value
            value = entries, [(name, last) for name, _, last in groups], info
        kept[key] = kind, abs(expiry) // 10000, value  # a copied time to live may be off by milliseconds
    return kept


@pytest.mark.slow
@pytest.mark.parametrize("start", [start_redis, start_valkey], ids=["redis", "valkey"])
def test_payloads_are_copied_with_all_they_have(start):
    with start() as source, Server() as target:
        fill(source.client(), dbs=(0,), keys=120, large=(1500,))
        shown = copy(source.port, target)
        keys = source.client().dbsize()
        assert f"{keys} keys copied, 0 of them" in shown
        one, other = (describe(server.client(), (0,)) for server in (source, target))
        assert {key: value[2] for key, value in one.items()} == {key: value[2] for key, value in other.items()}


@pytest.mark.slow
@pytest.mark.parametrize("start", [start_redis, start_valkey, Server], ids=["redis", "valkey", "cairn"])
def test_commands_copy_what_dump_cannot(start):
    with start() as source, Server() as target:
        fill(source.client(), dbs=(0,), keys=120, large=(2500,))
        target.client().set("string:0", "replaced")
        target.client().set("kept", "text")
        shown = copy(source.port, target, "--nodump")
        keys = source.client().dbsize()
        assert f"{keys} keys copied, {keys} of them by the commands" in shown
        assert target.client().get("kept") == b"text"
        target.client().delete("kept")
        assert without_pending(describe(target.client(), (0,))) == without_pending(describe(source.client(), (0,)))


def test_a_source_without_dump_is_read_by_commands(tmp_path):
    conf = tmp_path / "redis.conf"
    conf.write_text('rename-command DUMP ""\nrequirepass secret\n')
    with Server(["redis-server", str(conf)], save="") as source, Server(requirepass="other") as target:
        with source.client(password="secret", db=3) as client:
            client.hset("hash", mapping={"f": "1"})
            client.set("other", "text", px=100000)
        shown = copy(source.port, target, "--database", "3", "--into_database", "5", "--match", "*",
                     CAIRN_COPY_FROM_PASSWORD="secret", CAIRN_COPY_INTO_PASSWORD="other")
        assert "2 keys copied, 2 of them" in shown
        with target.client(password="other", db=5) as client:
            assert client.hgetall("hash") == {b"f": b"1"}
            assert 90000 < client.pttl("other") <= 100000
        assert "NOAUTH" in copy(source.port, target, status=1)


def test_a_stream_without_entries_keeps_its_last_id():
    """Else the target would accept ids that the source refuses."""
    with start_redis() as source, Server() as target:
        client = source.client()
        client.xadd("stream", {"f": "v"}, id="5-1")
        client.xdel("stream", "5-1")
        assert "1 keys copied, 1 of them" in copy(source.port, target, "--nodump")
        info = target.client().xinfo_stream("stream")
        assert (info["length"], info["groups"], info["last-generated-id"]) == (0, 0, b"5-1")


def test_a_copy_onto_the_source_itself_is_refused():
    """Without DUMP, a copy deletes a key of the target before it reads the value from the source."""
    with Server(repl_diskless_sync_delay=0) as server:
        client = server.client()
        client.set("key", "value")
        for host in ("127.0.0.1", "localhost"):
            assert "are the same database" in copy(server.port, server, "--nodump", status=1, host=host)
        with Server(replicaof=f"127.0.0.1 {server.port}") as replica:
            wait_for_link(replica)
            assert "is a replica" in copy(replica.port, server, "--nodump", status=1)
        assert client.get("key") == b"value"
        copy(server.port, server, "--nodump", "--into_database", "1")
        with server.client(db=1) as other:
            assert other.get("key") == b"value"


def test_a_copy_onto_the_source_itself_is_refused_without_info():
    with Server(repl_diskless_sync_delay=0) as server:
        client = server.client()
        client.set("key", "value")
        client.execute_command("ACL", "SETUSER", "copier", "on", ">secret", "~*", "&*", "+@all", "-@dangerous")
        with Server(replicaof=f"127.0.0.1 {server.port}") as replica:
            wait_for_link(replica)
            replica.client().execute_command("ACL", "SETUSER", "copier", "on", ">secret", "~*", "+@all", "-@dangerous")
            for source, host in ((server, "localhost"), (replica, "127.0.0.1")):
                shown = copy(source.port, server, "--user", "copier", "--into_user", "copier", status=1, host=host,
                             CAIRN_COPY_FROM_PASSWORD="secret", CAIRN_COPY_INTO_PASSWORD="secret")
                assert "shows what is written to the target" in shown
        assert client.keys() == [b"key"]


class FakeSource:
    """A server that knows the replies to some requests; every other request gets an error."""

    def __init__(self, replies, delays=None):
        self.replies = {"INFO": bulk("run_id:another"), **replies}
        self.delays = delays or {}  # in seconds, by request
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.listener.close()
        self.thread.join()

    def _serve(self):
        connection, _ = self.listener.accept()
        connection.settimeout(TIMEOUT_S)
        with connection, contextlib.closing(connection.makefile("rb")) as requests:
            while head := requests.readline():
                words = []
                for _ in range(int(head[1:])):
                    words.append(requests.read(int(requests.readline()[1:])).decode())
                    requests.readline()
                request = " ".join(words)
                until = time.monotonic() + self.delays.get(request, 0)
                wait_until(lambda until=until: time.monotonic() >= until, "the time that a slow link takes")
                connection.sendall(self.replies.get(request, "-ERR unknown command\r\n").encode("latin-1"))


def bulk(text):
    """A text as a reply."""
    return f"${len(text)}\r\n{text}\r\n"


def array(*items):
    """An array of replies."""
    return f"*{len(items)}\r\n" + "".join(items)


def page(cursor, *items):
    """A reply of SCAN and its family."""
    return array(bulk(cursor), array(*map(bulk, items)))


# After the sources of Kvrocks: a cursor is `_` and the last name, and TYPE knows bitmaps.
KVROCKS = {
    "SCAN 0 COUNT 100": page("_bits", "hash", "bits"), "SCAN _bits COUNT 100": page("0", "list"),
    "TYPE hash": "+hash\r\n", "PTTL hash": ":100000\r\n",
    "HSCAN hash 0 COUNT 1000": page("_f", "f", "1"), "HSCAN hash _f COUNT 1000": page("0", "g", "2"),
    "TYPE bits": "+bitmap\r\n", "PTTL bits": ":-1\r\n", "GET bits": bulk("\x01"),
    "TYPE list": "+list\r\n", "PTTL list": ":-1\r\n",
    "LRANGE list 0 999": array(bulk("a"), bulk("b")), "LRANGE list 1000 1999": array(),
}

# After the sources of Ardb: TYPE is a bulk string, and PTTL 0 for a key without a time to live.
ARDB = {
    "SCAN 0 COUNT 100": page("0", "zset", "set", "gone"),
    "TYPE zset": bulk("zset"), "PTTL zset": ":0\r\n", "ZSCAN zset 0 COUNT 1000": page("0", "a", "1.5", "b", "2"),
    "TYPE set": bulk("set"), "PTTL set": ":100000\r\n", "SSCAN set 0 COUNT 1000": page("0", "x", "y"),
    "TYPE gone": bulk("none"), "PTTL gone": ":0\r\n",
}


def test_kvrocks_is_read_with_its_cursors_and_types():
    with FakeSource(KVROCKS) as source, Server() as target:
        assert "3 keys copied, 3 of them" in copy(source.port, target)
        client = target.client()
        assert client.hgetall("hash") == {b"f": b"1", b"g": b"2"} and 90000 < client.pttl("hash") <= 100000
        assert client.get("bits") == b"\x01" and client.lrange("list", 0, -1) == [b"a", b"b"]


def test_ardb_is_read_with_its_times_to_live():
    with FakeSource(ARDB) as source, Server() as target:
        assert "2 keys copied, 2 of them" in copy(source.port, target)
        client = target.client()
        assert client.zrange("zset", 0, -1, withscores=True) == [(b"a", 1.5), (b"b", 2.0)]
        assert client.smembers("set") == {b"x", b"y"} and 90000 < client.pttl("set") <= 100000
        assert client.pttl("zset") == -1 and client.dbsize() == 2


def test_an_error_of_one_dump_does_not_change_other_keys():
    """Streams lost their pending entries, and fields their times to live, after one large key."""
    with Server(memory_budget="64mb") as source, Server() as target:
        client = source.client()
        pipe = client.pipeline(transaction=False)
        for i in range(150):
            pipe.xadd(f"stream:{i}", {"f": "v"}, id="1-1")
            pipe.xgroup_create(f"stream:{i}", "group", 0)
            pipe.xreadgroup("group", "consumer", {f"stream:{i}": ">"})
            pipe.hset(f"hash:{i}", "f", "v")
            pipe.execute_command("HEXPIRE", f"hash:{i}", 1000, "FIELDS", 1, "f")
        pipe.execute()
        first = next(client.scan_iter()).decode()
        large = f"{{{first}}}"  # in the slot of the first key, so in the first page
        for start in range(0, 150000, 10000):
            client.hset(large, mapping={f"field:{start + i}": "v" * 100 for i in range(10000)})
        with pytest.raises(redis.ResponseError, match="more memory than its part"):
            client.dump(large)
        assert "301 keys copied, 1 of them" in copy(source.port, target)
        copied = target.client()
        assert copied.hlen(large) == 150000
        for i in range(150):
            assert copied.xpending(f"stream:{i}", "group")["pending"] == 1
            assert copied.execute_command("HTTL", f"hash:{i}", "FIELDS", 1, "f")[0] > 0


# A document and a stream that are deleted while they are copied.
DELETED = {
    "SCAN 0 COUNT 100": page("0", "doc", "stream", "kept"),
    "TYPE doc": "+ReJSON-RL\r\n", "PTTL doc": ":-1\r\n", "JSON.GET doc": "$-1\r\n",
    "TYPE stream": "+stream\r\n", "PTTL stream": ":-2\r\n",
    "XRANGE stream 0-0 + COUNT 1000": array(array(bulk("1-1"), array(bulk("f"), bulk("v")))),
    "XRANGE stream 1-2 + COUNT 1000": array(),
    "XINFO GROUPS stream": "-ERR no such key\r\n", "XINFO STREAM stream": "-ERR no such key\r\n",
    "TYPE kept": "+string\r\n", "PTTL kept": ":-1\r\n", "GET kept": bulk("value"),
}


def test_keys_that_are_deleted_meanwhile_do_not_end_the_copy():
    with FakeSource(DELETED) as source, Server() as target:
        assert "1 keys copied, 1 of them" in copy(source.port, target)
        assert target.client().keys() == [b"kept"] and target.client().get("kept") == b"value"


# A bitmap that GET refuses, and a set whose second page is refused.
REFUSED = {
    "SCAN 0 COUNT 100": page("0", "large", "set", "kept"),
    "TYPE large": "+bitmap\r\n", "PTTL large": ":-1\r\n", "GET large": "-ERR Aborted: too large\r\n",
    "TYPE set": "+set\r\n", "PTTL set": ":-1\r\n",
    "SSCAN set 0 COUNT 1000": page("5", "member"), "SSCAN set 5 COUNT 1000": "-WRONGTYPE another type now\r\n",
    "TYPE kept": "+string\r\n", "PTTL kept": ":-1\r\n", "GET kept": bulk("value"),
}


def test_a_key_that_the_source_refuses_is_skipped_and_named():
    with FakeSource(REFUSED) as source, Server() as target:
        client = target.client()
        client.set("large", "before")
        shown = copy(source.port, target, status=1)
        assert "1 keys copied" in shown and "the first refusal: DUMP large: ERR unknown command" in shown
        assert "2 keys were skipped; the first is large (the source replied to GET: ERR Aborted: too large)" in shown
        assert client.get("kept") == b"value"
        assert client.get("large") == b"before"
        assert not client.exists("set")  # a part of it would pass for all of it


def test_a_target_without_room_ends_the_copy_and_keeps_its_keys():
    """The keys were deleted there and written by commands, without pending entries and times of fields."""
    with start_redis() as source, start_redis() as target:
        client = source.client()
        client.xadd("stream", {"f": "v"}, id="1-1")
        client.xgroup_create("stream", "group", 0)
        client.xreadgroup("group", "consumer", {"stream": ">"})
        copy(source.port, target)
        target.client().config_set("maxmemory", 1)
        assert "the target replied to RESTORE stream: OOM" in copy(source.port, target, status=1)
        target.client().config_set("maxmemory", 0)
        assert target.client().xpending("stream", "group")["pending"] == 1


def test_a_time_to_live_goes_on_while_payloads_arrive():
    """A payload takes two seconds to arrive, and another key was created after its PTTL."""
    with start_redis() as origin, Server() as target:
        origin.client().set("origin", "value")
        payload = origin.client().dump("origin").decode("latin-1")
        slow = {
            "SCAN 0 COUNT 100": page("0", "slow", "again"),
            "TYPE slow": "+string\r\n", "PTTL slow": ":100000\r\n", "DUMP slow": bulk(payload),
            "TYPE again": "+string\r\n", "PTTL again": ":-2\r\n", "DUMP again": bulk(payload),
            "GET again": bulk("value"),
        }
        with FakeSource(slow, delays={"DUMP slow": 2}) as source:
            assert "1 keys copied, 0 of them" in copy(source.port, target)
        assert 90000 < target.client().pttl("slow") <= 98000
        assert not target.client().exists("again")  # its PTTL is -2 again


def test_unknown_types_are_named_and_broken_replies_end_the_copy():
    odd = {"SCAN 0 COUNT 100": page("0", "odd"), "TYPE odd": "+sortedint\r\n", "PTTL odd": ":-1\r\n"}
    with FakeSource(odd) as source, Server() as target:
        target.client().set("odd", "kept")
        assert "1 keys were skipped" in copy(source.port, target, status=1)
        assert target.client().get("odd") == b"kept"
    with FakeSource({"SCAN 0 COUNT 100": "HTTP/1.1 400\r\n"}) as source, Server() as target:
        assert "no reply of RESP2" in copy(source.port, target, status=1)
