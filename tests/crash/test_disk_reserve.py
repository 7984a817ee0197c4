# SPDX-License-Identifier: BSD-3-Clause
"""A file system is filled up to min-free-disk, and the server is killed: the data opens every time, deletes work,
writes resume.

The file system is an ext4 of 300 MB in a file, so blocks, allocation and the journal are real. CONTRIBUTING.md
describes the long form (tests/crash/run --only fill_kill --fills 50).
"""

import os
import random
import shutil
import signal
import subprocess
import time

from data_files import size_of
from harness import Server
import pytest
import redis
from waiting import assert_stays, wait_until

FILLS = int(os.environ.get("CAIRN_CRASH_FILLS") or 2)
SEED = int(os.environ.get("CAIRN_CRASH_SEED") or random.SystemRandom().randrange(10**9))
LOW = "MISCONF The disk is full up to min-free-disk"
VALUE_BYTES = 4000
DEPTH = 200
SLOW_DEPTH = 20
BRIM_S = 1  # the disk is full when no write was accepted for this long


@pytest.fixture(name="disk", scope="module")
def fixture_disk(tmp_path_factory):
    """The mount point."""
    folder = tmp_path_factory.mktemp("disk")
    image, mounted = folder / "image", folder / "mounted"
    mounted.mkdir()
    with open(image, "wb") as file:
        file.truncate(300 << 20)
    subprocess.run(["mkfs.ext4", "-q", "-F", str(image)], check=True)
    if subprocess.run(["mount", "-o", "loop", str(image), str(mounted)], capture_output=True, check=False).returncode:
        pytest.skip("mounting a file system in a file needs root and a loop device")
    yield mounted
    subprocess.run(["umount", str(mounted)], check=True)


@pytest.fixture(name="data")
def fixture_data(disk):
    """A data directory on the disk."""
    folder = disk / "data"
    folder.mkdir()
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(name="ballast")
def fixture_ballast(disk):
    """The name of a file on the disk that occupies room."""
    yield disk / "ballast"
    (disk / "ballast").unlink(missing_ok=True)


def set_one(client, name):
    """Whether a write is accepted; a refusal must give the reason."""
    try:
        return client.set(name, "v")
    except redis.ResponseError as error:
        assert str(error).startswith(LOW), error
        return False


class Filler:
    """Sets keys of random bytes until the server refuses, and knows the acknowledged ones."""

    def __init__(self, rng):
        self.rng = rng
        self.keys = {}  # name -> seed of the value
        self.made = 0

    def value(self, number):
        """Bytes that do not compress."""
        return random.Random(number).randbytes(VALUE_BYTES)

    def fill(self, client):
        """Writes until the server has refused everything for a second; returns the last refusal.

        Half of the fills become slow after the first refusal: then compactions keep up, and the disk gets fuller.
        """
        near_depth = self.rng.choice([DEPTH, SLOW_DEPTH])
        depth, refused = DEPTH, None
        accepted_s = time.monotonic()
        while time.monotonic() - accepted_s < BRIM_S:
            numbers = range(self.made, self.made + depth)
            self.made += depth
            pipe = client.pipeline(transaction=False)
            for number in numbers:
                pipe.set(f"k:{number}", self.value(number))
            for number, reply in zip(numbers, pipe.execute(raise_on_error=False)):
                if reply is True:
                    self.keys[f"k:{number}"] = number
                    accepted_s = time.monotonic()
                else:
                    refused, depth = reply, near_depth
            if depth == SLOW_DEPTH:
                time.sleep(0.01)  # the rate of the writes
        return str(refused)

    def check(self, client):
        """Every acknowledged key exists, and no other; some values are compared."""
        assert client.dbsize() == len(self.keys)
        names = list(self.keys)
        for begin in range(0, len(names), 5000):
            part = names[begin:begin + 5000]
            assert client.exists(*part) == len(part)
        for name in self.rng.sample(names, min(200, len(names))):
            assert client.get(name) == self.value(self.keys[name])

    def delete(self, client, share):
        """Deletes a share of the keys; all are accepted."""
        names = self.rng.sample(sorted(self.keys), int(len(self.keys) * share))
        command = self.rng.choice(["DEL", "UNLINK"])
        for begin in range(0, len(names), DEPTH):
            pipe = client.pipeline(transaction=False)
            for name in names[begin:begin + DEPTH]:
                pipe.execute_command(command, name)
            assert set(pipe.execute()) == {1}
            for name in names[begin:begin + DEPTH]:
                del self.keys[name]


def make_room(filler, client, rng):
    """Frees space in one of several ways."""
    way = rng.choice(["half", "most", "flush", "compact"])
    if way == "flush":
        client.flushall()
        filler.keys.clear()
    else:
        filler.delete(client, 0.9 if way == "most" else 0.5)
    if way == "compact":
        client.execute_command("COMPACT")
    return way


@pytest.mark.slow
def test_fill_kill_open_delete_and_write_again(data):
    rng = random.Random(SEED)
    print(f"CAIRN_CRASH_SEED={SEED}")
    filler = Filler(rng)
    with Server(data_dir=data) as server:
        for number in range(FILLS):
            began = time.monotonic()
            refusal = filler.fill(server.client())
            assert refusal.startswith(LOW), refusal
            filled = len(filler.keys)
            info = server.client().info("cairn")
            assert info["commands_refused_for_room"] > 0
            server.kill9()
            opening = time.monotonic()
            server.start()
            opened_s = time.monotonic() - opening
            client = server.client()
            filler.check(client)
            way = make_room(filler, client, rng)
            deleted = time.monotonic()
            wait_until(lambda: set_one(client, "again"), "a write", server)
            client.delete("again")
            filler.check(client)
            print(f"{number + 1}: {filled} keys, opened in {opened_s:.2f} s, {way}, a write after "
                  f"{time.monotonic() - deleted:.2f} s, {time.monotonic() - began:.1f} s in all")
        client.flushall()


