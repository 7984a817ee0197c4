# SPDX-License-Identifier: BSD-3-Clause
"""cairn-check: names each kind of damage of a data directory, and salvages the rest into one that a server opens."""

import os
import pathlib
import resource
import shutil
import signal
import subprocess

import pytest
from harness import Server, tool_path
from mounts import small_disk

STRINGS = 4000
VALUE_BYTES = 300


def check(*arguments):
    """Runs cairn-check."""
    return subprocess.run([str(tool_path("cairn-check")), *map(str, arguments)], capture_output=True, text=True,
                          check=False, timeout=300)


def fill(client):
    """Values of all types, spread and in one row, with expiries, two databases and a blob file."""
    pipe = client.pipeline(transaction=False)
    for i in range(STRINGS):
        pipe.set(f"string:{i}", os.urandom(VALUE_BYTES), ex=100000 if i % 2 else None)
        pipe.rpush("list", os.urandom(20))
        pipe.xadd("stream", {"field": i}, id=f"{i + 1}-1")
    pipe.hset("hash", mapping={f"field{i}": os.urandom(30) for i in range(STRINGS)})
    pipe.execute_command("HEXPIRE", "hash", 100000, "FIELDS", 2, "field1", "field2")
    pipe.sadd("set", *[f"member{i}" for i in range(STRINGS)])
    pipe.zadd("zset", {f"member{i}": i / 2 for i in range(STRINGS)})
    pipe.hset("small", mapping={"a": 1, "b": "x"})
    pipe.set("fragments", os.urandom(30000))
    pipe.setrange("fragments", 100, "changed")
    for kind, capacity in (("small", 100), ("large", 100000)):
        pipe.execute_command("BF.RESERVE", f"{kind}-bloom", 0.01, capacity)
        pipe.execute_command("BF.MADD", f"{kind}-bloom", *range(90))
        pipe.execute_command("CF.RESERVE", f"{kind}-cuckoo", capacity)
        pipe.execute_command("CF.INSERT", f"{kind}-cuckoo", "ITEMS", *range(90))
    pipe.xgroup_create("stream", "group", 0)
    pipe.xreadgroup("group", "consumer", {"stream": ">"}, count=10)
    for i in range(4):
        pipe.set(f"blob:{i}", os.urandom(100000))
    for name, width in ("small", 20), ("large", 5000):
        pipe.execute_command("CMS.INITBYDIM", f"cms:{name}", width, 5)
        pipe.execute_command("CMS.INCRBY", f"cms:{name}", "a", 5, "b", 6)
        pipe.execute_command("TOPK.RESERVE", f"topk:{name}", 3, width, 5, 0.9)
        pipe.execute_command("TOPK.ADD", f"topk:{name}", "a", "b", "a")
    pipe.execute_command("TDIGEST.CREATE", "tdigest")
    pipe.execute_command("TDIGEST.ADD", "tdigest", 1, 2.5, 1000)
    pipe.execute()


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A data directory whose rows are in tables, and the digest of its data."""
    folder = tmp_path_factory.mktemp("whole")
    with Server(data_dir=folder) as server:
        client = server.client()
        fill(client)
        server.client(db=1).set("other", "database")
        client.execute_command("COMPACT")
        client.sadd("late", *[f"in the log {i}" for i in range(3)])
        digest = client.execute_command("DEBUG", "DIGEST")
        server.kill9()
    return folder, digest


@pytest.fixture
def data(whole, tmp_path):
    """A copy of that directory."""
    folder = tmp_path / "data"
    shutil.copytree(whole[0], folder)
    return folder


def files(folder, extension):
    """The files with this extension, the largest first."""
    return sorted(folder.glob(f"*{extension}"), key=lambda path: -path.stat().st_size)


def flip(path, offset):
    """Flips a bit; a negative offset counts from the end."""
    content = bytearray(path.read_bytes())
    content[offset] ^= 4
    path.write_bytes(content)


def contents(folder):
    """The bytes of all files."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def salvage(data, keys):
    """Salvages, compares the original, and checks the copy, which a server must open. Returns the output."""
    before = contents(data)
    target = data.with_name("salvaged")
    done = check(f"--salvage={target}", data)
    assert done.returncode in (0, 1), done.stderr
    assert contents(data) == before
    again = check(target)
    assert again.returncode == 0, again.stdout
    with Server(data_dir=target) as server:
        client = server.client()
        assert client.dbsize() >= keys, done.stdout
        for key in ("list", "hash", "set", "zset", "stream", "fragments"):
            read_all(client, key)
        assert client.set("new", "value")
        assert client.rpush("list", "more") and client.lrange("list", 0, -1)
        server.shutdown()
    assert check(target).returncode == 0
    return done.stdout


