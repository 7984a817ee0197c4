# SPDX-License-Identifier: BSD-3-Clause
"""A start on damaged or missing files names the file and says what to do, and cairn-check salvages the rest.

RocksDB replays a log up to a damaged piece, makes a new database where CURRENT is missing, and takes a MANIFEST that
was cut for one that a power loss has torn. None may go unnoticed: the first loses the commits behind the damage, the
others delete files.
"""

import os
import shutil
import subprocess

import pytest

from harness import Server, tool_path

KEYS = 2000
LATE_KEYS = 200  # in the log only


@pytest.fixture(scope="module", name="whole")
def fixture_whole(tmp_path_factory):
    """A data directory with tables, a blob file and a log of some commits, of which the first is synced."""
    folder = tmp_path_factory.mktemp("whole")
    with Server(data_dir=folder, appendfsync="no") as server:
        client = server.client()
        pipe = client.pipeline(transaction=False)
        for i in range(KEYS):
            pipe.set(f"key:{i}", os.urandom(300))
        pipe.set("blob", os.urandom(200000))
        pipe.execute()
        client.execute_command("COMPACT")
        client.set("late:0", os.urandom(300))
        assert client.execute_command("WAITAOF", 1, 0, 10000)[0] == 1  # the rest of the log is not synced
        for i in range(1, LATE_KEYS):
            client.set(f"late:{i}", os.urandom(300))
        server.kill9()
    (folder / "server.log").unlink()
    return folder


@pytest.fixture(name="data")
def fixture_data(whole, tmp_path):
    """A copy of that directory."""
    folder = tmp_path / "data"
    shutil.copytree(whole, folder)
    return folder


def largest(folder, pattern):
    """The largest file of this name."""
    return max(folder.glob(pattern), key=lambda path: path.stat().st_size)


def flip(path, offset):
    """Flips a bit."""
    content = bytearray(path.read_bytes())
    content[offset] ^= 4
    path.write_bytes(content)


def cut(path, lost=None):
    """Removes the last bytes of the file, by default its second half."""
    size = path.stat().st_size
    os.truncate(path, size - (lost or size // 2))


# The damage, and the name of the file in the message. A start would lose data that can be salvaged.
REFUSED = {
    "a missing table": (lambda data: largest(data, "*.sst").unlink(), "0000"),
    "a short table": (lambda data: cut(largest(data, "*.sst")), ".sst"),
    "a damaged manifest": (lambda data: flip(largest(data, "MANIFEST*"), 300), "MANIFEST-"),
    "a cut manifest": (lambda data: cut(largest(data, "MANIFEST*")), "MANIFEST-"),
    "a manifest without its end": (lambda data: cut(largest(data, "MANIFEST*"), 1), "is cut"),
    "a missing log": (lambda data: largest(data, "*.log").unlink(), ".log cannot be found"),
    "a log cut in its synced part": (lambda data: os.truncate(largest(data, "*.log"), 100), "is cut"),
    "a missing manifest": (lambda data: largest(data, "MANIFEST*").unlink(), "MANIFEST-"),
    "a damaged CURRENT": (lambda data: (data / "CURRENT").write_text("garbage\n"), "CURRENT"),
    "an empty CURRENT": (lambda data: (data / "CURRENT").write_text(""), "CURRENT"),
    "a missing CURRENT": (lambda data: (data / "CURRENT").unlink(), "CURRENT is missing"),
    "a missing CURRENT and no log": (
        lambda data: [path.unlink() for path in (data / "CURRENT", *data.glob("*.log"))], "CURRENT is missing"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_start_refuses_and_the_rest_is_salvaged(data, what):
    damage, named = REFUSED[what]
    damage(data)
    server = Server(data_dir=data, start=False)
    with pytest.raises(RuntimeError, match="cairn-check tells what is damaged and salvages the rest") as refusal:
        server.start()
    assert named in str(refusal.value)
    server.close()
    salvaged = data.with_name("salvaged")
    done = subprocess.run([tool_path("cairn-check"), f"--salvage={salvaged}", data], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 1, done.stderr
    least = 0 if "table" in what else KEYS // 2  # nearly all keys are in one table
    with Server(data_dir=salvaged) as server:
        assert server.client().dbsize() >= least, done.stdout


def test_a_second_server_on_the_directory_says_that_the_first_has_it(data):
    with Server(data_dir=data) as first:
        second = Server(data_dir=data, start=False)
        with pytest.raises(RuntimeError, match="a server has it open") as refusal:
            second.start()
        assert "damaged" not in str(refusal.value)
        assert first.client().dbsize() > KEYS
        second.close()


# The rest of the log is lost for the server; before, only cairn-check said so.
def test_a_log_that_is_damaged_in_the_middle_is_named_in_a_warning(data):
    log = largest(data, "*.log")
    flip(log, log.stat().st_size // 2)
    with Server(data_dir=data) as server:
        assert KEYS < server.client().dbsize() < KEYS + LATE_KEYS
        warnings = [line for line in server.log_tail().splitlines() if "damaged in the middle" in line]
        assert len(warnings) == 1
        assert log.name in warnings[0] and "cairn-check" in warnings[0]


def test_a_log_that_ends_within_a_record_needs_no_warning(data):
    log = largest(data, "*.log")
    os.truncate(log, log.stat().st_size - 20)
    with Server(data_dir=data) as server:
        assert server.client().dbsize() == KEYS + LATE_KEYS  # without the last one
        assert "damaged in the middle" not in server.log_tail()


def test_a_large_record_that_a_kill_has_torn_is_no_damage(tmp_path):
    """It has several pieces in the log, and RocksDB reports the last one with another text than that of a small one."""
    with Server(data_dir=tmp_path, appendfsync="no") as server:
        server.client().mset({f"key:{i}": os.urandom(10000) for i in range(20)})
        server.kill9()
    log = largest(tmp_path, "*.log")
    os.truncate(log, log.stat().st_size - 50000)
    done = subprocess.run([tool_path("cairn-check"), tmp_path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    with Server(data_dir=tmp_path) as server:
        assert server.client().dbsize() == 0
        assert "orruption" not in server.log_tail()


@pytest.mark.parametrize("damage", [
    lambda data: [path.unlink() for path in data.glob("OPTIONS*")],
    lambda data: [path.write_text("[x\n") for path in data.glob("OPTIONS*")],
    lambda data: (data / "IDENTITY").unlink(),
], ids=["no OPTIONS", "damaged OPTIONS", "no IDENTITY"])
def test_files_without_data_are_made_anew(data, damage):
    damage(data)
    with Server(data_dir=data) as server:
        assert server.client().dbsize() == KEYS + 1 + LATE_KEYS
