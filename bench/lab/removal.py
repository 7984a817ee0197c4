# SPDX-License-Identifier: BSD-3-Clause
"""Measures the latency of disk reads while large files are removed.

It reads 4 KB past the page cache, once a millisecond, from a separate file: first alone, then while files of 64 MB are
removed whole, one after the other, and while each is truncated piece by piece before it is removed, like in the server
(src/base/remove_file.h). The cases take turns; the medians are printed.

The effect depends on the file system and on the disk: without the mount option `discard` there should be little.
"""

import argparse
import json
import mmap
import multiprocessing
import os
import pathlib
import random
import statistics
import tempfile
import time

MB = 1 << 20
FILE_MB = 64
TARGET_MB = 512
BLOCK = 4096
PIECES_MB = {"alone": None, "whole": FILE_MB, "16 MB": 16, "4 MB": 4, "1 MB": 1}
SETTLE_S = 6.0  # longer than a file system delays its writes


def write_file(path: pathlib.Path, size_mb: int):
    """Writes a file of random bytes and syncs it."""
    noise = random.randbytes(MB)
    with path.open("wb") as file:
        for _ in range(size_mb):
            file.write(noise)
        os.fsync(file.fileno())


def remove_files(paths, piece_mb: int):
    """Truncates each file by this much at a time, and removes it."""
    for path in paths:
        for size in range(FILE_MB - piece_mb, 0, -piece_mb):
            os.truncate(path, size * MB)
        path.unlink()


def read_blocks(path: pathlib.Path, seconds: float) -> list[float]:
    """Latencies in ms, sorted; ticks that pass during a read are skipped."""
    file = os.open(path, os.O_RDONLY | os.O_DIRECT)
    block = mmap.mmap(-1, BLOCK)
    latencies = []
    start = time.monotonic()
    due = start
    while due < start + seconds:
        time.sleep(max(0.0, due - time.monotonic()))
        asked = time.monotonic()
        os.preadv(file, [block], random.randrange(TARGET_MB * MB // BLOCK) * BLOCK)
        done = time.monotonic()
        latencies.append((done - asked) * 1e3)
        due = max(due + 0.001, done)
    os.close(file)
    return sorted(latencies)


def measure(folder: pathlib.Path, piece_mb, options) -> dict:
    """One run: creates the files, then reads while they are removed."""
    paths = [folder / f"{number}.sst" for number in range(options.size_mb // FILE_MB)] if piece_mb else []
    for path in paths:
        write_file(path, FILE_MB)
    time.sleep(SETTLE_S)
    remover = multiprocessing.Process(target=remove_files, args=(paths, piece_mb))
    remover.start()
    latencies = read_blocks(folder / "target", options.seconds)
    remover.join()
    return {"p50": statistics.median(latencies), "p99": latencies[len(latencies) * 99 // 100],
            "p999": latencies[len(latencies) * 999 // 1000], "max": latencies[-1]}


def parse_options():
    """The command line."""
    parser = argparse.ArgumentParser(prog="bench/removal", description=__doc__.splitlines()[0])
    parser.add_argument("--dir", help="folder for the files; default: the one of temporary files")
    parser.add_argument("--size-mb", type=int, default=2560, help="size of the files to remove")
    parser.add_argument("--seconds", type=float, default=5, help="duration of the reads")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", metavar="FILE")
    return parser.parse_args()


def main():
    """Runs all cases in turns and prints one line for each."""
    options = parse_options()
    figures = {case: [] for case in PIECES_MB}
    with tempfile.TemporaryDirectory(prefix="cairn-bench-", dir=options.dir) as name:
        folder = pathlib.Path(name)
        write_file(folder / "target", TARGET_MB)
        for _ in range(options.rounds):
            for case, piece_mb in PIECES_MB.items():
                figures[case].append(measure(folder, piece_mb, options))
    print(f"{'':8}" + "".join(f"{name + ' ms':>12}" for name in ("p50", "p99", "p999", "max")))
    for case, runs in figures.items():
        medians = [statistics.median(run[name] for run in runs) for name in ("p50", "p99", "p999", "max")]
        print(f"{case:8}" + "".join(f"{value:12.2f}" for value in medians))
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