def read_all(client, key):
    """Reads a whole value; an error fails the test."""
    kind = client.type(key).decode()
    count = {"list": client.llen, "hash": client.hlen, "set": client.scard, "zset": client.zcard,
             "stream": client.xlen, "string": client.strlen, "none": lambda _: 0}[kind](key)
    read = {"list": lambda: client.lrange(key, 0, -1), "hash": lambda: client.hgetall(key),
            "set": lambda: client.smembers(key), "zset": lambda: client.zrange(key, 0, -1),
            "stream": lambda: client.xrange(key), "string": lambda: client.get(key), "none": lambda: ""}[kind]()
    assert len(read) == count, key


def test_a_whole_directory_is_clean_and_not_changed(whole, data):
    before = contents(data)
    done = check(data)
    assert done.returncode == 0 and "is whole" in done.stdout, done.stdout
    assert contents(data) == before
    target = data.with_name("salvaged")
    assert check(f"--salvage={target}", data).returncode == 0
    with Server(data_dir=target) as server:
        assert server.client().execute_command("DEBUG", "DIGEST") == whole[1]
        assert server.client(db=1).get("other") == b"database"
    assert "is not empty" in check(f"--salvage={target}", data).stderr


def test_a_directory_in_use_is_refused(tmp_path):
    with Server(data_dir=tmp_path):
        done = check(tmp_path)
        assert done.returncode == 2 and "a server has" in done.stderr, done.stderr
    assert check(tmp_path / "missing").returncode == 2
    assert check().returncode == 2


@pytest.mark.parametrize("share", [0, 0.5])
def test_a_damaged_block_loses_its_rows_only(data, share):
    """The first one, which a seek to the start of the space reads, and one in the middle."""
    table = files(data, ".sst")[0]
    flip(table, 10 + int(table.stat().st_size * share))
    done = check(data)
    assert done.returncode == 1 and table.name in done.stdout and "cannot be read" in done.stdout, done.stdout
    output = salvage(data, STRINGS - 100)
    assert table.name in output and "Lost: Rows of space keys" in output, output


