# SPDX-License-Identifier: BSD-3-Clause
"""Measures the cost of a replica for its primary, and the replica's lag.

redis-benchmark's SET runs against a server alone, against one whose stream a client only reads (which is nearly free,
so the difference is the primary's own work), and against one with a replica of its kind, in turns. CPU per operation is
counted until the replica has everything.

Then clients write small values at a fixed rate, and a probe writes the time into a key and reads it from the replica:
the lag is the age of the newest time found there. Last, single writes go to an idle pair, and the time is measured
until the replica has each of them.

Three claims are checked: for each pipeline depth, the throughput with a replica is at least half of that without; the
lag is below a second; the median delay of a single write is below a millisecond. If the load and both servers share two
processors, the throughput with a replica is 0.55 to 0.85 of that without (docs/decisions/replica-cost.md); on separate
machines it is more.
"""

import argparse
import dataclasses
import json
import socket
import statistics
import sys
import threading
import time

from load_generator import run_redis_benchmark
from process import cpu_seconds, wait_until_quiet
from servers import Server, start_cairn, start_redis
from wire import Connection, encode_command

LEAST_RATIO = 0.5
MOST_LAG_S = 1.0
CASES = ("alone", "reader", "replica")
WRITERS = 4
COMMANDS_PER_CHUNK = 50
CHUNKS = 500
PROBE_S = 0.005
MOST_DELAY_MS = 1.0
SINGLE_WRITES = 200


@dataclasses.dataclass(frozen=True)
class Kind:
    """How a server is started."""

    name: str
    arguments: str

    def start(self, **directives) -> Server:
        """One more server of this kind."""
        directives = {"repl_diskless_sync_delay": 0, **directives}
        return (start_redis if self.name == "redis" else start_cairn)(self.arguments, **directives)


def wait_until(condition, limit_s: float = 60.0):
    """Waits until the condition holds."""
    deadline = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError("the replica did not come as far")
        time.sleep(0.01)


def replication(server: Server) -> dict:
    """INFO replication."""
    return server.client().info("replication")


class Reader:
    """A client that requests the stream and discards it, until the `with` block ends."""

    pid = None

    def __init__(self, primary: Server):
        self._socket = socket.create_connection(("127.0.0.1", primary.port))
        self._socket.sendall(b"SYNC\r\n")
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        wait_until(lambda: replication(primary).get("slave0", {}).get("state") == "online")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._socket.close()

    def _run(self):
        space = bytearray(1 << 20)
        try:
            while self._socket.recv_into(space):
                pass
        except OSError:
            return


class Replica:
    """A server that is a replica of another, during the `with` block."""

    def __init__(self, kind: Kind, primary: Server):
        self.server = kind.start()
        self.pid = self.server.process.pid
        self._primary = primary
        self.server.client().execute_command("REPLICAOF", "127.0.0.1", primary.port)
        wait_until(lambda: replication(self.server).get("master_link_status") == "up")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.close()

    def wait(self):
        """Waits until it has received everything."""
        def has_all():
            return (replication(self.server)["slave_repl_offset"]
                    >= replication(self._primary)["master_repl_offset"])
        wait_until(has_all)


def measure_throughput(kind: Kind, case: str, depth: int, options) -> dict:
    """Runs redis-benchmark once against a new server."""
    requests = options.requests * (1 if depth == 1 else options.pipelined_scale)
    load = ["-t", "set", "-r", "1000000", "-d", "100", "-c", "50", "-P", str(depth),
            "-n", str(requests)]
    with kind.start() as primary:
        replica = {"alone": lambda: None, "reader": lambda: Reader(primary),
                   "replica": lambda: Replica(kind, primary)}[case]()
        try:
            pids = [primary.process.pid] + ([replica.pid] if replica and replica.pid else [])
            wait_until_quiet(pids)
            before = [cpu_seconds(pid) for pid in pids]
            figures = run_redis_benchmark(primary.port, *load)
            if case == "replica":
                replica.wait()
            used = [(cpu_seconds(pid) - start) / requests * 1e6
                    for pid, start in zip(pids, before)]
        finally:
            if replica:
                replica.__exit__()
    return {"throughput": figures.throughput, "p99_ms": figures.p99_ms, "primary_us": used[0],
            "replica_us": used[1] if len(used) > 1 else 0.0}


class Writers:
    """Clients that together write small values at a fixed rate, until the `with` block ends."""

    def __init__(self, port: int, rate: int):
        self.written = 0
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._interval_s = WRITERS * COMMANDS_PER_CHUNK / rate
        self._threads = [threading.Thread(target=self._run, args=(port, number), daemon=True)
                         for number in range(WRITERS)]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def _run(self, port: int, number: int):
        def chunk(index: int) -> bytes:
            keys = range(index * COMMANDS_PER_CHUNK, (index + 1) * COMMANDS_PER_CHUNK)
            return b"".join(encode_command(b"SET", b"key:%d:%d" % (number, key), b"%014d" % key)
                            for key in keys)

        chunks = [chunk(index) for index in range(CHUNKS)]
        reply = COMMANDS_PER_CHUNK * len(b"+OK\r\n")
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            start = time.monotonic()
            for count in range(1 << 30):
                if self._ended.is_set():
                    return
                connection.sendall(chunks[count % len(chunks)])
                missing = reply
                while missing:
                    missing -= len(connection.recv(missing))
                with self._lock:
                    self.written += COMMANDS_PER_CHUNK
                late_s = start + (count + 1) * self._interval_s - time.monotonic()
                if late_s > 0:
                    time.sleep(late_s)


