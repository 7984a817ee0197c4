# SPDX-License-Identifier: BSD-3-Clause
"""cairn-import and the first start on a Redis directory, where they end early or meet other data: nothing is imported
by halves, and the next attempt is complete."""

import fcntl
import random
import subprocess
import sys
import termios

import pytest
from harness import Server, start_redis, tool_path
from load import assert_equal, fill
from mounts import small_disk
from rdb_files import run_import, text
from waiting import wait_until

pytestmark = pytest.mark.slow


def unread_bytes(pipe):
    """The number of unread bytes in a pipe."""
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


def kill_import(data, data_dir):
    """Lets cairn-import read a part of a file and kills it when that is loaded."""
    with subprocess.Popen([tool_path("cairn-import"), "--dir", data_dir, "-"], stdin=subprocess.PIPE,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        process.stdin.write(data)
        process.stdin.flush()
        wait_until(lambda: unread_bytes(process.stdin) == 0, "reading")
        process.kill()
        process.stdin.close()


def test_import_on_a_full_disk_says_so(tmp_path):
    """It ended with the words of a server that fails: acknowledged writes are kept, and it should be started again."""
    with Server() as server, small_disk(tmp_path / "small", 32) as disk:
        pipe = server.client().pipeline(transaction=False)
        for i in range(1500):
            pipe.set(f"k{i}", random.randbytes(40_000))
        pipe.execute()
        server.client().save()
        done = run_import(server.data_dir / "dump.rdb", disk / "data")
        assert done.returncode == 1
        assert f"cairn-import: cannot write {disk / 'data'}: IO error" in done.stderr
        assert "No space left on device" in done.stderr
        assert "acknowledged" not in done.stderr


def test_import_that_is_killed_leaves_an_empty_directory_empty(tmp_path):
    """Afterwards there is no key, complete or partial, and the first import does not disturb the next one."""
    data_dir = tmp_path / "data"
    with start_redis() as redis:
        fill(redis.client(), seed=11, large=(15000,))
        redis.client().save()
        path = redis.data_dir / "dump.rdb"
        content = path.read_bytes()
        for part in (3, 2):
            kill_import(content[:len(content) * part // 4], data_dir)
            with Server(data_dir=data_dir) as cairn:
                assert cairn.client().dbsize() == 0
                assert cairn.client().scan() == (0, [])
        done = run_import(path, data_dir)
        assert done.returncode == 0, done.stderr
        with Server(data_dir=data_dir) as cairn:
            assert_equal(redis.client(), cairn.client())
            cairn.restart("kill9")
            assert_equal(redis.client(), cairn.client())


def test_import_that_is_killed_beside_other_keys_can_be_repeated(tmp_path):
    """The directory keeps its keys, no existing key is damaged, and a second import of the file is complete."""
    with start_redis() as redis, Server(data_dir=tmp_path) as cairn:
        redis.client().set("kept", 1)
        cairn.client().set("kept", 1)
        cairn.shutdown()
        fill(redis.client(), seed=12, large=(15000,))
        redis.client().save()
        path = redis.data_dir / "dump.rdb"
        content = path.read_bytes()
        kill_import(content[:len(content) * 3 // 4], cairn.data_dir)
        cairn.start()
        assert cairn.client().get("kept") == b"1"
        cairn.client().execute_command("DEBUG", "DIGEST")  # reads every key
        assert cairn.client().dbsize() == len(list(cairn.client().scan_iter(count=1000)))
        cairn.shutdown()
        done = run_import(path, cairn.data_dir)
        assert done.returncode == 0, done.stderr
        cairn.start()
        assert_equal(redis.client(), cairn.client())


def test_key_that_is_twice_in_a_file_is_imported_once(tmp_path):
    """The later value counts, even if the first was flushed already, and DBSIZE counts the key once."""
    member = b"".join(text(b"member:%d" % n) for n in range(60))
    large = b"\x02" + text(b"k") + bytes([60]) + member
    keys = b"".join(b"\x00" + text(b"key:%d" % n) + text(b"v") for n in range(5000))
    path = tmp_path / "twice.rdb"
    path.write_bytes(b"REDIS0010\xfe\x00" + large + keys + b"\x00" + text(b"k") + text(b"last") + b"\xff" + bytes(8))
    done = run_import(path, tmp_path / "data")
    assert done.returncode == 0, done.stderr
    with Server(data_dir=tmp_path / "data") as cairn:
        assert cairn.client().get("k") == b"last"
        assert cairn.client().dbsize() == 5001


def test_an_import_into_a_database_in_memory_is_refused(tmp_path):
    """It said that the keys were imported, and they ended with the program."""
    path = tmp_path / "dump.rdb"
    path.write_bytes(b"REDIS0010\xfe\x01\x00" + text(b"key") + text(b"value") + b"\xff" + bytes(8))
    (tmp_path / "data").mkdir()
    with Server(data_dir=tmp_path / "data", database="1 storage-mode memory"):
        pass
    done = run_import(path, tmp_path / "data")
    assert done.returncode == 1
    assert "database 1, which this directory keeps in memory" in done.stderr
    with Server(data_dir=tmp_path / "data", database="1 storage-mode ssd"):
        pass
    assert run_import(path, tmp_path / "data").returncode == 0
    with Server(data_dir=tmp_path / "data") as cairn, cairn.client(db=1) as client:
        assert client.get("key") == b"value"


def test_the_first_start_takes_over_the_directory_of_redis():
    """Where Redis saved and ended, Cairn starts with its data, once: later starts do not read the file."""
    with start_redis() as redis:
        fill(redis.client(), seed=9, keys=100)
        redis.client().zadd("two", {"a": 1, "b": 2})
        redis.client().function_load(b"#!lua name=lib\nredis.register_function('f', function() return 7 end)")
        before = redis.client().execute_command("DEBUG", "DIGEST")
        redis.client().save()
        redis.shutdown("NOSAVE")
        with Server(data_dir=redis.data_dir, zset_max_listpack_entries=1) as cairn:
            client = cairn.client()
            assert client.execute_command("DEBUG", "DIGEST") == before
            assert client.object("encoding", "two") == b"skiplist"
            assert client.fcall("f", 0) == 7
            client.set("new", 1)
            cairn.restart("kill9")
            assert cairn.client().get("new") == b"1"
            cairn.client().flushall()
            cairn.restart()
            assert cairn.client().dbsize() == 0


@pytest.mark.parametrize("key", [text(b"new") + text(b"v"), b""], ids=["key", "no_key"])
def test_an_import_after_a_failed_first_start_is_kept(tmp_path, key):
    """The failed start leaves the row `rdb/unread`. The next start must not load its file in place of the import."""
    start, end = b"REDIS0010\xfe\x00", b"\xff" + bytes(8)
    (tmp_path / "dump.rdb").write_bytes(start + b"damaged")
    with pytest.raises(RuntimeError, match="move it away"):
        Server(data_dir=tmp_path)
    (tmp_path / "dump.rdb").write_bytes(start + b"\x00" + text(b"old") + text(b"v") + end)
    (tmp_path / "imported.rdb").write_bytes(start + (b"\x00" + key if key else b"") + end)
    done = run_import(tmp_path / "imported.rdb", tmp_path)
    assert done.returncode == 0, done.stderr
    with Server(data_dir=tmp_path) as cairn:
        assert cairn.client().keys() == ([b"new"] if key else [])


def test_first_start_on_a_damaged_file_is_refused(tmp_path):
    """Neither that start nor the next one serves without the data. A start without the file does, and so do all later
    ones."""
    good = b"REDIS0010\xfe\x00\x00" + text(b"k") + text(b"v") + b"\xff" + bytes(8)
    path = tmp_path / "dump.rdb"
    path.write_bytes(good[:-10])
    for _ in range(2):
        with pytest.raises(RuntimeError, match="move it away"):
            Server(data_dir=tmp_path)
    path.write_bytes(good)
    with Server(data_dir=tmp_path) as cairn:
        assert cairn.client().get("k") == b"v"
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    (tmp_path / "first" / "dump.rdb").write_bytes(good[:-10])
    with pytest.raises(RuntimeError):
        Server(data_dir=tmp_path / "first")
    (tmp_path / "first" / "dump.rdb").unlink()
    with Server(data_dir=tmp_path / "first") as cairn:
        assert cairn.client().dbsize() == 0
        (cairn.data_dir / "dump.rdb").write_bytes(good)
        cairn.restart()
        assert cairn.client().dbsize() == 0
    (tmp_path / "second" / "dump.rdb").write_bytes(good)
    (tmp_path / "second" / "appendonlydir").mkdir()
    with Server(data_dir=tmp_path / "second") as cairn:
        assert cairn.client().dbsize() == 0
        assert "Cairn cannot read" in cairn.log_tail()
