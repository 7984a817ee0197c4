# SPDX-License-Identifier: BSD-3-Clause
"""Long runs with data many times the memory, in a memory cgroup. One case at a time:

  mix     32 writers at 10,000 writes a second and 1,000 reads a second of 8 million small objects: latencies of each
          second, bytes written for each byte of a row, by level
  cliff   the same while the writers' rate rises from 5,000 to 40,000 a second
  compact COMPACT while random strings of 3 GB are written, 8,000 a second, and read, 1,000 a second
  memory  20 GB of strings, hashes and sets: reads and writes of 1,000 clients, slow readers, deletes of large sets,
          scans, scripts that build 100 MB; resident memory, and the parts of it that INFO shows
  knee    GET, HGETALL, SET and HSET without a pause, with data of 0.5 to 10 times the memory

All but the last print their worst figures and fail if one is beyond its bar. --svg writes a plot, --json all figures.
"""

import argparse
import json
import pathlib
import shutil
import sys
import tempfile

from beyond_memory import MB, fill, run_load, running
from cases import compile_program
from process import ResidentSampler, disk_bytes
from rough_clients import RoughClients
from series_plot import Panel, draw_lines

KNEE_SIZES = (0.5, 1, 2, 4, 7, 10)
# What a key takes in memory or on disk, about: noise does not compress.
KNEE_KINDS = {"str": (1100, ("get", "set")), "hash": (700, ("hgetall", "hset"))}


class Sampler(ResidentSampler):
    """Samples the server during the `with` block: resident memory each second, INFO and the disk each tenth one."""

    def __init__(self, server, folder):
        super().__init__(server.process.pid)
        self.client, self.folder = server.client(decode_responses=True), folder
        self.info: list[dict] = []

    def sample(self):
        super().sample()
        if len(self.samples) % 10 == 1:
            sections = [self.client.info(name) for name in ("cairn", "compaction", "amplification")]
            self.info.append({"disk_mb": disk_bytes(self.folder) / MB} | sections[0] | sections[1] | sections[2])

    @property
    def resident(self) -> list[float]:
        """The samples of the resident memory, in MB."""
        return [size / MB for size in self.samples]


def latency_panels(figures):
    """Panels of rates and latencies over time, by kind of load."""
    rate = {group["kind"]: list(enumerate(second[0] for second in group["by_second"])) for group in figures}
    panels = [Panel("requests a second", rate)]
    for group in figures:
        names = ("p50", "p99", "p99.9", "max")
        panels.append(Panel(f"{group['kind']}: latency in ms", {
            name: [(at, second[1 + i]) for at, second in enumerate(group["by_second"]) if second[0]]
            for i, name in enumerate(names)}, log=True))
    return panels


def show_group(group):
    """A line about a group's figures."""
    print(f"{group['kind']:8} {group['per_second']:8.0f}/s  p50 {group['p50_ms']:.2f}  p99 {group['p99_ms']:.2f}  "
          f"p99.9 {group['p999_ms']:.2f}  max {group['max_ms']:.0f} ms, least in a second "
          f"{group['least_in_a_second']}", flush=True)


def show_amplification(info):
    """Bytes written since the start of the server, by cause and by level."""
    rows = int(info["written_bytes_rows"])
    parts = ", ".join(f"{name} {int(info[f'written_bytes_{name}']) / rows:.2f}"
                      for name in ("log", "flushes", "compactions"))
    print(f"bytes written for each byte of a row: {info['write_amplification']} ({parts}), of {rows / MB:.0f} MB")
    for name, level in info.items():
        if "_level" in name and isinstance(level, dict) and int(level["written_bytes"]) > rows / 1000:
            print(f"  {name:18} {level['files']} files, {int(level['bytes']) / MB:.0f} MB, written "
                  f"{int(level['written_bytes']) / MB:.0f} MB")


def beyond(bars):
    """Prints each (name, figure, bar) that is above its bar; whether there is one."""
    failed = [f"{name}: {figure:g}, more than {bar:g}" for name, figure, bar in bars if figure > bar]
    print("\n".join(failed) if failed else "no figure is beyond its bar", flush=True)
    return bool(failed)