def measure_lag(kind: Kind, options) -> dict:
    """Writes at a fixed rate and measures the age of the replica's newest value."""
    lags = []
    with kind.start() as primary, Replica(kind, primary) as replica:
        pids = [primary.process.pid, replica.pid]
        with Connection(primary.port) as here, Connection(replica.server.port) as there, \
                Writers(primary.port, options.rate) as writers:
            time.sleep(1)
            before, started = [cpu_seconds(pid) for pid in pids], time.monotonic()
            first = writers.written
            while time.monotonic() - started < options.seconds:
                here.pipeline([(b"SET", b"probe", b"%.6f" % time.monotonic())])
                time.sleep(PROBE_S)
                [found] = there.pipeline([(b"GET", b"probe")])
                lags.append(time.monotonic() - float(found or started - 1))
            elapsed, written = time.monotonic() - started, writers.written - first
            used = [(cpu_seconds(pid) - start) / elapsed for pid, start in zip(pids, before)]
    lags.sort()
    return {"rate": written / elapsed, "p50_ms": lags[len(lags) // 2] * 1e3,
            "p99_ms": lags[len(lags) * 99 // 100] * 1e3, "max_ms": lags[-1] * 1e3,
            "primary_cores": used[0], "replica_cores": used[1]}


def measure_single_writes(kind: Kind) -> dict:
    """The time until an idle replica, which is polled, has a single write."""
    taken = []
    with kind.start() as primary, Replica(kind, primary) as replica:
        wait_until_quiet([primary.process.pid, replica.pid])
        with Connection(primary.port) as here, Connection(replica.server.port) as there:
            for number in range(SINGLE_WRITES):
                value = b"%d" % number
                started = time.perf_counter()
                here.pipeline([(b"SET", b"probe", value)])
                while there.pipeline([(b"GET", b"probe")]) != [value]:
                    pass
                taken.append(time.perf_counter() - started)
                time.sleep(0.01)
    taken.sort()
    return {"p50_ms": taken[len(taken) // 2] * 1e3, "p99_ms": taken[len(taken) * 99 // 100] * 1e3}


def show_throughput(name: str, depth: int, rounds: dict) -> float:
    """Prints the medians of the cases; returns the ratio with a replica to without."""
    medians = {case: {what: statistics.median(one[what] for one in figures) for what in figures[0]}
               for case, figures in rounds.items()}
    alone = medians["alone"]["throughput"]
    for case, one in medians.items():
        print(f"{name:6} {depth:3} {case:8} {one['throughput']:9.0f} "
              f"{one['throughput'] / alone:6.2f} {one['p99_ms']:8.2f} {one['primary_us']:11.2f} "
              f"{one['replica_us']:11.2f}", flush=True)
    return medians["replica"]["throughput"] / alone


def parse_options():
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="bench/replication", description="The cost of a replica for its primary, and its lag.")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--requests", type=int, default=300_000, help="requests of a run with -P 1")
    parser.add_argument("--pipelined-scale", type=int, default=5,
                        help="factor of the requests with pipelines")
    parser.add_argument("--depths", type=lambda text: [int(word) for word in text.split(",")],
                        default=[1, 16])
    parser.add_argument("--rate", type=int, default=50_000, help="writes a second for the lag")
    parser.add_argument("--seconds", type=float, default=10, help="duration of the lag measurement")
    parser.add_argument("--kinds", type=lambda text: text.split(","),
                        default=["cairn", "redis"])
    parser.add_argument("--cairn-args", default="", metavar="TEXT", help="directives, as on the command line")
    parser.add_argument("--json", metavar="FILE")
    return parser.parse_args()


def main() -> int:
    """Measures, and checks Cairn's claims; returns 1 if one does not hold."""
    options = parse_options()
    kinds = [Kind(name, options.cairn_args if name == "cairn" else "") for name in options.kinds]
    claims, result = [], {}
    print(f"{'':6} {'-P':>3} {'':8} {'ops/s':>9} {'ratio':>6} {'p99 ms':>8} {'primary us':>11} "
          f"{'replica us':>11}")
    for kind in kinds:
        for depth in options.depths:
            rounds = {case: [] for case in CASES}
            for _ in range(options.rounds):
                for case in CASES:
                    rounds[case].append(measure_throughput(kind, case, depth, options))
            ratio = show_throughput(kind.name, depth, rounds)
            if kind.name == "cairn":
                claims.append((ratio >= LEAST_RATIO, f"-P {depth}: {ratio:.3f} of the throughput "
                               f"alone, at least {LEAST_RATIO}"))
            result[f"{kind.name} -P {depth}"] = rounds
    for kind in kinds:
        lag = measure_lag(kind, options)
        print(f"{kind.name}: at {lag['rate']:.0f} writes/s the lag is {lag['p50_ms']:.1f} ms, "
              f"p99 {lag['p99_ms']:.1f}, at most {lag['max_ms']:.1f}; "
              f"cores used: {lag['primary_cores']:.2f} and {lag['replica_cores']:.2f}")
        if kind.name == "cairn":
            claims.append((lag["max_ms"] < MOST_LAG_S * 1e3, f"less than {MOST_LAG_S:g} s behind"))
        delay = measure_single_writes(kind)
        print(f"{kind.name}: a single write is seen in the replica after {delay['p50_ms']:.2f} ms, "
              f"p99 {delay['p99_ms']:.2f}")
        if kind.name == "cairn":
            claims.append((delay["p50_ms"] < MOST_DELAY_MS,
                           f"a single write is in the replica in less than {MOST_DELAY_MS:g} ms"))
        result[f"{kind.name} lag"] = lag
        result[f"{kind.name} single writes"] = delay
    for holds, claim in claims:
        print("yes" if holds else "NO", claim)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(result, file, indent=1)
    return 0 if all(holds for holds, _ in claims) else 1


if __name__ == "__main__":
    sys.exit(main())
