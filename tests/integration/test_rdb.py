# SPDX-License-Identifier: BSD-3-Clause
"""RDB files: Cairn reads redis-server's files and redis-server reads Cairn's, with equal data. A file is a snapshot
while clients write, memory is bounded, and damaged files are refused."""

import pathlib
import random
import shutil
import subprocess
import threading
import time

import pytest
import rdb_corpus
from harness import Server, by_size, start_redis, tool_path
from load import assert_equal, fill
from rdb_files import run_import, text
from waiting import wait_until

pytestmark = pytest.mark.slow

# Limits under which redis-server writes the same data in other encodings.
SPREAD = {"hash_max_listpack_entries": 0, "zset_max_listpack_entries": 0, "set_max_intset_entries": 0,
          "list_max_listpack_size": 1}


def wait_for_save(client):
    """Waits until a background save has succeeded."""
    wait_until(lambda: not client.info("persistence")["rdb_bgsave_in_progress"], "the end of the save")
    assert client.info("persistence")["rdb_last_bgsave_status"] == "ok"


def bgsave(client):
    """Saves in the background and waits for the file."""
    client.execute_command("BGSAVE")
    wait_for_save(client)


@pytest.mark.parametrize("directives", [{}, SPREAD, {"rdbcompression": "no", "rdbchecksum": "no"}],
                         ids=["packed", "spread", "plain"])
def test_redis_to_cairn(tmp_path, directives):
    """A file of redis-server is imported, and the data is equal."""
    with start_redis(**directives) as redis:
        fill(redis.client(), seed=2, large=(5000,))
        redis.client().save()
        done = run_import(redis.data_dir / "dump.rdb", tmp_path / "data")
        assert done.returncode == 0, done.stderr
        assert "100%" in done.stderr
        with Server(data_dir=tmp_path / "data") as cairn:
            assert_equal(redis.client(), cairn.client())
            assert cairn.client().dbsize() == redis.client().dbsize()


@pytest.mark.parametrize("directives", [{}, {"rdbcompression": "no"}], ids=["default", "plain"])
def test_cairn_to_redis(tmp_path, directives):
    """redis-server loads files of BGSAVE and cairn-export, and the data is equal."""
    with Server(**directives) as cairn:
        fill(cairn.client(), seed=3, large=(5000,))
        bgsave(cairn.client())
        with start_redis(dir=cairn.data_dir) as redis:
            assert_equal(cairn.client(), redis.client())
        cairn.shutdown()
        path = tmp_path / "exported.rdb"
        subprocess.run([tool_path("cairn-export"), "--dir", cairn.data_dir, path], check=True,
                       capture_output=True, timeout=300)
        cairn.start()
        with start_redis(dir=tmp_path, dbfilename="exported.rdb") as redis:
            assert_equal(cairn.client(), redis.client())


def test_a_file_is_a_snapshot():
    """Pairs of keys that always change together are equal in a file written meanwhile, and keys that are deleted after
    the start of the save are in it."""
    with Server(databases=16) as cairn:
        client = cairn.client()
        client.sadd("doomed", *range(-20000, 20000))
        client.config_set("rdb-key-save-delay", 200)
        for number in range(3000):
            client.mset({f"a:{number}": 0, f"b:{number}": 0})
        ended = threading.Event()

        def write():
            rng, own = random.Random(5), cairn.client()
            while not ended.is_set():
                number, value = rng.randrange(3000), rng.random()
                own.mset({f"a:{number}": value, f"b:{number}": value})

        writer = threading.Thread(target=write)
        writer.start()
        try:
            client.execute_command("BGSAVE")
            client.delete("doomed")
            client.execute_command("COMPACT")
            wait_for_save(client)
        finally:
            ended.set()
            writer.join()
        with start_redis(dir=cairn.data_dir) as redis:
            loaded = redis.client()
            for number in range(3000):
                one, other = loaded.mget(f"a:{number}", f"b:{number}")
                assert one == other
            assert loaded.scard("doomed") == 40000