def test_a_group_that_loses_pending_entries_can_be_used_in_the_copy(tmp_path):
    """A salvage that keeps half of the rows of a pending entry makes XREADGROUP, XACK or XCLAIM fail."""
    data = tmp_path / "data"
    data.mkdir()
    entries = 20000
    with Server(data_dir=data) as server:
        client = server.client()
        pipe = client.pipeline(transaction=False)
        for i in range(entries):
            pipe.xadd("stream", {"field": i}, id=f"{i + 1}-1")
        pipe.xgroup_create("stream", "group", 0)
        for i in range(entries // 1000):
            pipe.xreadgroup("group", f"consumer{i % 2}", {"stream": ">"}, count=1000)
        pipe.execute()
        client.execute_command("COMPACT")
        server.kill9()
    table = next(path for path in files(data, ".sst") if b"scores" in path.read_bytes())
    flip(table, table.stat().st_size // 4)  # the rows by consumer are in the second half
    done = check(data)
    assert done.returncode == 1 and "The key stream of database 0 is damaged" in done.stdout, done.stdout
    target = data.with_name("salvaged")
    done = check(f"--salvage={target}", data)
    assert "The key stream of database 0 has damaged rows" in done.stdout, done.stdout
    assert check(target).returncode == 0
    with Server(data_dir=target) as server:
        client = server.client()
        pending = client.xpending("stream", "group")
        assert entries // 2 < pending["pending"] < entries
        read = {}
        for each in pending["consumers"]:
            read[each["name"]] = client.xreadgroup("group", each["name"], {"stream": 0}, count=entries)[0][1]
            assert len(read[each["name"]]) == each["pending"]
        assert sum(len(entries_of) for entries_of in read.values()) == pending["pending"]
        assert client.xautoclaim("stream", "group", "other", 0, count=10)[1]
        acknowledged = [key for entries_of in read.values() for key, _ in entries_of]
        assert client.xack("stream", "group", *acknowledged) == pending["pending"]
        assert client.xpending("stream", "group")["pending"] == 0
        assert client.xinfo_groups("stream")[0]["last-delivered-id"] == f"{entries}-1".encode()


@pytest.mark.parametrize("damage", ["footer", "truncated", "missing"])
def test_a_table_that_does_not_open(data, damage):
    table = files(data, ".sst")[-1] if damage == "footer" else files(data, ".sst")[0]
    if damage == "footer":
        flip(table, -1)
    elif damage == "truncated":
        os.truncate(table, table.stat().st_size // 2)
    else:
        table.unlink()
    done = check(data)
    assert done.returncode == 1 and table.name in done.stdout, done.stdout
    assert table.name in salvage(data, 0)


def test_a_damaged_index(data):
    table = files(data, ".sst")[0]
    content = table.read_bytes()
    flip(table, content.rindex(b"rocksdb.block.based.table.index.type") - 3000)
    done = check(data)
    assert done.returncode == 1 and table.name in done.stdout, done.stdout
    salvage(data, 0)


@pytest.mark.parametrize("name", ["CURRENT", "MANIFEST"])
@pytest.mark.parametrize("damage", ["missing", "damaged"])
def test_current_and_manifest(data, name, damage):
    path = next(data.glob(f"{name}*"))
    if damage == "missing":
        path.unlink()
    else:
        flip(path, path.stat().st_size // 3)
    done = check(data)
    assert done.returncode == 1 and "CURRENT or MANIFEST" in done.stdout, done.stdout
    salvage(data, STRINGS)


def test_options_are_named_and_not_needed(data):
    for path in data.glob("OPTIONS-*"):
        flip(path, 20)
        path.write_bytes(b"no options" + path.read_bytes())
    done = check(data)
    assert done.returncode == 1 and "OPTIONS is damaged" in done.stdout, done.stdout
    salvage(data, STRINGS)


def test_a_torn_log_is_clean_and_a_damaged_one_is_not(whole, tmp_path):
    folder = tmp_path / "data"
    shutil.copytree(whole[0], folder)
    with Server(data_dir=folder) as server:
        pipe = server.client()
        for i in range(50):
            pipe.set(f"late:{i}", os.urandom(2000))
        server.kill9()
    log = files(folder, ".log")[0]
    os.truncate(log, log.stat().st_size - 100)
    done = check(folder)
    assert done.returncode == 0 and "no damage" in done.stdout, done.stdout
    flip(log, log.stat().st_size // 2)
    done = check(folder)
    assert done.returncode == 1 and log.name in done.stdout, done.stdout
    assert log.name in salvage(folder, STRINGS)


@pytest.mark.parametrize("damage", ["flipped", "truncated", "missing"])
def test_a_damaged_blob_file(data, damage):
    blob = files(data, ".blob")[0]
    if damage == "flipped":
        flip(blob, 150000)
    elif damage == "truncated":
        os.truncate(blob, 150000)
    else:
        blob.unlink()
    done = check(data)
    assert done.returncode == 1 and "blob:" in done.stdout, done.stdout
    if damage != "flipped":
        assert blob.name in done.stdout
    output = salvage(data, STRINGS)
    assert "blob:" in output


def test_a_server_that_does_not_open_names_cairn_check(data):
    next(data.glob("MANIFEST*")).unlink()
    server = Server(data_dir=data, start=False)
    with pytest.raises(Exception):  # noqa: B017 - whatever the harness says
        server.start()
    assert "cairn-check" in pathlib.Path(server.log_path).read_text()


def test_no_server_opens_an_interrupted_copy(data):
    """It would serve a part of the keys as if they were all."""
    target = data.with_name("salvaged")

    def limit_files():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 18, 1 << 18))

    failed = subprocess.run([str(tool_path("cairn-check")), f"--salvage={target}", str(data)], capture_output=True,
                            text=True, check=False, preexec_fn=limit_files)
    assert failed.returncode == 2 and failed.stderr
    server = Server(data_dir=target, start=False)
    with pytest.raises(Exception):  # noqa: B017 - whatever the harness says
        server.start()
    assert "--salvage did not finish" in pathlib.Path(server.log_path).read_text()
    assert "--salvage did not finish" in check(target).stdout


def test_salvage_to_a_full_disk_says_so(tmp_path):
    """It waited for ever: RocksDB cannot be closed while it tries to recover."""
    (tmp_path / "data").mkdir()
    with Server(data_dir=tmp_path / "data") as server:
        pipe = server.client().pipeline(transaction=False)
        for i in range(1500):
            pipe.set(f"k{i}", os.urandom(40_000))
        pipe.execute()
        server.shutdown()
    with small_disk(tmp_path / "small", 32) as disk:
        failed = check(f"--salvage={disk / 'salvaged'}", tmp_path / "data")
        assert failed.returncode == 2
        assert f"cairn-check: cannot write {disk / 'salvaged'}: " in failed.stderr
        assert "No space left on device" in failed.stderr
        assert "--salvage did not finish" in check(disk / "salvaged").stdout


def test_salvage_keeps_the_owner(data):
    """Else the server's user could not open what root has salvaged."""
    owner = (os.getuid(), os.getgid()) if os.getuid() else (12345, 23456)
    os.chown(data, *owner)
    target = data.with_name("salvaged")
    assert check(f"--salvage={target}", data).returncode == 0
    assert {(path.stat().st_uid, path.stat().st_gid) for path in [target, *target.rglob("*")]} == {owner}


def test_salvage_touches_no_folder_that_it_did_not_make(data):
    inside = check(f"--salvage={data / 'inside'}", data)
    assert inside.returncode == 2 and "which is not changed" in inside.stderr
    assert not (data / "inside").exists()
    (data / "CURRENT").unlink()  # so a readable copy is needed
    target = data.with_name("salvaged")
    other = data.with_name("salvaged.reading")
    other.mkdir()
    (other / "kept").write_text("mine")
    refused = check(f"--salvage={target}", data)
    assert refused.returncode == 2 and "exists" in refused.stderr
    assert (other / "kept").read_text() == "mine"
    shutil.rmtree(other)
    assert check(f"--salvage={target}", data).returncode == 1
    assert not other.exists()
