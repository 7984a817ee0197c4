# SPDX-License-Identifier: BSD-3-Clause
"""What cannot be read is an error, never an absent key, and the server goes on when it can be read again."""

import errno
import os
import pathlib
import time

import pytest
import redis
from fault_control import Faults
from harness import Server
from pairs import wait_for_link, wait_for_offset
from waiting import wait_until

KEYS = 2000
ALWAYS = 10**9
BOTH_WAYS = pytest.mark.parametrize("cold", ["yes", "no"], indirect=True)


@pytest.fixture(name="faults")
def fixture_faults():
    """A control file."""
    with Faults() as faults:
        yield faults


def value_of(number):
    """A value of a kilobyte."""
    return b"%d" % number + b"v" * 1000


@pytest.fixture(name="cold")
def fixture_cold(faults, request):
    """A server whose rows are in tables only, read with direct I/O or, with the parameter "no", from the page cache."""
    direct_io = getattr(request, "param", "yes")
    with Server(command=faults.command(), key_cache_warmup="no", rocksdb_direct_io=direct_io) as server:
        client = server.client()
        client.mset({f"k:{number}": value_of(number) for number in range(KEYS)})
        client.sadd("set", *range(1000))
        client.execute_command("COMPACT")
        server.restart()
        yield server


def test_a_read_error_in_the_acl_file_changes_no_user(faults, tmp_path):
    """ACL LOAD deleted the users behind the error. A default user among them got all permissions and no password."""
    path = tmp_path / "users.acl"
    users = [f"user filler{i} off ~some:long:pattern:{i}:*" for i in range(400)]
    path.write_text("\n".join([*users, "user last on nopass ~* +@all"]) + "\n")
    assert path.stat().st_size > 2 * 8192  # several reads
    with Server(command=faults.command(), aclfile=path) as server:
        client = server.client()
        faults.arm("read", errno.EIO, path="users.acl", first=2)
        with pytest.raises(redis.ResponseError, match="Input/output error"):
            client.acl_load()
        assert faults.fired == 1
        assert client.acl_getuser("last") is not None
        assert client.acl_load()
        assert client.acl_getuser("last") is not None


@BOTH_WAYS
def test_a_table_that_cannot_be_read_is_an_error_of_the_command(faults, cold):
    """A transaction or a script ends with the error and changes nothing."""
    client = cold.client()
    client.set("new", "v")
    faults.arm("read", errno.EIO, path="*.sst", count=ALWAYS)
    commands = [("GET", "k:7"), ("EXISTS", "k:8"), ("APPEND", "k:9", "x"), ("SET", "k:10", "x", "GET"),
                ("HSET", "k:11", "f", "v"), ("DEL", "k:12"), ("SPOP", "set"), ("MGET", "k:13", "absent"),
                ("COPY", "k:14", "copy"),
                ("EVAL", "redis.call('SET', 'new', 'w') return redis.pcall('GET', 'k:15')", 0)]
    for command in commands:
        with pytest.raises(redis.ResponseError, match="Input/output error"):
            client.execute_command(*command)
    with client.pipeline(transaction=True) as pipe, pytest.raises(redis.ResponseError, match="Input/output error"):
        pipe.set("new", "w").get("k:16").execute()
    assert client.get("new") == b"v"
    faults.disarm()
    for number in range(KEYS):
        assert client.get(f"k:{number}") == value_of(number)
    assert client.scard("set") == 1000
    assert client.exists("copy") == 0


def is_set(client, key):
    """Whether the write is accepted."""
    try:
        return client.set(key, "v")
    except redis.ResponseError as error:
        assert str(error).startswith("MISCONF"), error
        return False


@pytest.mark.parametrize("reader", ["compaction", "flush"])
def test_background_work_that_cannot_read_a_table_runs_again(faults, cold, reader):
    """A flush reads the table that it has written. After such an error RocksDB refused writes until a restart."""
    client = cold.client()
    client.set("k:1", "w")
    names = "|".join(path.name for path in pathlib.Path(cold.data_dir).glob("*.sst"))
    faults.arm("read", errno.EIO, path=names if reader == "compaction" else "*.sst", count=20)
    with pytest.raises(redis.ResponseError):
        client.execute_command("COMPACT")
    faults.disarm()
    assert faults.fired > 0
    assert is_set(client, "after") or reader == "flush"
    wait_until(lambda: is_set(client, "later"), "a write")
    assert client.execute_command("COMPACT") == b"OK"
    assert client.mget("k:1", "k:2", "later") == [b"w", value_of(2), b"v"]
    cold.restart("kill9")
    assert cold.client().mget("k:1", "k:2", "later") == [b"w", value_of(2), b"v"]


def failed_compactions(client):
    """How many automatic compactions have failed."""
    return client.info("rocksdb")["background_errors"]


