# SPDX-License-Identifier: BSD-3-Clause
"""Measures the latency of a reader while a backup runs, and what a second backup copies.

A server in a memory cgroup, so that the page cache cannot hide the disk, is filled with values of 1 KB that do not
compress, and its compactions come to rest. One connection (lab/reader.c) reads a random key each millisecond beside a
writer that sets `--writes` values a second, first alone, then during a backup. Then a second backup is made, a third is
interrupted by kill -9, and the second is restored.

The claims: the p99 during the backup is at most 1.5 times that alone, the second backup copies at most a tenth of the
bytes, the killed server opens with all keys, and the restored copy has the digest of the server at the second backup.
"""

import argparse
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time

import redis
from process import wait_until_at_rest
from servers import Server, memory_cgroup, start_cairn, start_in
from sync_reads import KEYS_PER_MB, MB, VALUE_BYTES, Reader, fill

from harness import tool_path  # noqa: E402  (servers.py sets the path)

MOST_RATIO = 1.5
MOST_SHARE = 0.1
SETTLE_S = 900


class Writer:
    """Overwrites random keys at a rate, in a thread."""

    def __init__(self, server: Server, keys: int, rate: int):
        self.client = redis.Redis(server.host, server.port)  # not of the server, which closes its own when it is killed
        self.keys, self.rate = keys, rate
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._run)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()

    def _run(self):
        chance = random.Random(3)
        while not self.ended.wait(0.1):
            pipe = self.client.pipeline(transaction=False)
            for _ in range(self.rate // 10):
                pipe.set(f"key:{chance.randrange(self.keys):012d}", chance.randbytes(VALUE_BYTES))
            try:
                pipe.execute()
            except redis.ConnectionError:  # the server was killed
                return


def status(server: Server) -> dict:
    """BACKUP STATUS."""
    reply = server.client().execute_command("BACKUP", "STATUS")
    return dict(zip(reply[::2], reply[1::2]))


def await_backup(server: Server) -> dict:
    """The status of the backup that has ended; an error if it failed."""
    while (found := status(server))[b"state"] == b"running":
        time.sleep(0.05)
    if found[b"result"] != b"ok":
        raise RuntimeError(f"the backup failed: {found[b'result'].decode()}")
    return found


def digest(server: Server) -> bytes:
    """DEBUG DIGEST."""
    return server.client(socket_timeout=600).execute_command("DEBUG", "DIGEST")


def measure(server: Server, keys: int, options) -> tuple:
    """Figures of reads alone, of reads during a backup, and the status of that backup."""
    reader = Reader(server.port, keys)
    with Writer(server, keys, options.writes):
        alone = reader.run(options.seconds, 1)
        server.client().execute_command("BACKUP", "START")
        during = reader.run(options.seconds, 2)
        if status(server)[b"state"] != b"running":
            raise RuntimeError("the backup took less time than the reads: choose a smaller --seconds or --rate")
    return alone, during, await_backup(server)


def parse_options():
    """The command line."""
    parser = argparse.ArgumentParser(prog="bench/backup", description=__doc__.partition("\n")[0])
    parser.add_argument("--size-mb", type=int, default=10000)
    parser.add_argument("--budget-mb", type=int, default=512, help="memory budget of the server")
    parser.add_argument("--limit-mb", type=int, default=640, help="memory of the cgroup")
    parser.add_argument("--seconds", type=float, default=60, help="duration of the reads, less than the backup")
    parser.add_argument("--rate", default="64mb", help="backup-rate-limit")
    parser.add_argument("--writes", type=int, default=1000, help="a second")
    parser.add_argument("--cairn-args", default="", metavar="TEXT", help="directives, as on the command line")
    return parser.parse_args()


def main() -> int:
    """Fills, measures, and checks the claims."""
    options = parse_options()
    keys = options.size_mb * KEYS_PER_MB
    with tempfile.TemporaryDirectory(prefix="cairn-backup-") as folder:
        backups, target = pathlib.Path(folder) / "backups", pathlib.Path(folder) / "restored"
        with memory_cgroup(options.limit_mb * MB) as group, \
                start_cairn(options.cairn_args, start=False, memory_budget=f"{options.budget_mb}mb",
                            backup_dir=str(backups), backup_rate_limit=options.rate) as server:
            start_in(group, server)
            fill(server, keys)
            wait_until_at_rest(server.process.pid, pathlib.Path(server.data_dir), SETTLE_S)
            alone, during, first = measure(server, keys, options)
            original = digest(server)
            server.client().execute_command("BACKUP", "START")
            second = await_backup(server)
            server.client().config_set("backup-rate-limit", "100kb")
            with Writer(server, keys, options.writes):
                server.client().execute_command("BACKUP", "START")
                time.sleep(1)
                server.kill9()
            server.start()
            kept = server.client().dbsize()
        subprocess.run([str(tool_path("cairn-restore")), f"--backup_dir={backups}", "--id=2", str(target)], check=True)
        with Server(data_dir=str(target)) as restored:
            same = digest(restored) == original
    for name, figures in (("alone", alone), ("during", during)):
        print(f"{name:8}" + "".join(f"  {key} {figures[key]:.3f}" for key in figures if key.endswith("_ms")))
    copied = [found[b"bytes-copied"] for found in (first, second)]
    print(f"first backup {copied[0] / MB:.0f} MB, second {copied[1] / MB:.0f} MB")
    claims = {f"p99 at most {MOST_RATIO:g} times that alone": during["p99_ms"] <= MOST_RATIO * alone["p99_ms"],
              "the second backup copies at most a tenth": copied[1] <= MOST_SHARE * copied[0],
              "all keys after kill -9": kept == keys, "the restored copy is equal": same}
    for claim, holds in claims.items():
        print(f"{'ok' if holds else 'FAILED':6} {claim}")
    return 0 if all(claims.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
