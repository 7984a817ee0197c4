# SPDX-License-Identifier: BSD-3-Clause
"""A file system filled up to min-free-disk, and kills: the data opens every time, deletes work, writes come back.

It is an ext4 of 300 MB in a file, so that blocks, allocation and the journal are those of a real one. The long form
(tests/crash/run --only fill_kill --fills 50) does what CONTRIBUTING.md says of it.
"""

import os
import random
import subprocess
import time

from harness import Server
import pytest
import redis

FILLS = int(os.environ.get("CAIRN_CRASH_FILLS") or 2)
SEED = int(os.environ.get("CAIRN_CRASH_SEED") or random.SystemRandom().randrange(10**9))
LOW = "MISCONF The disk is full up to min-free-disk"
VALUE_BYTES = 4000
DEPTH = 200


@pytest.fixture(name="disk", scope="module")
def fixture_disk(tmp_path_factory):
    """The folder where it is mounted."""
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


def wait_for(condition, server, what, timeout_s=60):
    """Waits until the condition holds."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not happen:\n{server.log_tail()}"
        time.sleep(0.05)


def set_one(client, name):
    """Whether a write is accepted; a refusal says why."""
    try:
        return client.set(name, "v")
    except redis.ResponseError as error:
        assert str(error).startswith(LOW), error
        return False


class Filler:
    """Sets keys of random bytes until the server refuses, and knows those that were acknowledged."""

    def __init__(self, rng):
        self.rng = rng
        self.keys = {}  # name: seed of its value
        self.made = 0

    def value(self, number):
        """Bytes that do not compress."""
        return random.Random(number).randbytes(VALUE_BYTES)

    def fill(self, client):
        """Answers the refusal."""
        while True:
            pipe = client.pipeline(transaction=False)
            numbers = range(self.made, self.made + DEPTH)
            self.made += DEPTH
            for number in numbers:
                pipe.set(f"k:{number}", self.value(number))
            refused = None
            for number, reply in zip(numbers, pipe.execute(raise_on_error=False)):
                if reply is True:
                    self.keys[f"k:{number}"] = number
                else:
                    refused = reply
            if refused is not None:
                return str(refused)

    def check(self, client):
        """Every acknowledged key is there, and nothing else; some values are looked at."""
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
    """In one of the ways there are."""
    way = rng.choice(["half", "most", "flush", "compact"])
    if way == "flush":
        client.flushall()
        filler.keys.clear()
    else:
        filler.delete(client, 0.9 if way == "most" else 0.5)
    if way == "compact":
        client.execute_command("COMPACT")
    return way


def test_fill_kill_open_delete_and_write_again(disk):
    rng = random.Random(SEED)
    print(f"CAIRN_CRASH_SEED={SEED}")
    filler = Filler(rng)
    (disk / "data").mkdir(exist_ok=True)
    with Server(data_dir=disk / "data") as server:
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
            wait_for(lambda: set_one(client, "again"), server, "a write")
            client.delete("again")
            filler.check(client)
            print(f"{number + 1}: {filled} keys, opened in {opened_s:.2f} s, {way}, a write after "
                  f"{time.monotonic() - deleted:.2f} s, {time.monotonic() - began:.1f} s in all")
        client.flushall()


def fill_from_outside(path):
    """As another program would: whatever is free."""
    with open(path, "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(1 << 20))
        except OSError:
            pass


def test_a_disk_filled_by_another_program_opens_and_takes_flushall(disk):
    (disk / "other").mkdir(exist_ok=True)
    with Server(data_dir=disk / "other") as server:
        client = server.client()
        client.mset({f"k:{number}": random.randbytes(VALUE_BYTES) for number in range(2000)})
        fill_from_outside(disk / "ballast")
        wait_for(lambda: client.info("cairn")["min_free_disk_held_bytes"] > 0, server, "the reserve's file")
        server.kill9()
        server.start()
        client = server.client()
        assert client.dbsize() == 2000
        with pytest.raises(redis.ResponseError, match="MISCONF"):
            client.set("refused", "v")
        assert client.flushall()
        (disk / "ballast").unlink()
        wait_for(lambda: client.info("cairn")["disk_level"] == "plenty", server, "room")
        assert client.set("again", "v")
        assert client.keys() == [b"again"]
