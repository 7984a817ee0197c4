# SPDX-License-Identifier: BSD-3-Clause
"""kill -9 under full load, again and again, and the start after each.

The data are strings of 1 KB, many times the budget. The hottest of them, which fit in the key cache, get nine of ten
reads. Each round: readers and writers run without a pause; some more writers note the last value that the server
acknowledged for each of their keys; kill -9; the start. It prints, for each round,

  ping, get      seconds from the start of the process until the first PONG, and until the first GET of a cold key
  open           ms that the server needed to open the data, from its log
  replayed       MB of the log at the kill
  hit rate       of the readers' look-ups in the key cache: before the kill, in the first second of reads after the
                 start, and after the warm-up, which took `warm-up` seconds for `rows`
  lost           acknowledged writes that are not there, of those that were noted

The exit status is 1 if a start took 3 seconds or more, or if a write was lost.
"""

import argparse
import json
import pathlib
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import redis
from beyond_memory import MB, run_load, start
from cases import compile_program
from process import disk_bytes

VALUE_BYTES = 1024
NOTING_WRITERS = 4
NOTED_KEYS = 2000  # of each of these writers
PIPELINE = 20
MOST_START_S = 3.0
HIT_SECONDS = 3


class NotingWriter(threading.Thread):
    """Sets its own keys to rising numbers, and notes those that were acknowledged."""

    def __init__(self, server, number):
        super().__init__(daemon=True)
        self.client, self.number, self.acknowledged = server.client(), number, {}
        self.may_run = threading.Event()
        self.may_run.set()

    def key(self, i):
        """The name of its key `i`."""
        return f"noted:{self.number}:{i}"

    def run(self):
        value, source = 0, random.Random(time.monotonic_ns())
        try:
            while self.may_run.wait():
                pipe, sent = self.client.pipeline(transaction=False), []
                for _ in range(PIPELINE):
                    value += 1
                    sent.append((source.randrange(NOTED_KEYS), value))
                    pipe.set(self.key(sent[-1][0]), str(value).ljust(VALUE_BYTES))
                pipe.execute()
                self.acknowledged.update(sent)
        except redis.RedisError:
            return  # the server was killed

    def count_lost(self, client):
        """The keys whose value is older than the acknowledged one."""
        found = client.mget([self.key(i) for i in self.acknowledged]) if self.acknowledged else []
        return sum(value is None or int(value) < last for value, last in zip(found, self.acknowledged.values()))


def first_reply_s(server, command, since):
    """Seconds from `since` until the server replies to a command without an error."""
    while True:
        if server.process.poll() is not None:
            raise RuntimeError("the server ended:\n" + server.log_tail())
        try:
            with socket.create_connection((server.host, server.port), 1) as connection:
                connection.sendall(command)
                if connection.recv(100)[:1] in (b"+", b"$"):
                    return time.monotonic() - since
        except OSError:
            time.sleep(0.002)


def hit_rate(server, program, options, seconds):
    """The share of look-ups that the key cache answers, of the readers alone."""
    client = server.client()
    before = client.info("cache")
    read_hot(server, program, options, seconds)
    after = client.info("cache")
    hits, misses = (after[name] - before[name] for name in ("key_cache_hits", "key_cache_misses"))
    return hits / max(1, hits + misses)


def read_hot(server, program, options, seconds):
    """Nine of ten reads are of hot keys."""
    load = [subprocess.Popen([program, str(seconds), str(keys), str(time.monotonic_ns() % 1000),
                              f"{server.port},get,{clients},{rate}"], stdout=subprocess.DEVNULL)
            for keys, clients, rate in ((options.hot_keys, 9, 9 * options.read_rate),
                                        (options.keys, 4, options.read_rate))]
    for one in load:
        one.wait()


