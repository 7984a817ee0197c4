# SPDX-License-Identifier: BSD-3-Clause
"""A log that cannot grow: writers get an error, readers are served, and acknowledged writes are kept.

The limit on the size of a file replaces a full disk: it needs no privileges, and the write fails in the same place.
"""

import contextlib
import subprocess
import threading

import pytest
import redis

from harness import Server, default_command
from waiting import wait_until

LIMIT = 'trap "" XFSZ; ulimit -f 16384; exec "$0" "$@"'  # 8 MB, in blocks of 512 bytes
CLIENTS = 4
DEPTH = 400


class Writer:
    """Sets new keys, and new fields of a shared hash, until the server refuses."""

    def __init__(self, server, number, shared):
        self.client, self.number, self.shared = server.client(), number, shared
        self.done = {"key": [], "field": []}
        self.refused = {"key": [], "field": []}

    def run(self):
        """Sends deep pipelines, so ticks are large and have predecessors."""
        for round_ in range(1000):
            names = [f"{self.number}:{round_}:{i}" for i in range(DEPTH)]
            pipeline = self.client.pipeline(transaction=False)
            for name in names:
                pipeline.set(name, name * 12)
                if self.shared:
                    pipeline.hset("shared", name, "v")
            replies = pipeline.execute(raise_on_error=False)
            self._note("key", names, replies[:: 2 if self.shared else 1])
            if self.shared:
                self._note("field", names, replies[1::2])
            if self.refused["key"]:
                return

    def _note(self, kind, names, replies):
        for name, reply in zip(names, replies):
            if reply in (True, 1):
                self.done[kind].append(name)
            else:
                assert str(reply).startswith("MISCONF "), reply
                self.refused[kind].append(name)


@pytest.mark.parametrize("shared", [False, True], ids=["own keys", "a shared hash"])
def test_writes_acknowledged_before_the_log_was_full_are_kept(shared):
    with Server(command=["sh", "-c", LIMIT, *default_command()]) as server:
        server.client().set("before", "x")
        writers = [Writer(server, number, shared) for number in range(CLIENTS)]
        threads = [threading.Thread(target=writer.run) for writer in writers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        reader = server.client()
        assert reader.get("before") == b"x"
        assert reader.ping()
        server.kill9()
        server.command = default_command()
        server.start()
        client = server.client()
        for writer in writers:
            done, refused = writer.done, writer.refused
            assert done["key"] and refused["key"]
            assert client.mget(done["key"]) == [(name * 12).encode() for name in done["key"]]
            assert client.exists(*refused["key"]) == 0
            if shared:
                assert set(client.hmget("shared", done["field"])) == {b"v"}
                assert set(client.hmget("shared", refused["field"])) == {None}
        assert client.set("after", "y")


@pytest.fixture(name="small_disk")
def fixture_small_disk(tmp_path):
    """A file system of 120 MB of which 80 are taken by one file."""
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=120m", "tmpfs", str(tmp_path)],
                             capture_output=True, check=False)
    if mounted.returncode != 0:
        pytest.skip("mounting a small file system needs root")
    (tmp_path / "data").mkdir()
    (tmp_path / "ballast").write_bytes(bytes(80_000_000))
    yield tmp_path
    subprocess.run(["umount", str(tmp_path)], check=True)


def test_writes_resume_when_there_is_room_again(small_disk):
    # Without a reserve, because other programs may have used it.
    with Server(data_dir=small_disk / "data", min_free_disk=1) as server:
        writer = Writer(server, 0, False)
        writer.run()
        assert server.client().get(writer.done["key"][0])
        (small_disk / "ballast").unlink()
        own = server.client()

        def writes():
            with contextlib.suppress(redis.ResponseError):
                return own.set("again", "y")
            return False

        wait_until(writes, "a write", server, pause_s=0.1)
        server.kill9()
        server.start()
        client = server.client()
        assert client.mget(writer.done["key"]) == [(n * 12).encode() for n in writer.done["key"]]
        assert client.get("again") == b"y"