def test_changing_sorted_sets_are_a_snapshot():
    """Pairs of large sorted sets that always change together, at both ends, are equal in a file written meanwhile. No
    client waits for the save, and ranks are correct afterwards."""
    with Server() as cairn:
        client = cairn.client()
        for number in range(20):
            for name in "ab":
                client.zadd(f"{name}:{number}", {f"m{member}": member for member in range(1000)})
        client.config_set("rdb-key-save-delay", 40000)
        client.execute_command("BGSAVE")
        rng, slowest_s, changes, save_began = random.Random(6), 0.0, 0, time.monotonic()
        while client.info("persistence")["rdb_bgsave_in_progress"]:
            number, score = rng.randrange(20), rng.uniform(-100000, 100000)
            pipe = client.pipeline(transaction=True)
            for name in "ab":
                (pipe.zpopmin if changes % 3 else pipe.zpopmax)(f"{name}:{number}")
                pipe.zadd(f"{name}:{number}", {f"n{changes}": score}).zrank(f"{name}:{number}", f"n{changes}")
            began = time.monotonic()
            pipe.execute()
            slowest_s = max(slowest_s, time.monotonic() - began)
            changes += 1
        assert changes > 10
        assert slowest_s < (time.monotonic() - save_began) / 2  # the file takes longer than 1.6 s
        assert client.info("persistence")["rdb_last_bgsave_status"] == "ok"
        with start_redis(dir=cairn.data_dir) as redis:
            for number in range(20):
                one, other = (redis.client().zrange(f"{name}:{number}", 0, -1, withscores=True) for name in "ab")
                assert one == other
                assert len(one) == 1000
        for number in range(20):
            members = [member for member, _ in sorted(client.zscan_iter(f"a:{number}"), key=lambda each: each[1])]
            assert [client.zrank(f"a:{number}", member) for member in members[::50]] == list(range(0, 1000, 50))


def test_debug_reload_keeps_everything():
    """DEBUG RELOAD writes and loads a file, and changes nothing."""
    with Server() as cairn:
        fill(cairn.client(), seed=4, large=(3000,))
        client = cairn.client()
        before = client.execute_command("DEBUG", "DIGEST")
        sizes = [cairn.client(db=db).dbsize() for db in (0, 3)]
        assert client.execute_command("DEBUG", "RELOAD") == b"OK"
        assert client.execute_command("DEBUG", "DIGEST") == before
        assert [cairn.client(db=db).dbsize() for db in (0, 3)] == sizes
        client.set("later", 1)
        assert client.execute_command("DEBUG", "RELOAD", "NOSAVE") == b"OK"
        assert client.execute_command("DEBUG", "DIGEST") == before
        client.set("later", 1)
        assert client.execute_command("DEBUG", "RELOAD", "NOSAVE", "NOFLUSH") == b"OK"
        assert client.get("later") == b"1"
        cairn.restart("kill9")
        assert cairn.client().get("later") == b"1"
        assert cairn.client().dbsize() == sizes[0] + 1


def test_save_commands():
    """SAVE, BGSAVE, LASTSAVE and the fields of INFO report the result."""
    with Server(enable_protected_configs="yes") as cairn:
        client = cairn.client()
        assert client.execute_command("BGSAVE", "SCHEDULE")
        wait_for_save(client)
        with pytest.raises(Exception, match="syntax error"):
            client.execute_command("BGSAVE", "SOON")
        bgsave(client)
        for number in range(500):
            client.set(f"k{number}", 1)
        client.config_set("rdb-key-save-delay", 2000)
        client.execute_command("BGSAVE")
        with pytest.raises(Exception, match="Background save already in progress"):
            client.execute_command("BGSAVE")
        with pytest.raises(Exception, match="Background save already in progress"):
            client.save()
        assert client.info("persistence")["rdb_bgsave_in_progress"] == 1
        client.config_set("dbfilename", "other.rdb")
        with pytest.raises(Exception, match="can't be a path"):
            client.config_set("dbfilename", "a/b")
        client.config_set("rdb-key-save-delay", 0)
        wait_for_save(client)
        assert client.save()
        assert (cairn.data_dir / "other.rdb").read_bytes().startswith(b"REDIS0010")
        assert abs(client.lastsave().timestamp() - time.time()) < 10


