# SPDX-License-Identifier: BSD-3-Clause
"""What cannot be read is an error, never an absent key, and the server goes on when it can be read again."""

import errno
import pathlib

import pytest
import redis
from fault_control import Faults
from harness import Server
from waiting import wait_until

KEYS = 2000
ALWAYS = 10**9


@pytest.fixture(name="faults")
def fixture_faults():
    """A control file."""
    with Faults() as faults:
        yield faults


def value_of(number):
    """A value of a kilobyte."""
    return b"%d" % number + b"v" * 1000


@pytest.fixture(name="cold")
def fixture_cold(faults):
    """A server whose rows are in tables only."""
    with Server(command=faults.command(), key_cache_warmup="no", rocksdb_direct_io="yes") as server:
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