def run_mix(options, program, folder):
    """The cases mix and cliff: (figures, panels, whether a bar was missed)."""
    fill(options, program, folder, [("load", options.keys)])
    rate = "5000-40000" if options.case == "cliff" else options.write_rate
    with running(options, options.build, folder) as (server, second):
        groups = [(server.port, "write", options.writers, rate), (second, "read", 4, options.read_rate)]
        if options.case == "mix":
            run_load(program, 20, options.keys, 3, *groups)
        with Sampler(server, folder) as sampler:
            figures = run_load(program, options.minutes * 60, options.keys, 4, *groups)
    for group in figures:
        show_group(group)
    show_amplification(sampler.info[-1])
    writes, reads = figures
    by_second = [second[0] for second in writes["by_second"]]
    print(f"resident memory: at most {max(sampler.resident):.0f} MB", flush=True)
    panels = latency_panels(figures) + [
        Panel("resident memory, MB", {"resident": list(enumerate(sampler.resident))},
              limits={"budget": options.budget}),
        Panel("disk, MB", {"disk": [(10 * i, info["disk_mb"]) for i, info in enumerate(sampler.info)]})]
    if options.case == "mix":
        bars = [("writes a second below 8,000", 8000 - writes["per_second"], 0),
                ("seconds without a write", sum(count == 0 for count in by_second), 0),
                ("p50 of reads", reads["p50_ms"], 0.5), ("p99 of reads", reads["p99_ms"], 5),
                ("p99.9 of reads", reads["p999_ms"], 20), ("slowest read", reads["max_ms"], 200)]
    else:
        windows = [sum(by_second[at:at + 10]) / 10 for at in range(0, len(by_second) - 9, 10)]
        falls = [1 - after / before for before, after in zip(windows, windows[1:])]
        print(f"most writes in 10 seconds: {max(windows):.0f} a second; the largest fall to the next: {max(falls):.2f}")
        bars = [("fall from one 10 seconds to the next", max(falls), 0.3)]
    return {"groups": figures, "resident_mb": sampler.resident, "info": sampler.info}, panels, beyond(bars)


def run_compact(options, program, folder):
    """The case compact."""
    fill(options, program, folder, [("loadstr", options.keys)])
    with running(options, options.build, folder) as (server, second):
        groups = [(server.port, "set", options.writers, options.write_rate), (second, "get", 4, options.read_rate)]
        run_load(program, 15, options.keys, 3, *groups)
        client = server.client(decode_responses=True)
        with Sampler(server, folder) as sampler:
            client.execute_command("COMPACT", "ASYNC")
            figures = run_load(program, options.minutes * 60, options.keys, 4, *groups)
        info = client.info("compaction")
    for group in figures:
        show_group(group)
    print(f"writes stopped for {info['write_stopped_seconds']} s, delayed for {info['write_delayed_seconds']} s; "
          f"COMPACT: {info['compaction_percent']} percent, {info['compaction_result'] or 'runs'}")
    bars = [("seconds without writes", info["write_stopped_seconds"], 0),
            ("slowest read", figures[1]["max_ms"], 200)]
    return {"groups": figures, "info": sampler.info}, latency_panels(figures), beyond(bars)


PARTS = ("key_cache", "block_cache", "rank_index", "client", "script", "startup", "database", "log_tail", "program",
         "allocator")


def parts_of(info):
    """The parts of resident memory that INFO shows, in MB."""
    return {part: int(info[f"used_{part}_bytes"]) / MB for part in PARTS}


def run_memory(options, program, folder):
    """The case memory."""
    share = options.keys / 8_000_000
    kinds = [("loadset", 300_000), ("loadhash", 8_000_000), ("loadstr", 12_500_000)]
    fill(options, program, folder, [(kind, int(keys * share)) for kind, keys in kinds])
    # On a busy machine a script may need more than five seconds, and a BUSY reply would end the load.
    with running(options, options.build, folder, busy_reply_threshold=60_000) as (server, second):
        groups = [(server.port, kind, clients, rate) for kind, clients, rate in (
            ("write", 200, 1500), ("read", 100, 1000), ("get", 300, 2000), ("set", 100, 500))]
        groups += [(second, kind, clients, rate) for kind, clients, rate in (
            ("hgetall", 150, 1000), ("hset", 50, 500), ("absent", 100, 500))]
        with Sampler(server, folder) as sampler, RoughClients(server.port) as rough:
            figures = run_load(program, options.minutes * 60, int(8_000_000 * share), 4, *groups)
    for group in figures:
        show_group(group)
    print(f"rounds: {rough.rounds}; errors: {rough.answers}")
    named = [sum(parts_of(info).values()) for info in sampler.info]
    resident = [int(info["used_rss_bytes"]) / MB for info in sampler.info]
    gap = max(abs(1 - part / whole) for part, whole in zip(named, resident))
    print(f"resident memory: at most {max(sampler.resident):.0f} MB; INFO's parts differ from it by at most {gap:.3f}")
    print("parts at the highest sample: " + ", ".join(
        f"{name} {size:.0f}" for name, size in parts_of(sampler.info[resident.index(max(resident))]).items()))
    panels = latency_panels(figures)[:1] + [
        Panel("resident memory, MB", {"resident": list(enumerate(sampler.resident)),
                                      "parts in INFO": [(10 * i, size) for i, size in enumerate(named)]},
              limits={"budget": options.budget, "1.1 budget": 1.1 * options.budget}),
        Panel("parts, MB", {part: [(10 * i, parts_of(info)[part]) for i, info in enumerate(sampler.info)]
                            for part in PARTS}),
        Panel("disk, MB", {"disk": [(10 * i, info["disk_mb"]) for i, info in enumerate(sampler.info)]})]
    bars = [("resident memory / budget", max(sampler.resident) / options.budget, 1.1),
            ("INFO's parts beside resident memory", gap, 0.1)]
    return {"groups": figures, "resident_mb": sampler.resident, "info": sampler.info}, panels, beyond(bars)