def test_damaged_files_are_refused(tmp_path):
    """A truncated file, a flipped bit, another version: an error with the position, and no crash."""
    with start_redis() as redis:
        fill(redis.client(), seed=6, keys=64, dbs=(0,))
        redis.client().save()
        good = (redis.data_dir / "dump.rdb").read_bytes()
    rng = random.Random(7)
    path = tmp_path / "bad.rdb"
    for number in range(25):
        bad = bytearray(good)
        if number % 2:
            bad[rng.randrange(len(bad))] ^= 1 << rng.randrange(8)
        else:
            del bad[rng.randrange(len(bad)):]
        path.write_bytes(bad)
        done = run_import(path, tmp_path / "data")
        assert done.returncode == 1, (number, done.stderr)
        assert "RDB file, at byte" in done.stderr
    for start, word in ((b"REDIS0099", "version"), (b"NOTREDIS!", "start")):
        path.write_bytes(start + good[9:])
        assert word in run_import(path, tmp_path / "data").stderr


def test_names_of_damaged_keys_are_shown_in_printable_bytes(tmp_path):
    """A terminal interprets some bytes as commands, and a key may be as long as a value."""
    path = tmp_path / "bad.rdb"
    for name, shown in ((b"plain", "key plain: "), (b"a\x1b[2J\xff\n", r'key "a\x1b[2J\xff\n": '),
                        (b"n" * 300, "key " + 128 * "n" + "...: ")):
        length = (0x4000 | len(name)).to_bytes(2, "big")
        path.write_bytes(b"REDIS0010\xfe\x00\x10" + length + name + text(b"no listpack") + b"\xff" + bytes(8))
        done = run_import(path, tmp_path / "data")
        assert done.returncode == 1
        assert shown + "Hash listpack integrity check failed" in done.stderr


def test_old_versions_and_opcodes(tmp_path):
    """Files of old versions, times in seconds, hints, module data and functions' code are read."""
    later = (2000000000).to_bytes(4, "little")
    file = (b"REDIS0003" + b"\xfe\x00" + b"\x00" + text(b"plain") + text(b"x")
            + b"\xfd" + later + b"\x00" + text(b"timed") + text(b"y")
            + b"\xfd\x01\x00\x00\x00" + b"\x00" + text(b"gone") + text(b"z")
            + b"\x09" + text(b"zipmap") + text(b"\x01\x01f\x01\x00v\xff") + b"\xff")
    path = tmp_path / "old.rdb"
    path.write_bytes(file)
    done = run_import(path, tmp_path / "data")
    assert done.returncode == 0, done.stderr
    assert "1 whose time had passed" in done.stdout
    library = b"#!lua name=lib\nredis.register_function('f',function()end)"
    newer = (b"REDIS0010" + b"\xfa" + text(b"redis-ver") + text(b"7.0.0")
             + b"\xf7\x05\x02\x01\x05" + text(b"abc") + b"\x00"
             + b"\xf5" + text(library) + b"\xfe\x01\xfb\x01\x00"
             + b"\xf8\x0a\x00" + text(b"idle") + text(b"1") + b"\xf9\x05\x00" + text(b"used") + text(b"2")
             + b"\xff" + bytes(8))
    path.write_bytes(newer)
    done = run_import(path, tmp_path / "data")
    assert done.returncode == 0, done.stderr
    assert "module" in done.stderr
    path.write_bytes(b"REDIS0010\xfe\x00\x07" + text(b"m") + b"\x05\xff" + bytes(8))
    assert "module" in run_import(path, tmp_path / "data").stderr
    with Server(data_dir=tmp_path / "data") as cairn:
        client = cairn.client()
        assert client.mget("plain", "timed", "gone") == [b"x", b"y", None]
        assert client.execute_command("EXPIRETIME", "timed") == 2000000000
        assert client.hgetall("zipmap") == {b"f": b"v"}
        assert cairn.client(db=1).mget("idle", "used") == [b"1", b"2"]
        assert client.fcall("f", 0) is None


def listpack(*entries):
    """A listpack of small integers and short texts."""
    body = b"".join(bytes([entry, 1]) if isinstance(entry, int) else bytes([0x80 + len(entry)]) + entry
                    + bytes([1 + len(entry)]) for entry in entries)
    return text((7 + len(body)).to_bytes(4, "little") + len(entries).to_bytes(2, "little") + body + b"\xff")


