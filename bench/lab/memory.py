# SPDX-License-Identifier: BSD-3-Clause
"""Measures resident memory under a memory budget, with far more data than fits.

Writes 4 GB of records in a scattered order, then reads and overwrites records at random, while the server's resident
memory is sampled each second. Seven of eight records are strings, the eighth is a hash of eight fields; each is 1 KB of
random bytes, which do not compress. A read must return the requested record. Prints the highest sample and the kernel's
high-water mark; the exit status is 1 if the highest sample is above the limit.
"""

import argparse
import json
import multiprocessing
import os
import random
import sys
import time

from process import ResidentSampler, status_bytes
from servers import start_cairn
from wire import Connection, encode_command

RECORD_BYTES = 1024
FIELDS = 8
FIELD_BYTES = RECORD_BYTES // FIELDS
BATCH = 16
WRITE_SHARE = 0.3
NOISE_BYTES = 16 << 20
MB = 1 << 20


class Worker:
    """One client: its connection, its random numbers, and random bytes to cut values from."""

    def __init__(self, port: int, records: int, seed: int):
        self.connection = Connection(port)
        self.records = records
        self.random = random.Random(seed)
        self.noise = self.random.randbytes(NOISE_BYTES)
        self.operations = 0

    def value(self, number: int, size: int) -> bytes:
        """A value that begins with its record's number; the rest is random."""
        start = self.random.randrange(NOISE_BYTES - size)
        return b"%016d" % number + self.noise[start:start + size - 16]

    def write(self, number: int) -> tuple[bytes, int]:
        """The command that writes a record, and the size of its reply."""
        key = b"record:%010d" % number
        if number % 8:
            return encode_command(b"SET", key, self.value(number, RECORD_BYTES)), len("+OK\r\n")
        fields = [part for field in range(FIELDS)
                  for part in (b"field:%d" % field, self.value(number, FIELD_BYTES))]
        return encode_command(b"HSET", key, *fields), len(":8\r\n")

    def read(self, number: int) -> tuple[bytes, int, int]:
        """The command that reads a record, the size of its reply, and the offset of the value."""
        key = b"record:%010d" % number
        if number % 8:
            command, size = encode_command(b"GET", key), RECORD_BYTES
        else:
            field = b"field:%d" % self.random.randrange(FIELDS)
            command, size = encode_command(b"HGET", key, field), FIELD_BYTES
        head = len(b"$%d\r\n" % size)
        return command, head + size + 2, head

    def write_batch(self, numbers: list[int]):
        """Writes records in one pipeline."""
        commands, sizes = zip(*(self.write(number) for number in numbers))
        replies = self.connection.exchange(b"".join(commands), sum(sizes))
        if b"-" in replies:
            raise RuntimeError(f"a write was refused: {replies[:200]!r}")
        self.operations += len(numbers)

    def read_batch(self, numbers: list[int]):
        """Reads records in one pipeline and checks that each is the requested one."""
        commands, sizes, heads = zip(*(self.read(number) for number in numbers))
        replies = self.connection.exchange(b"".join(commands), sum(sizes))
        start = 0
        for number, size, head in zip(numbers, sizes, heads):
            found = replies[start + head:start + head + 16]
            if found != b"%016d" % number:
                raise RuntimeError(f"record {number} begins with {found!r}")
            start += size
        self.operations += len(numbers)

    def fill(self, part: int, parts: int):
        """Writes this worker's part of the records, each once, in scattered order."""
        stride = next(s for s in range(int(self.records * 0.618), self.records)
                      if _coprime(s, self.records))
        batch = []
        for index in range(part, self.records, parts):
            batch.append(index * stride % self.records)
            if len(batch) == BATCH:
                self.write_batch(batch)
                batch = []
        if batch:
            self.write_batch(batch)

    def mix(self, seconds: float):
        """Reads and overwrites random records for this time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            numbers = [self.random.randrange(self.records) for _ in range(BATCH)]
            if self.random.random() < WRITE_SHARE:
                self.write_batch(numbers)
            else:
                self.read_batch(numbers)


def _coprime(a: int, b: int) -> bool:
    while b:
        a, b = b, a % b
    return a == 1


def work(port: int, records: int, part: int, parts: int, phase: str, seconds: float, counted):
    """The body of one worker process; adds its number of operations to `counted`."""
    worker = Worker(port, records, seed=part + 1000 * len(phase))
    if phase == "write":
        worker.fill(part, parts)
    else:
        worker.mix(seconds)
    with counted.get_lock():
        counted.value += worker.operations


def run_phase(server, records: int, phase: str, options) -> float:
    """Runs the workers of a phase; returns operations per second."""
    counted = multiprocessing.Value("q", 0)
    arguments = (options.workers, phase, options.seconds, counted)
    workers = [multiprocessing.Process(target=work, args=(server.port, records, part, *arguments))
               for part in range(options.workers)]
    started = time.monotonic()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if any(worker.exitcode != 0 for worker in workers):
        raise RuntimeError(f"a worker of the {phase} phase failed; the server said:\n"
                           + server.log_tail())
    return counted.value / (time.monotonic() - started)


def folder_bytes(folder) -> int:
    """Disk space of the files below a folder."""
    blocks = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                blocks += os.lstat(os.path.join(place, name)).st_blocks
            except FileNotFoundError:
                continue  # compaction deletes files meanwhile
    return blocks * 512


def parse_options():
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="bench/memory", description="Resident memory under a budget and 4 GB of data.")
    parser.add_argument("--budget-mb", type=int, default=256)
    parser.add_argument("--limit-mb", type=int, default=300)
    parser.add_argument("--data-gb", type=float, default=4.0)
    parser.add_argument("--seconds", type=float, default=120, help="duration of the random reads and writes")
    parser.add_argument("--workers", type=int, default=4, help="client processes")
    parser.add_argument("--cairn-args", default="", metavar="TEXT", help="directives, as on the command line")
    parser.add_argument("--dir", metavar="DIR", help="data directory to use and keep")
    parser.add_argument("--json", metavar="FILE")
    return parser.parse_args()


def main() -> int:
    """Runs both phases and checks the highest sample."""
    options = parse_options()
    records = int(options.data_gb * (1 << 30) / RECORD_BYTES)
    with start_cairn(options.cairn_args, data_dir=options.dir,
                     memory_budget=f"{options.budget_mb}mb") as server:
        with ResidentSampler(server.pid) as sampler:
            for phase in ("write", "mix"):
                rate = run_phase(server, records, phase, options)
                print(f"{phase:6} {rate:9.0f} operations/s, highest resident so far "
                      f"{sampler.highest() / MB:.0f} MB, on disk "
                      f"{folder_bytes(server.data_dir) / MB:.0f} MB", flush=True)
        peak = status_bytes(server.pid, "VmHWM")
        size = int(server.client().dbsize())
    if size != records:
        raise RuntimeError(f"DBSIZE is {size} after {records} records were written")

    highest = sampler.highest()
    holds = highest <= options.limit_mb * MB
    print(f"\n{records} records of {RECORD_BYTES} bytes, budget {options.budget_mb} MB: highest of "
          f"{len(sampler.samples)} samples {highest / MB:.1f} MB (kernel's high-water mark "
          f"{peak / MB:.1f} MB), limit {options.limit_mb} MB: {'held' if holds else 'EXCEEDED'}")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"highest_bytes": highest, "peak_bytes": peak,
                       "samples": sampler.samples}, file)
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
