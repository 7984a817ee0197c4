# SPDX-License-Identifier: BSD-3-Clause
"""Reads and writes with data many times the memory.

The server runs in a memory cgroup (version 1 or 2; needs root), so the kernel's page cache cannot hold the data either.
The data is written once, without the cgroup; --dir keeps it. Each case then runs on a freshly started server:

  get, hgetall   random strings of 1 KB, random hashes of 25 fields; each client sends its next request at once
  absent         keys that do not exist
  mix            HMSET, SADD, ZADD, GEOADD, ZREM and DEL of small objects by writers, beside paced reads of the same
                 objects on another port

lab/beyond_memory.c makes the load and defines the objects. Each case prints requests a second and latencies, and for
each request the server's CPU time, the bytes read from the disk and the blocks read by RocksDB. --build measures a
second server in turns.
"""

import argparse
import contextlib
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

from cases import compile_program
from process import cpu_seconds, io_counters
from servers import free_port, memory_cgroup, start_build, start_cairn, start_in

MB = 1 << 20
WARM_SEED, SEED = 3, 4
CASES = {"get": ("str", "get"), "absent": ("str", "absent"), "hgetall": ("hash", "hgetall"), "mix": ("", None)}
BLOCKS = ("block_cache_data_misses", "block_cache_index_misses", "block_cache_filter_misses")


def run_load(program, seconds, keys, seed, *groups):
    """The load's figures, one dictionary a group; `groups` are (port, kind, connections, rate)."""
    command = [program, str(seconds), str(keys), str(seed), *(",".join(map(str, group)) for group in groups)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
    figures = [json.loads(line) for line in done.stdout.splitlines()]
    if any(group["errors"] for group in figures):
        raise RuntimeError(f"errors: {done.stderr.strip()}")
    return figures


def start(build, arguments="", **directives):
    """The server to be measured: another build, or the one of this tree."""
    return start_build(build, arguments, **directives) if build else start_cairn(arguments, **directives)


def fill(options, program, folder, loads):
    """Writes the data into the folder, unless it is there; compacted, as a server in use would be.

    `loads` are (kind, keys).
    """
    if (folder / "CURRENT").exists():
        return
    with start("", data_dir=folder, memory_budget=f"{4 * options.budget}mb") as server:
        for kind, keys in loads:
            [figures] = run_load(program, 1, keys, 1, (server.port, kind, 32, 0))
            print(f"written: {figures['requests']} in {figures['seconds']:.0f} s", flush=True)
        server.client().execute_command("COMPACT")
        server.shutdown()


def counted(server):
    """What the server has used so far: CPU seconds, bytes read from the disk, blocks read.

    A look-up in memory alone that does not find its block counts as a miss, and so does the read that follows.
    """
    pid, info = server.process.pid, server.client().info("everything")
    blocks = sum(int(info[name]) for name in BLOCKS) - int(info["incomplete_probes"])
    return cpu_seconds(pid), io_counters(pid)["read_bytes"], blocks


@contextlib.contextmanager
def running(options, build, folder, **directives):
    """The server to be measured, in its cgroup and with nothing in the page cache, and a second port of it."""
    second = free_port()
    subprocess.run(["sync"], check=True)
    pathlib.Path("/proc/sys/vm/drop_caches").write_text("1")
    with memory_cgroup(options.limit * MB) as group, \
            start(build, data_dir=folder, start=False, memory_budget=f"{options.budget}mb",
                  listen=f"127.0.0.1:{second}", **directives) as server:
        start_in(group, server)
        yield server, second
        server.shutdown()


def measure(options, program, case, build, folder):
    """One run of a case on one build; its figures.

    Without a warm-up of the cache, whose reads would count as those of the requests.
    """
    with running(options, build, folder, io_threads=options.io_threads, key_cache_warmup=False) as (server, second):
        groups = [(server.port, CASES[case][1], options.clients, 0)] if CASES[case][1] else [
            (server.port, "write", options.writers, options.write_rate), (second, "read", 4, options.read_rate)]
        run_load(program, options.warm_seconds, options.keys, WARM_SEED, *groups)
        before = counted(server)
        figures = run_load(program, options.seconds, options.keys, SEED, *groups)
        used = [after - earlier for after, earlier in zip(counted(server), before)]
    requests = sum(group["requests"] for group in figures)
    for name, value in zip(("cpu_us", "disk_bytes", "blocks"), used):
        figures[0][name] = value / requests * (1e6 if name == "cpu_us" else 1)
    return figures


def show(case, name, figures):
    """A line for each group."""
    for group in figures:
        costs = "".join(f", {label} {group[key]:.{digits}f}" for key, label, digits in (
            ("cpu_us", "CPU us", 1), ("disk_bytes", "bytes read", 0), ("blocks", "blocks read", 2)) if key in group)
        print(f"{case:8} {name:6} {group['kind']:8} {group['per_second']:8.0f}/s  p50 {group['p50_ms']:.2f}  "
              f"p99 {group['p99_ms']:.2f}  p99.9 {group['p999_ms']:.2f}  max {group['max_ms']:.0f} ms, "
              f"least in a second {group['least_in_a_second']}{costs}", flush=True)


def parse_options():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", default="get,absent,hgetall,mix")
    parser.add_argument("--keys", type=int, default=3_000_000)
    parser.add_argument("--budget", type=int, default=160, metavar="MB", help="memory-budget")
    parser.add_argument("--limit", type=int, default=320, metavar="MB", help="memory of the cgroup")
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--writers", type=int, default=32)
    parser.add_argument("--write-rate", type=int, default=0, help="writes a second; 0: without a pause")
    parser.add_argument("--read-rate", type=int, default=1000, help="reads a second, during the writes")
    parser.add_argument("--io-threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--warm-seconds", type=float, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--dir", type=pathlib.Path, help="folder that keeps the data for the next run")
    parser.add_argument("--build", default="", help="another cairn-server, which is measured too")
    parser.add_argument("--json", type=pathlib.Path)
    return parser.parse_args()


def main():
    """Runs the cases; returns the exit status."""
    options = parse_options()
    program = compile_program("beyond_memory")
    kept = options.dir or pathlib.Path(tempfile.mkdtemp(prefix="cairn-bench-"))
    results = {}
    for case in options.cases.split(","):
        folder = kept / (CASES[case][0] or "objects")
        folder.mkdir(parents=True, exist_ok=True)
        fill(options, program, folder, [(f"load{CASES[case][0]}", options.keys)])
        for _ in range(options.rounds):
            for name, build in (("this", ""), ("other", options.build)) if options.build else (("this", ""),):
                figures = measure(options, program, case, build, folder)
                results.setdefault(f"{case} {name}", []).append(figures)
                show(case, name, figures)
    for key, rounds in results.items():
        rate = statistics.median(figures[0]["per_second"] for figures in rounds)
        cpu = statistics.median(figures[0]["cpu_us"] for figures in rounds)
        print(f"{key}: median of {len(rounds)}: {rate:.0f}/s, {cpu:.1f} us of CPU", flush=True)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))
    if not options.dir:
        subprocess.run(["rm", "-rf", str(kept)], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