def test_opcodes_of_redis_8(tmp_path):
    """Hashes that refer to a template are whole hashes; metadata of modules and slots are skipped."""
    template = b"\xf2\x05\x02" + text(b"f") + text(b"g")
    metadata = b"\xf3\x01" + b"\x01\x02\x03\x04" + b"\x02\x07\x05" + text(b"abc") + b"\x00"
    slot = b"\xf4\x0c\x03\x00"
    file = (b"REDIS0015" + template + b"\xfe\x00\xfb\x03\x00" + slot
            + b"\x1e" + text(b"packed") + listpack(5, 1, b"a")
            + b"\x20" + text(b"array") + b"\x05" + text(b"x") + text(b"y")
            + b"\xfc" + (4102444800000).to_bytes(8, "little") + metadata + b"\x00" + text(b"plain") + text(b"v")
            + b"\xff" + bytes(8))
    path = tmp_path / "new.rdb"
    path.write_bytes(file)
    done = run_import(path, tmp_path / "data")
    assert done.returncode == 0, done.stderr
    assert "metadata that modules attached to a key, 1 times" in done.stderr
    with Server(data_dir=tmp_path / "data") as cairn:
        client = cairn.client()
        assert client.hgetall("packed") == {b"f": b"1", b"g": b"a"}
        assert client.hgetall("array") == {b"f": b"x", b"g": b"y"}
        assert (client.get("plain"), client.pexpiretime("plain")) == (b"v", 4102444800000)


@pytest.mark.parametrize(("file", "reason"), [
    (b"REDIS0016", "RDB version 16 of Redis"),
    (b"REDIS0080", "RDB version 80 of Redis"),
    (b"VALKEY082", "RDB version 82 of Valkey"),
    (b"VALKEY012", "RDB version 12 of Valkey"),
    (b"VALKEY0A0", "does not start like an RDB file"),
    (b"VALKEY080\xf3" + text(b"job") + b"\x01\x00\x05", "import of a cluster slot"),
    (b"VALKEY081\xf2\x01", "opcode 242"),
    (b"REDIS0015\xf1\x01", "unknown opcode 241"),
    (b"REDIS0015\xfe\x00\x1c" + text(b"k") + b"\x01\x00", "key k: rdb: type 28, an array, which Redis has since 8.8"),
    (b"REDIS0015\xfe\x00\x28" + text(b"k") + b"\x01\x00", "key k: rdb: unknown type 40"),
    (b"VALKEY080\xfe\x00\x18" + text(b"k") + b"\x01\x00", "key k: rdb: unknown type 24 of Valkey"),
    (b"REDIS0015\xfe\x00\x20" + text(b"k") + b"\x05" + text(b"v"), "key k: rdb: unknown hash template 5"),
    (b"REDIS0015\xf2\x05\x01" + text(b"f") + b"\xf2\x05\x01" + text(b"g"), "a hash template is there twice"),
    (b"REDIS0015\xf2\x05\x00", "a hash template without fields"),
], ids=lambda value: None if isinstance(value, str) else value[:10].decode("latin1").encode("unicode_escape").decode())
def test_what_is_not_understood_is_refused_by_name(tmp_path, file, reason):
    """No byte gets another meaning: a number that only another server knows ends the import."""
    path = tmp_path / "new.rdb"
    path.write_bytes(file + b"\xff" + bytes(8))
    done = run_import(path, tmp_path / "data")
    assert done.returncode == 1
    assert reason in done.stderr


def test_empty_collections_are_skipped(tmp_path):
    """Some versions of Redis wrote keys without elements. They are skipped, as Redis does, also if only the nodes of a
    long list turn out to be empty."""
    later = b"\xfc" + (4102444800000).to_bytes(8, "little")
    listpack = text(b"\x07\x00\x00\x00\x00\x00\xff")
    bodies = [kind + text(b"empty" + kind) + b"\x00"
              for kind in (b"\x01", b"\x02", b"\x03", b"\x05", b"\x04", b"\x12")]
    bodies += [kind + text(b"packed" + kind) + listpack for kind in (b"\x10", b"\x11")]
    bodies.append(b"\x12" + text(b"short") + b"\x01\x02" + listpack)
    bodies.append(later + b"\x12" + text(b"long") + b"\x40\x64" + 100 * (b"\x02" + listpack))
    path = tmp_path / "empty.rdb"
    path.write_bytes(b"REDIS0010\xfe\x00" + later.join([b"", *bodies]) + b"\x00" + text(b"k") + text(b"v")
                     + b"\xff" + bytes(8))
    done = run_import(path, tmp_path / "data")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("skipping empty key: ") == len(bodies)
    with Server(data_dir=tmp_path / "data") as cairn, start_redis(dir=tmp_path, dbfilename="empty.rdb") as redis:
        assert cairn.client().keys() == redis.client().keys() == [b"k"]
        assert cairn.client().dbsize() == 1


