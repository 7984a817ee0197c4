# SPDX-License-Identifier: BSD-3-Clause
"""Debian's package index in Cairn and in redis-server, compared key by key.

The data set (lab/packages.py) is loaded twice into both servers: into database 0 by redis-py pipelines, into database 1
by `redis-cli --pipe`. Everything is compared (lab/comparison.py), again after SHUTDOWN and a restart of Cairn, and
again after a series of changes that ends in kill -9 and a restart. Also reported: Cairn's disk use after COMPACT, and
both processes' memory.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from itertools import islice

from comparison import Snapshot, find_differences, take_snapshot
from memory import folder_bytes
from packages import Command, Record, change_commands, load_commands, read_records
from process import status_bytes
from servers import Server, start_cairn, start_redis
from wire import Chunk, pack_chunks

PIPELINE_COMMANDS = 1000
PIPELINED_DB, PIPED_DB = 0, 1
SHOWN_DIFFERENCES = 20
MB = 1 << 20
Report = Callable[[str], None]


def load_by_pipelines(server: Server, commands: Iterable[Command]):
    """Sends the commands through redis-py pipelines; an error reply is an exception."""
    client = server.client(db=PIPELINED_DB)
    commands = iter(commands)
    while batch := list(islice(commands, PIPELINE_COMMANDS)):
        pipeline = client.pipeline(transaction=False)
        for command in batch:
            pipeline.execute_command(*command)
        pipeline.execute()


def load_by_cli(server: Server, chunks: Iterable[Chunk]):
    """Sends the commands through `redis-cli --pipe`, which counts the replies and the errors."""
    cli = subprocess.Popen(["redis-cli", "-h", server.host, "-p", str(server.port), "--pipe"],
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    commands = 0
    for chunk in chunks:
        cli.stdin.write(chunk.payload)
        commands += chunk.commands
    output = cli.communicate()[0].decode()
    if cli.returncode != 0 or f"errors: 0, replies: {commands}" not in output:
        raise RuntimeError(f"redis-cli --pipe, {commands} commands: {output}")


class Trial:
    """Both servers, the records, the expected data and the results so far."""

    def __init__(self, cairn: Server, redis: Server, records: list[Record], report: Report):
        self.cairn = cairn
        self.redis = redis
        self.records = records
        self.report = report
        self.now_ms = int(time.time() * 1000)
        self.expected: list[Snapshot] = []
        self.differences: list[str] = []

    def load(self):
        """Loads both servers both ways."""
        piped = [(b"SELECT", b"%d" % PIPED_DB), *load_commands(self.records, self.now_ms)]
        chunks = list(pack_chunks(piped))
        for name, server in (("Cairn", self.cairn), ("redis-server", self.redis)):
            started = time.monotonic()
            load_by_pipelines(server, load_commands(self.records, self.now_ms))
            between = time.monotonic()
            load_by_cli(server, chunks)
            self.report(f"{name}: {len(piped) - 1} commands by pipelines in "
                        f"{between - started:.1f} s, by redis-cli --pipe in "
                        f"{time.monotonic() - between:.1f} s")
        self._remember_expected()

    def change(self):
        """Applies the changes to both servers' pipelined database."""
        for server in (self.cairn, self.redis):
            load_by_pipelines(server, change_commands(self.records, self.now_ms))

    def kill_and_restart(self):
        """Kills Cairn right after the last reply and starts it again."""
        self.cairn.restart("kill9")
        self._remember_expected()

    def compare(self, when: str):
        """Compares both databases with those of redis-server and reports the result."""
        keys = 0
        found = 0
        for db, expected in zip((PIPELINED_DB, PIPED_DB), self.expected):
            differences = find_differences(expected, take_snapshot(self.cairn.port, db))
            keys += len(expected)
            found += len(differences)
            self.differences += [f"{when}, database {db}: {line}" for line in differences]
        self.report(f"{when}: {keys} keys compared, {found} differences")

    def _remember_expected(self):
        self.expected = [take_snapshot(self.redis.port, db) for db in (PIPELINED_DB, PIPED_DB)]

    def report_sizes(self, when: str):
        """Reports both processes' resident memory."""
        cairn, redis = (status_bytes(server.pid, "VmRSS") / MB
                        for server in (self.cairn, self.redis))
        self.report(f"{when}: resident memory Cairn {cairn:.0f} MB, redis-server {redis:.0f} MB")

    def compact(self):
        """Compacts Cairn's data and reports its disk use before and after."""
        before = folder_bytes(self.cairn.data_dir)
        self.cairn.client().execute_command("COMPACT")
        self.report(f"disk used by Cairn: {before / MB:.0f} MB before COMPACT, "
                    f"{folder_bytes(self.cairn.data_dir) / MB:.0f} MB after")


def run_trial(cairn: Server, redis: Server, records: list[Record], report: Report) -> list[str]:
    """The whole procedure; returns every difference found."""
    trial = Trial(cairn, redis, records, report)
    trial.load()
    trial.report_sizes("after loading")
    trial.compare("after loading")
    cairn.restart("shutdown")
    trial.compare("after SHUTDOWN and restart")
    trial.change()
    trial.kill_and_restart()
    trial.compare("after changes, kill -9 and restart")
    trial.report_sizes("after the restarts")
    trial.compact()
    trial.compare("after COMPACT")
    return trial.differences


def main() -> int:
    """Runs the trial on the whole index; returns 1 if any key differs."""
    parser = argparse.ArgumentParser(
        prog="bench/load_packages", description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, help="load only this many")
    parser.add_argument("--cairn-args", default="", metavar="TEXT", help="directives, as on the command line")
    options = parser.parse_args()
    records = read_records()[:options.records]
    print(f"{len(records)} records of Debian's package index")
    with start_cairn(options.cairn_args) as cairn, start_redis() as redis:
        differences = run_trial(cairn, redis, records, lambda line: print(line, flush=True))
    for line in differences[:SHOWN_DIFFERENCES]:
        print(line)
    if len(differences) > SHOWN_DIFFERENCES:
        print(f"and {len(differences) - SHOWN_DIFFERENCES} more")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