def run_knee(options, program, folder):
    """The case knee."""
    results: dict[str, list] = {}
    for size in KNEE_SIZES:
        for kind, (bytes_each, cases) in KNEE_KINDS.items():
            keys = int(size * options.limit * MB / bytes_each)
            part = folder / kind
            part.mkdir(parents=True, exist_ok=True)
            fill(options, program, part, [(f"load{kind}", keys)])
            for case in cases:
                with running(options, options.build, part) as (server, _):
                    group = (server.port, case, options.clients, 0)
                    run_load(program, 10, keys, 3, group)
                    [figures] = run_load(program, options.minutes * 60, keys, 4, group)
                print(f"{size:4g} ", end="")
                show_group(figures)
                results.setdefault(case, []).append((size, figures["per_second"], figures["p99_ms"]))
            shutil.rmtree(part)
    for case, points in results.items():
        print(f"{case}: {points[-1][1] / points[0][1]:.2f} of its throughput in memory at {KNEE_SIZES[-1]} times it")
    panels = [Panel(title, {case: [(point[0], point[at]) for point in points] for case, points in results.items()}, log)
              for at, title, log in ((1, "requests a second", False), (2, "p99 in ms", True))]
    shares = [(f"{case}: half of its throughput in memory", 0.5 - points[-1][1] / points[0][1], 0)
              for case, points in results.items()]
    return results, panels, beyond(shares)


def parse_options():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", choices=("mix", "cliff", "compact", "memory", "knee"))
    parser.add_argument("--minutes", type=float, default=20, help="of the run; for knee, of each measurement")
    parser.add_argument("--keys", type=int, help="objects, hashes of the case memory (8 million), or strings (3)")
    parser.add_argument("--budget", type=int, metavar="MB", help="memory-budget; 256, for memory 512, for knee 160")
    parser.add_argument("--limit", type=int, metavar="MB", help="memory of the cgroup; 640, for knee 320")
    parser.add_argument("--writers", type=int, default=32)
    parser.add_argument("--clients", type=int, default=64, help="connections of the case knee")
    parser.add_argument("--write-rate", type=int, help="10,000 a second; for compact 8,000")
    parser.add_argument("--read-rate", type=int, default=1000)
    parser.add_argument("--dir", type=pathlib.Path, help="folder that keeps the data for the next run")
    parser.add_argument("--build", default="", help="another cairn-server")
    parser.add_argument("--svg", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    options.budget = options.budget or {"memory": 512, "knee": 160}.get(options.case, 256)
    options.keys = options.keys or {"compact": 3_000_000}.get(options.case, 8_000_000)
    options.write_rate = options.write_rate or {"compact": 8000}.get(options.case, 10_000)
    options.limit = options.limit or {"knee": 320}.get(options.case, 640)
    return options


def main():
    """Runs the case; returns the exit status."""
    options = parse_options()
    program = compile_program("beyond_memory")
    folder = options.dir or pathlib.Path(tempfile.mkdtemp(prefix="cairn-bench-"))
    folder.mkdir(parents=True, exist_ok=True)
    run = {"compact": run_compact, "memory": run_memory, "knee": run_knee}.get(options.case, run_mix)
    figures, panels, failed = run(options, program, folder)
    if options.svg:
        title = (f"bench/endurance {options.case}: memory-budget {options.budget} MB, "
                 f"cgroup of {options.limit} MB")
        x_title = "size of the data / memory of the cgroup" if options.case == "knee" else "seconds"
        options.svg.write_text(draw_lines(title, x_title, panels, log_x=options.case == "knee"))
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1))
    if not options.dir:
        shutil.rmtree(folder)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