def test_an_automatic_compaction_that_fails_runs_again_more_and_more_rarely(faults):
    """It ran every second, so a bad block in a table would have worn the disk with tables that nobody needs."""
    with Server(command=faults.command(), memory_budget="64mb") as server:
        client = server.client()
        client.mset({f"k:{number}": value_of(number) for number in range(KEYS)})
        client.execute_command("COMPACT")
        faults.arm("read", errno.EIO, path="|".join(path.name for path in pathlib.Path(server.data_dir).glob("*.sst")),
                   count=ALWAYS)
        while failed_compactions(client) == 0:
            client.mset({f"k:{number}": os.urandom(1000) for number in range(KEYS)})
        began = time.monotonic()
        wait_until(lambda: failed_compactions(client) >= 5, "four more failures")
        assert time.monotonic() - began > 8  # a second each, and delays of 0, 1, 2 and 4 seconds
        assert is_set(client, "while it fails")
        faults.disarm()
        seconds = -time.monotonic()
        server.restart()  # does not wait for the delay of 8 seconds
        assert seconds + time.monotonic() < 7
        client = server.client()
        client.mset({f"k:{number}": value_of(number) for number in range(KEYS)})
        assert client.execute_command("COMPACT") == b"OK"
        assert client.get("k:1") == value_of(1)


def fill_all_types(client):
    """Keys of all types that have rows of their own for their elements, and a value in a blob file."""
    names = [f"{number}:{'n' * 40}" for number in range(1500)]
    client.set("blob", b"b" * 300_000)
    client.hset("hash", mapping={name: name for name in names})
    client.sadd("elements", *names)
    client.zadd("zset", {name: number for number, name in enumerate(names)})
    client.rpush("list", *names)
    for name in names:
        client.xadd("stream", {"f": name})


READS = [
    ("GET", "blob"), ("GETRANGE", "blob", 200_000, 200_010), ("HGETALL", "hash"), ("HVALS", "hash"), ("HLEN", "hash"),
    ("SMEMBERS", "elements"), ("SORT", "elements", "ALPHA", "LIMIT", 0, 5), ("SINTERCARD", 2, "elements", "elements"),
    ("ZRANGE", "zset", 0, -1), ("ZCOUNT", "zset", 10, 1400), ("ZRANK", "zset", "1499:" + "n" * 40),
    ("LRANGE", "list", 0, -1), ("LINDEX", "list", 800), ("LPOS", "list", "1499:" + "n" * 40),
    ("XRANGE", "stream", "-", "+"), ("XLEN", "stream"), ("KEYS", "k:1*"), ("SCAN", 0, "COUNT", 10_000), ("DBSIZE",),
    ("SSCAN", "elements", 0, "COUNT", 10_000), ("DEBUG", "DIGEST"), ("DUMP", "hash"), ("MEMORY", "USAGE", "zset"),
]


@BOTH_WAYS
def test_a_read_that_fails_at_any_place_is_never_a_wrong_reply(faults, cold):
    """Each read command, with a failure of its first, second, ... read of a file."""
    fill_all_types(cold.client())
    cold.client().execute_command("COMPACT")
    cold.restart()
    client = cold.client()
    expected = {command: client.execute_command(*command) for command in READS}
    failed = set()
    for first in (1, 2, 3, 5, 9, 30, 100):
        cold.restart()
        client = cold.client()
        for command in READS:
            faults.arm("read", errno.EIO, path="*.sst|*.blob", first=first, count=ALWAYS)
            try:
                reply = client.execute_command(*command)
            except redis.ResponseError as error:
                assert "Input/output error" in str(error), (command, error)
                failed.add(command)
            else:
                assert reply == expected[command], command
            faults.disarm()
    assert len(failed) > len(READS) / 2, failed


def test_a_save_that_cannot_read_leaves_the_file_as_it_was(faults, cold):
    client = cold.client()
    assert client.save()
    path = pathlib.Path(cold.data_dir) / "dump.rdb"
    before = path.read_bytes()
    client.set("new", "v")
    for first in (1, 20):
        faults.arm("read", errno.EIO, path="*.sst", first=first, count=ALWAYS)
        with pytest.raises(redis.ResponseError):
            client.save()
        assert faults.fired > 0
        assert path.read_bytes() == before
    faults.disarm()
    assert client.save()
    assert path.read_bytes() != before


@pytest.mark.parametrize("diskless", ["yes", "no"])
def test_a_first_transfer_that_cannot_read_is_repeated(faults, cold, diskless):
    cold.client().config_set("repl-diskless-sync", diskless)
    with Server() as replica:
        faults.arm("read", errno.EIO, path="*.sst", first=10, count=ALWAYS)
        replica.client().execute_command("REPLICAOF", cold.host, cold.port)
        wait_until(lambda: "Input/output error" in cold.log_tail(), "the transfer's failure", cold)
        assert replica.client().info("replication")["master_link_status"] == "down"
        faults.disarm()
        wait_for_link(replica)
        wait_for_offset(cold, replica)
        assert replica.client().execute_command("DEBUG", "DIGEST") == cold.client().execute_command("DEBUG", "DIGEST")
