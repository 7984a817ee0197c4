# SPDX-License-Identifier: BSD-3-Clause
"""The embedded database beside RocksDB's db_bench (Debian's rocksdb-tools).

The table of SessionDB: keys of 16 bytes, values of 100, a million of each operation on random keys, one thread, the log
not synced. lab/embedded.cc is built against the library, which is installed into build/bench/prefix. db_bench runs
fillrandom and readrandom with a block cache of the same size as the embedded database's memory, and with Bloom filters.
The two take turns; the figures are medians of microseconds per operation.
Exit status 1 if a write takes more than --most-write of db_bench's time, or a read more than --most-read.
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

from servers import ROOT

BUILD = ROOT / "build" / "release"
PREFIX = ROOT / "build" / "bench" / "prefix"
PROGRAM = ROOT / "build" / "bench" / "embedded"
MB = 1 << 20


def build_program():
    """Installs the library and builds lab/embedded.cc against it."""
    subprocess.run(["cmake", "--install", BUILD, "--prefix", PREFIX, "--component", "embedded"], check=True,
                   stdout=subprocess.DEVNULL)
    [package] = PREFIX.rglob("cairn.pc")
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "cairn"], check=True, capture_output=True, text=True,
                           env={**os.environ, "PKG_CONFIG_PATH": str(package.parent)}).stdout.split()
    source = ROOT / "bench" / "lab" / "embedded.cc"
    subprocess.run(["c++", "-std=c++20", "-O2", source, "-o", PROGRAM, *flags], check=True)


def run_cairn(folder: str, options: argparse.Namespace) -> dict[str, float]:
    """Microseconds by operation, and the share of reads that found their key."""
    text = subprocess.run([PROGRAM, folder, str(options.keys), str(options.memory * MB)], check=True,
                          capture_output=True, text=True).stdout
    return {name: float(value) for name, value in re.findall(r"^(\w+) ([\d.]+)$", text, re.MULTILINE)}


def run_rocksdb(folder: str, options: argparse.Namespace) -> dict[str, float]:
    """The same of db_bench."""
    text = subprocess.run(
        ["db_bench", "--benchmarks=fillrandom,readrandom", f"--num={options.keys}", "--key_size=16",
         "--value_size=100", f"--db={folder}", f"--cache_size={options.memory * MB}", "--bloom_bits=10"],
        check=True, capture_output=True, text=True).stdout
    figures = {name: float(value) for name, value in re.findall(r"^(\w+)\s*:\s+([\d.]+) micros/op", text, re.MULTILINE)}
    found = re.search(r"\((\d+) of (\d+) found\)", text)
    return {**figures, "found": int(found[1]) / int(found[2])}


def parse_options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--memory", type=int, default=256, metavar="MB")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--most-write", type=float, default=1.0)
    parser.add_argument("--most-read", type=float, default=0.5)
    parser.add_argument("--json", type=pathlib.Path)
    return parser.parse_args()


def main() -> int:
    """Runs the rounds; returns the exit status."""
    options = parse_options()
    build_program()
    rounds: dict[str, list[dict[str, float]]] = {"cairn": [], "rocksdb": []}
    for _ in range(options.rounds):
        for name, run in (("cairn", run_cairn), ("rocksdb", run_rocksdb)):
            with tempfile.TemporaryDirectory(prefix="cairn-bench-") as folder:
                rounds[name].append(run(folder, options))
                print(name, rounds[name][-1], flush=True)
    missed = False
    for operation, most in (("fillrandom", options.most_write), ("readrandom", options.most_read)):
        ours, theirs = (statistics.median(figures[operation] for figures in rounds[name]) for name in rounds)
        missed |= ours > most * theirs
        print(f"{operation}: {ours:.2f} us, db_bench {theirs:.2f} us: {ours / theirs:.2f} (at most {most})")
    if options.json:
        options.json.write_text(json.dumps(rounds, indent=1))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