def test_functions_that_do_not_load_are_refused(tmp_path):
    """A library with an error, and two libraries with the same function: a server could not start with them."""
    same = [b"#!lua name=%s\nredis.register_function('f',function() end)" % name for name in (b"one", b"two")]
    for codes, complaint in (([b"#!lua name=l\nno lua"], "compiling"), (same, "already exists")):
        path = tmp_path / "bad.rdb"
        functions = b"".join(b"\xf5\x40" + text(code) for code in codes)
        path.write_bytes(b"REDIS0010" + functions + b"\xff" + bytes(8))
        done = run_import(path, tmp_path / "data")
        assert done.returncode == 1 and complaint in done.stderr, done.stderr
    with Server(data_dir=tmp_path / "data") as cairn:
        assert cairn.client().function_list() == []


def contents(client, path):
    """The result of loading a file: the digest of the keys, their encodings, and the functions."""
    shutil.copy(path, pathlib.Path(client.config_get("dir")["dir"]) / "dump.rdb")
    client.execute_command("DEBUG", "RELOAD", "NOSAVE")
    encodings = {}
    for db in (0, 3, 15):
        client.execute_command("SELECT", db)
        encodings.update({(db, key): client.object("encoding", key) for key in client.keys()})
    client.execute_command("SELECT", 0)
    codes = sorted(library[-1] for library in client.function_list(withcode=True))
    return client.execute_command("DEBUG", "DIGEST"), encodings, codes


def test_every_encoding_survives_import_and_export(tmp_path):
    """Files with every encoding of redis-server pass through cairn-import and cairn-export and back: redis-server finds
    the same keys in the same encodings, and so does Cairn."""
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    rdb_corpus.write_files(corpus)
    seen = set()
    # Each content is in two files, with and without compression. Without --long, one of the two is enough.
    kept = by_size((0, 3), (0, 3), range(4))
    files = [path for number, path in enumerate(sorted(corpus.iterdir())) if number % 4 in kept]
    with start_redis() as redis, Server() as cairn:
        ours, theirs = cairn.client(), redis.client()
        for client in (ours, theirs):
            client.flushall()
        for path in files:
            expected = contents(theirs, path)
            assert contents(ours, path) == expected, path
            data, exported = tmp_path / f"data-{path.stem}", tmp_path / "exported.rdb"
            done = run_import(path, data)
            assert done.returncode == 0, done.stderr
            subprocess.run([tool_path("cairn-export"), "--dir", data, exported], check=True, capture_output=True)
            assert contents(theirs, exported) == expected, path
            seen.update(expected[1].values())
    assert seen == {b"int", b"embstr", b"raw", b"quicklist", b"intset", b"hashtable", b"listpack", b"skiplist",
                    b"stream"}


@pytest.mark.measures("memory")
def test_large_collections_need_little_memory(tmp_path):
    """Processes with bounded memory export and import a file of large collections."""
    with Server() as cairn:
        client = cairn.client()
        pipe = client.pipeline(transaction=False)
        rng = random.Random(8)
        for block in range(30):
            names = [b"%d:%s" % (block * 5000 + i, rng.randbytes(60)) for i in range(5000)]
            pipe.sadd("set", *names)
            pipe.rpush("list", *names)
            pipe.zadd("zset", {name: i for i, name in enumerate(names)})
            pipe.execute()
        client.save()
        digest = client.execute_command("DEBUG", "DIGEST")
        cairn.shutdown()
        code = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True);"
                "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
        most = []
        for tool, directory, path in (("export", cairn.data_dir, tmp_path / "out.rdb"),
                                      ("import", tmp_path / "data", tmp_path / "out.rdb")):
            out = subprocess.run(
                ["python3", "-c", code, str(tool_path(f"cairn-{tool}")), "--dir", str(directory),
                 "--memory-budget", "64mb", str(path)], capture_output=True, text=True, check=True)
            most.append(int(out.stdout.split()[-1]) // 1024)
        assert pathlib.Path(tmp_path / "out.rdb").stat().st_size > 25 << 20
        assert max(most) < 220, f"MB: {most}"
        with Server(data_dir=tmp_path / "data") as other:
            assert other.client().execute_command("DEBUG", "DIGEST") == digest
