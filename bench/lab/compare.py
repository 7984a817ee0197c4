# SPDX-License-Identifier: BSD-3-Clause
"""Compares Cairn with redis-server, row by row of redis-benchmark, in turns.

Both servers run all the time, one idle while the other is measured. A row is measured in several rounds, with the order
of the servers swapped each time. Before each measurement the server is emptied, loaded (lab/rows.py) and left alone
until it uses no CPU. The medians of the rounds are printed.
"""

import argparse
import json
import os
import platform
import statistics
import sys
import time

from load_generator import Figures, run_redis_benchmark
from overhead import FEATURES, measure_overhead
from plot import draw_shares
from process import cpu_seconds, wait_until_quiet
from profiling import Profiler
from rows import Load, Row, choose_rows
from servers import Server, start_build, start_cairn, start_redis, version_of
from wire import Chunk, Connection, pack_chunks

COLUMNS = ("{row:12} {pipeline:>3} {redis_rps:>10} {cairn_rps:>10} {share:>6} {floor:>6} "
           "{redis_cpu:>9} {cairn_cpu:>9} {redis_p50:>9} {cairn_p50:>9} "
           "{redis_p99:>9} {cairn_p99:>9}")

# Limits for the ratio to another build's CPU per operation (--build).
MOST_MEDIAN_CPU = 1.03
MOST_CPU = 1.08


class Side:
    """One of the two servers, and its measurements for the current row.

    `login` are redis-benchmark's arguments for the user.
    """

    def __init__(self, server: Server, login: list[str] | None = None):
        self.server = server
        self.login = login or []
        self.figures: list[Figures] = []
        self.cpu_us: list[float] = []
        self.checks: list[int] = []

    def forget(self):
        """Drops the measurements, for the next row."""
        self.figures, self.cpu_us, self.checks = [], [], []

    def prepare(self, chunks: list[Chunk]):
        """Empties the server, loads it and waits until it is idle."""
        with Connection(self.server.port, timeout_s=600) as connection:
            connection.ask("FLUSHALL")
            connection.load(chunks)
        if not wait_until_quiet([self.server.pid]):
            print("  (still busy in the background, measured all the same)", flush=True)

    def measure(self, row: Row, requests: int, arguments: list[str]):
        """One measurement of the row."""
        before = cpu_seconds(self.server.pid)
        self.figures.append(run_redis_benchmark(self.server.port, *self.login, *arguments))
        self.cpu_us.append((cpu_seconds(self.server.pid) - before) / requests * 1e6)
        with Connection(self.server.port) as connection:
            self.checks.append(int(connection.ask(*row.check)[1:]))

    def summary(self) -> dict:
        """Medians of the rounds, and every round's throughput."""
        return {
            "throughput": statistics.median(f.throughput for f in self.figures),
            "cpu_us_per_op": statistics.median(self.cpu_us),
            "p50_ms": statistics.median(f.p50_ms for f in self.figures),
            "p99_ms": statistics.median(f.p99_ms for f in self.figures),
            "rounds": [f.throughput for f in self.figures],
        }


def check_equal_work(row: Row, redis: Side, cairn: Side):
    """Fails if the two servers do not end in the same state, except for random effects."""
    for theirs, ours in zip(redis.checks, cairn.checks):
        if abs(theirs - ours) > 100 + 0.01 * max(theirs, ours):
            raise RuntimeError(f"{row.name}: after the same load {' '.join(row.check)} is {theirs} "
                               f"in redis-server and {ours} in Cairn")


def measure_row(row: Row, pipeline: int, redis: Side, cairn: Side, options) -> dict:
    """All rounds of one row at one pipeline depth."""
    requests = row.requests(options.requests, pipeline)
    load = Load(requests, options.data_bytes, options.key_space, options.fill)
    chunks = list(pack_chunks(load.commands(row)))
    arguments = ["-c", str(options.clients), "-n", str(requests), "-P", str(pipeline),
                 "-d", str(options.data_bytes), "-r", str(options.key_space), *row.arguments()]
    for side in (redis, cairn):
        side.forget()
    for turn in range(options.rounds):
        for side in (redis, cairn) if turn % 2 == 0 else (cairn, redis):
            side.prepare(chunks)
            side.measure(row, requests, arguments)
    check_equal_work(row, redis, cairn)
    if options.profile:
        cairn.prepare(chunks)
        profiler = Profiler(cairn.server.pid, options.profile, f"{row.name}-P{pipeline}")
        with profiler:
            run_redis_benchmark(cairn.server.port, *arguments)
        print(profiler.report(), flush=True)

    theirs, ours = redis.summary(), cairn.summary()
    return {"row": row.name, "pipeline": pipeline, "requests": requests,
            "share": ours["throughput"] / theirs["throughput"], "floor": row.floor(pipeline),
            "redis": theirs, "cairn": ours}