def free_bytes(path):
    """The free bytes of the file system."""
    disk = os.statvfs(path)
    return disk.f_bavail * disk.f_frsize


def allocate(path, size):
    """Creates or extends a file to this size."""
    with open(path, "ab") as file:
        os.posix_fallocate(file.fileno(), 0, size)


def fill_from_outside(path):
    """Takes all free space, like another program. The file may exist."""
    with open(path, "ab", buffering=0) as file:
        try:
            while True:
                file.write(bytes(1 << 20))
        except OSError:
            pass


def test_a_disk_filled_by_another_program_opens_and_takes_flushall(data, ballast):
    with Server(data_dir=data) as server:
        client = server.client()
        client.mset({f"k:{number}": random.randbytes(VALUE_BYTES) for number in range(2000)})
        # The space is used up faster than the server checks, so the reserve file must exist before.
        allocate(ballast, free_bytes(data) - 2 * client.info("cairn")["min_free_disk_bytes"])
        wait_until(lambda: client.info("cairn")["min_free_disk_held_bytes"] > 0, "the reserve's file", server)
        # While stopped, the server does not give up the reserve file when the other program takes all space.
        server.process.send_signal(signal.SIGSTOP)
        fill_from_outside(ballast)
        server.kill9()
        server.start()
        client = server.client()
        assert client.dbsize() == 2000
        with pytest.raises(redis.ResponseError, match="MISCONF"):
            client.set("refused", "v")
        assert client.flushall()
        ballast.unlink()
        wait_until(lambda: client.info("cairn")["disk_level"] == "plenty", "room", server)
        assert client.set("again", "v")
        assert client.keys() == [b"again"]


def set_random(client, prefix, count):
    """Sets keys whose values do not compress."""
    pipe = client.pipeline(transaction=False)
    for number in range(count):
        pipe.set(f"{prefix}:{number}", random.randbytes(VALUE_BYTES))
    pipe.execute()


def follow(replica, primary):
    """Makes `replica` a replica of `primary` and waits for the end of the first transfer."""
    client = replica.client()
    client.replicaof(primary.host, primary.port)
    return client


def is_online(client):
    """Whether the primary has a replica in sync and no longer keeps the files of its first transfer."""
    info = client.info("replication")
    return info["connected_slaves"] == 1 and info["slave0"]["state"] == "online"


@pytest.mark.slow
def test_a_replica_whose_disk_is_full_waits_and_resumes(data, ballast):
    with Server() as primary, Server(data_dir=data) as replica:
        source = primary.client()
        set_random(source, "before", 2000)
        client = follow(replica, primary)
        wait_until(lambda: client.dbsize() == 2000, "the first transfer", replica)
        fill_from_outside(ballast)
        wait_until(lambda: client.info("cairn")["disk_level"] == "full", "a full disk", replica)
        wait_until(lambda: client.info("replication")["master_link_status"] == "down", "a pause", replica)
        set_random(source, "after", 1000)
        assert_stays(lambda: client.dbsize() == 2000, 1, "the pause")
        ballast.unlink()
        wait_until(lambda: client.dbsize() == 3000, "the rest of the stream", replica)
        counts = source.info("stats")
        assert (counts["sync_full"], counts["sync_partial_ok"]) == (1, 1)


@pytest.mark.slow
def test_a_transfer_that_does_not_fit_is_not_repeated_in_a_loop(data, ballast):
    with Server() as primary, Server(data_dir=data) as replica:
        source, client = primary.client(), replica.client()
        client.set("own", "v")
        set_random(source, "k", 12000)
        reserve = client.info("cairn")["min_free_disk_bytes"]
        room = free_bytes(data)
        allocate(ballast, room - reserve - (40 << 20))
        follow(replica, primary)
        wait_until(lambda: "no room for the primary's" in replica.log_tail(), "a transfer that does not fit", replica)
        assert_stays(lambda: source.info("stats")["sync_full"] == 1, 3, "the pause")
        assert client.get("own") == b"v"
        ballast.unlink()
        wait_until(lambda: client.dbsize() == 12000, "the first transfer", replica)
        assert source.info("stats")["sync_full"] == 2


def test_the_log_for_disconnected_replicas_is_deleted_when_the_disk_is_nearly_full(data, ballast):
    archive = data / "archive"
    # A disconnected replica has this long to resume its first transfer, whose files and log are kept.
    with Server(data_dir=data, repl_timeout=2) as primary:
        client = primary.client()
        with Server() as replica:
            client.set("k", "v")
            follow(replica, primary)
            wait_until(lambda: is_online(client), "the first transfer", primary)
        for _ in range(5):  # the same keys, so the log is longer than the data
            set_random(client, "k", 2000)
        begin = client.info("replication")["repl_backlog_first_byte_offset"]
        wait_until(lambda: size_of(archive.glob("*.log")) > 8 << 20, "old logs", primary)
        reserve = client.info("cairn")["min_free_disk_bytes"]

        def is_given_up():
            """Fills the space that compactions free, and checks whether the log was deleted."""
            room = free_bytes(data) - reserve
            if room > 0:
                allocate(ballast, (ballast.stat().st_size if ballast.exists() else 0) + room)
            return size_of(archive.glob("*.log")) < 4 << 20  # the newest part stays

        wait_until(is_given_up, "room", primary)
        assert client.info("replication")["repl_backlog_first_byte_offset"] > begin
        ballast.unlink()
        wait_until(lambda: set_one(client, "again"), "a write", primary)