def run_round(server, program, options):
    """One kill and start; its figures."""
    figures = {}
    load = subprocess.Popen([program, "3600", str(options.keys), "5", f"{server.port},set,{options.writers},0"],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    writers = [NotingWriter(server, number) for number in range(NOTING_WRITERS)]
    for writer in writers:
        writer.start()
    read_hot(server, program, options, options.load_seconds)
    # The writers pause for a moment, as their look-ups are counted too.
    load.send_signal(signal.SIGSTOP)
    for writer in writers:
        writer.may_run.clear()
    figures["before"] = hit_rate(server, program, options, HIT_SECONDS)
    load.send_signal(signal.SIGCONT)
    for writer in writers:
        writer.may_run.set()
    read_hot(server, program, options, HIT_SECONDS)
    figures["save_ms"] = server.client().info("cache").get("key_cache_save_us", 0) / 1000
    figures["replayed_mb"] = sum(path.stat().st_size for path in pathlib.Path(server.data_dir).glob("*.log")
                                 if path.stem.isdigit()) / MB
    server.process.kill()
    server.process.wait()
    load.kill()
    load.wait()
    for writer in writers:
        writer.join()
    server.kill9()  # closes the clients
    started = time.monotonic()
    server.spawn()
    figures["ping_s"] = first_reply_s(server, b"PING\r\n", started)
    figures["get_s"] = first_reply_s(server, f"GET string:{random.randrange(options.keys)}\r\n".encode(), started)
    figures["after"] = hit_rate(server, program, options, 1)
    client = server.client()
    opened = [line for line in server.log_path.read_text(errors="replace").splitlines() if "Data opened in" in line]
    figures["open_ms"] = int(opened[-1].partition("opened in ")[2].split()[0])
    while client.info("cache").get("key_cache_warmup", "none") in ("starting", "loading"):
        time.sleep(0.1)
    info = client.info("cache")
    figures["warmup_s"] = info.get("key_cache_warmup_ms", 0) / 1000
    figures["rows"] = info.get("key_cache_warmup_rows", 0)
    figures["warm"] = hit_rate(server, program, options, HIT_SECONDS)
    figures["noted"] = sum(len(writer.acknowledged) for writer in writers)
    figures["lost"] = sum(writer.count_lost(client) for writer in writers)
    return figures


def show(number, figures):
    """A line for a round."""
    print(f"round {number}: ping {figures['ping_s']:.2f} s, get {figures['get_s']:.2f} s, "
          f"open {figures['open_ms']} ms, replayed {figures['replayed_mb']:.0f} MB; hit rate before "
          f"{figures['before']:.3f}, after {figures['after']:.3f}, warm {figures['warm']:.3f}, "
          f"warm-up {figures['warmup_s']:.1f} s for {figures['rows']} rows; names saved in "
          f"{figures['save_ms']:.0f} ms; lost {figures['lost']} of {figures['noted']}", flush=True)


def parse_options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="bench/restart", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gb", type=float, default=20, help="size of the data")
    parser.add_argument("--budget", type=int, default=512, metavar="MB", help="memory-budget")
    parser.add_argument("--hot-mb", type=int, default=0, help="size of the hot data; 0: an eighth of the budget")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--writers", type=int, default=32)
    parser.add_argument("--read-rate", type=int, default=1000, help="cold reads a second; nine times as many are hot")
    parser.add_argument("--load-seconds", type=float, default=30, help="under load before each kill")
    parser.add_argument("--dir", type=pathlib.Path, help="folder that keeps the data for the next run")
    parser.add_argument("--build", default="", help="measure this cairn-server instead")
    parser.add_argument("--cairn-args", default="", metavar="TEXT", help="directives")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    options.keys = int(options.gb * 1024 * MB / VALUE_BYTES)
    options.hot_keys = (options.hot_mb or options.budget // 8) * MB // VALUE_BYTES
    return options


def main() -> int:
    """Runs the rounds; returns the exit status."""
    options, results = parse_options(), []
    program = compile_program("beyond_memory")
    with tempfile.TemporaryDirectory(prefix="cairn-bench-") as temporary:
        folder = options.dir or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        is_new = not (folder / "CURRENT").exists()
        with start(options.build, options.cairn_args, data_dir=folder,
                   memory_budget=f"{options.budget}mb") as server:
            if is_new:
                run_load(program, 1, options.keys, 1, (server.port, "loadstr", options.writers, 0))
            print(f"{disk_bytes(folder) / MB:.0f} MB on disk", flush=True)
            read_hot(server, program, options, 10)
            for number in range(options.rounds):
                results.append(run_round(server, program, options))
                show(number + 1, results[-1])
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))
    is_good = all(max(figures["ping_s"], figures["get_s"]) < MOST_START_S and figures["lost"] == 0
                  for figures in results)
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
