# SPDX-License-Identifier: BSD-3-Clause
"""RDB files are read and written in bounded memory, independent of the number and size of a collection's elements. The
collections here would use some hundred megabytes if they were held as a whole."""

import random
import struct
import subprocess
import sys

import pytest
from harness import SANITIZER, Server, start_redis, tool_path

pytestmark = [pytest.mark.skipif(SANITIZER is not None, reason="a sanitizer takes memory of its own"), pytest.mark.slow]

BUDGET = "--memory_budget=64mb"
MOST_MIB = 110
MIB = 1 << 20
HASH, HASH_WITH_TIMES, LIST = 4, 24, 1
# Runs the command line that follows and prints its peak memory.
MEASURE = """import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], check=False, stdout=subprocess.DEVNULL).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
sys.exit(code)"""


def peak_mib(tool, *args):
    """Runs a tool, which must succeed; returns its peak memory."""
    command = [sys.executable, "-c", MEASURE, tool_path(tool), BUDGET, *args]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def text(value):
    """A text of an RDB file."""
    return b"\x80" + struct.pack(">I", len(value)) + value


def write_rdb(path, rdb_type, count, elements, before_key=b"", before_count=b""):
    """Writes a file with one key, `k`, with this many elements."""
    with path.open("wb") as file:
        file.write(b"REDIS0012\xfe\x00" + before_key + bytes([rdb_type]) + text(b"k") + before_count)
        file.write(b"\x80" + struct.pack(">I", count))
        for element in elements:
            file.write(element)
        file.write(b"\xff" + bytes(8))


def test_large_elements_are_imported_a_few_at_a_time(tmp_path):
    """A hash of few fields with a megabyte each, and a list of such items."""
    noise = random.Random(5).randbytes(MIB)
    pairs = (text(b"f%d" % n) + text(noise) for n in range(200))
    write_rdb(tmp_path / "hash.rdb", HASH, 200, pairs)
    assert peak_mib("cairn-import", "--dir", tmp_path / "data", tmp_path / "hash.rdb") < MOST_MIB
    with Server(data_dir=tmp_path / "data") as cairn:
        assert cairn.client().hlen("k") == 200
        assert cairn.client().hget("k", "f199") == noise
    write_rdb(tmp_path / "list.rdb", LIST, 200, (text(b"%d" % n + noise) for n in range(200)))
    assert peak_mib("cairn-import", "--dir", tmp_path / "data", tmp_path / "list.rdb") < MOST_MIB
    with Server(data_dir=tmp_path / "data") as cairn:
        assert cairn.client().llen("k") == 200
        assert cairn.client().lindex("k", -1) == b"199" + noise


def test_an_expired_hash_is_passed_a_few_fields_at_a_time(tmp_path):
    """It is not stored, and the file is read to its end."""
    noise = random.Random(5).randbytes(MIB)
    expired = b"\xfc" + struct.pack("<q", 1)
    pairs = (text(b"f%d" % n) + text(noise) for n in range(200))
    write_rdb(tmp_path / "dump.rdb", HASH, 200, pairs, before_key=expired)
    assert peak_mib("cairn-import", "--dir", tmp_path / "data", tmp_path / "dump.rdb") < MOST_MIB
    with Server(data_dir=tmp_path / "data") as cairn:
        assert cairn.client().dbsize() == 0


def test_hash_whose_fields_expire_is_imported_a_few_fields_at_a_time(tmp_path):
    """One of the fields has an expiry."""
    count, never, when_ms = 600_000, bytes(1), 1 << 42
    fields = (never + text(b"field:%d" % n) + text(b"v") for n in range(1, count))
    write_rdb(tmp_path / "dump.rdb", HASH_WITH_TIMES, count, [b"\x01" + text(b"first") + text(b"v"), *fields],
              before_count=struct.pack("<q", when_ms))
    assert peak_mib("cairn-import", "--dir", tmp_path / "data", tmp_path / "dump.rdb") < MOST_MIB
    with Server(data_dir=tmp_path / "data") as cairn:
        assert cairn.client().hlen("k") == count
        assert cairn.client().execute_command("HPEXPIRETIME", "k", "FIELDS", 2, "first", "field:7") == [when_ms, -1]


def test_long_stream_is_imported_node_by_node(tmp_path):
    """Entries, groups and pending entries are the same as in redis-server."""
    with start_redis() as redis:
        client = redis.client()
        client.eval("for i = 1, 300000 do "
                    "redis.call('XADD', 's', i .. '-0', 'user', i, 'note', 'abcdefghij' .. i) end", 0)
        client.xdel("s", "77-0")
        client.xgroup_create("s", "group", "200000-0")
        client.xreadgroup("group", "reader", {"s": ">"}, count=3)
        client.save()
        wanted = [client.xinfo_stream("s")["last-generated-id"], client.xlen("s"), client.xrange("s", "76", "79"),
                  client.xrevrange("s", count=2), client.xpending_range("s", "group", "-", "+", 10)]
        path = redis.data_dir / "dump.rdb"
        assert peak_mib("cairn-import", "--dir", tmp_path / "data", path) < MOST_MIB
    with Server(data_dir=tmp_path / "data") as cairn:
        client = cairn.client()
        found = [client.xinfo_stream("s")["last-generated-id"], client.xlen("s"), client.xrange("s", "76", "79"),
                 client.xrevrange("s", count=2), client.xpending_range("s", "group", "-", "+", 10)]
        for entry in wanted[-1] + found[-1]:
            del entry["time_since_delivered"]
        assert found == wanted


def test_large_elements_are_exported_a_few_at_a_time(tmp_path):
    """A list and a stream of few items with a megabyte each. redis-server reads them."""
    noise = random.Random(6).randbytes(MIB)
    (tmp_path / "data").mkdir()
    with Server(data_dir=tmp_path / "data") as cairn:
        client = cairn.client()
        for number in range(150):
            client.rpush("list", b"%d" % number + noise)
            client.xadd("stream", {"field": b"%d" % number + noise}, id=f"{number + 1}-0")
    path = tmp_path / "dump.rdb"
    assert peak_mib("cairn-export", "--dir", tmp_path / "data", path) < MOST_MIB
    with start_redis(dir=tmp_path) as redis:
        client = redis.client()
        assert [client.llen("list"), client.xlen("stream")] == [150, 150]
        assert client.lindex("list", 149) == b"149" + noise
        assert client.xrange("stream", "150", "150") == [(b"150-0", {b"field": b"149" + noise})]