def print_header():
    """The names of the columns."""
    print(COLUMNS.format(
        row="row", pipeline="P", redis_rps="redis/s", cairn_rps="cairn/s", share="share",
        floor="floor", redis_cpu="redis us", cairn_cpu="cairn us", redis_p50="redis p50",
        cairn_p50="cairn p50", redis_p99="redis p99", cairn_p99="cairn p99"))


def print_result(result: dict):
    """Prints one line of the table; a share below its floor is marked."""
    theirs, ours = result["redis"], result["cairn"]
    below = result["floor"] is not None and result["share"] < result["floor"]
    print(COLUMNS.format(
        row=result["row"], pipeline=result["pipeline"],
        redis_rps=f"{theirs['throughput']:.0f}", cairn_rps=f"{ours['throughput']:.0f}",
        share=f"{result['share']:.2f}", floor=result["floor"] or "",
        redis_cpu=f"{theirs['cpu_us_per_op']:.2f}", cairn_cpu=f"{ours['cpu_us_per_op']:.2f}",
        redis_p50=f"{theirs['p50_ms']:.3f}", cairn_p50=f"{ours['p50_ms']:.3f}",
        redis_p99=f"{theirs['p99_ms']:.3f}", cairn_p99=f"{ours['p99_ms']:.3f}")
        + ("  below" if below else ""), flush=True)


def check_cpu(results: list) -> int:
    """Prints the CPU per operation compared with the other build; returns 1 if it is too much higher."""
    ratios = sorted((r["cairn"]["cpu_us_per_op"] / r["redis"]["cpu_us_per_op"], f"{r['row']} -P {r['pipeline']}")
                    for r in results)
    median = statistics.median(ratio for ratio, _ in ratios)
    worst, row = ratios[-1]
    print(f"CPU per operation beside that of the other build: median {median:.3f}, most {worst:.3f} ({row})")
    return 1 if median > MOST_MEDIAN_CPU or worst > MOST_CPU else 0


def processor_name() -> str:
    """The processor's model, if the kernel reports it."""
    with open("/proc/cpuinfo", encoding="utf-8") as cpuinfo:
        for line in cpuinfo:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.machine()


def parse_options():
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="bench/compare", description="Cairn beside redis-server, row by row.")
    parser.add_argument("--rows", metavar="A,B", help="only these; LRANGE means all four")
    parser.add_argument("--pipelines", default="1,16", metavar="N,N", help="values of -P")
    parser.add_argument("--requests", type=int, default=200_000,
                        help="requests of a plain row at -P 1; others in proportion")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--data-bytes", type=int, default=100)
    parser.add_argument("--key-space", type=int, default=1_000_000)
    parser.add_argument("--fill", type=float, default=1.0, metavar="SHARE",
                        help="share of the key space that GET finds; 0 measures misses alone")
    parser.add_argument("--cairn-args", default="", metavar="TEXT", help="directives, as on the command line")
    parser.add_argument("--redis-args", default="", metavar="TEXT")
    parser.add_argument("--build", metavar="CAIRN-SERVER",
                        help="another build of Cairn instead of redis-server; compares the CPU per operation")
    parser.add_argument("--overhead", choices=FEATURES,
                        help="measure instead what a restricted user and metrics, or a cluster, cost each GET")
    parser.add_argument("--profile", metavar="DIR",
                        help="after each row profile Cairn for one more round, into this folder")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--out", metavar="FILE.svg", help="a plot of the shares")
    options = parser.parse_args()
    try:
        options.rows = choose_rows(options.rows)
    except ValueError as error:
        parser.error(str(error))
    return options


def main() -> int:
    """Measures, prints, writes the files; returns 1 if a row is below its floor."""
    options = parse_options()
    if options.overhead:
        return measure_overhead(Side, options)
    results = []
    started = time.monotonic()
    other = start_build(options.build, options.redis_args) if options.build else start_redis(options.redis_args)
    with other as redis, start_cairn(options.cairn_args) as cairn:
        machine = {"processor": processor_name(), "cores": os.cpu_count(),
                   "redis": version_of(redis), "cairn": version_of(cairn)}
        print(f"{machine['redis']} beside {machine['cairn']}, {machine['cores']} cores of "
              f"{machine['processor']}\n-c {options.clients} -d {options.data_bytes} "
              f"-r {options.key_space}, median of {options.rounds}; CPU per operation in "
              "microseconds, latencies in milliseconds\n")
        print_header()
        sides = Side(redis), Side(cairn)
        for pipeline in map(int, options.pipelines.split(",")):
            for row in options.rows:
                results.append(measure_row(row, pipeline, *sides, options))
                print_result(results[-1])

    floors = [] if options.build else results
    below = [r for r in floors if r["floor"] is not None and r["share"] < r["floor"]]
    print(f"\n{len(results)} rows in {time.monotonic() - started:.0f} s, {len(below)} below floor")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"machine": machine, "rows": results}, file, indent=1)
    if options.out:
        with open(options.out, "w", encoding="utf-8") as file:
            file.write(draw_shares(results, machine))
    return check_cpu(results) if options.build else 1 if below else 0


if __name__ == "__main__":
    sys.exit(main())
