# SPDX-License-Identifier: BSD-3-Clause
"""A cache whose data has a bound: its hit rate beside that of redis-server with as many keys.

Keys with values that do not compress are written once, three times as many as the bound allows. Then a client reads
keys by a zipfian distribution, 64 GETs at a time, and sets those that it did not find. Cairn runs first, with --bound
as max-data-size and in a memory cgroup. redis-server gets the maxmemory at which it holds as many keys as Cairn did.
Both use --policy and get the same reads. The hit rate is that of their second half. Cairn runs once more without a
bound, with as many keys as it held, all found, of which as many are set again: the times of GETs without evictions.

The data directory is looked at twice a second during the reads. Fails if the hit rate is more than 3 points lower, or
if the directory ever takes more than 1.3 times the bound.
"""

import argparse
import bisect
import itertools
import pathlib
import random
import socket
import sys
import tempfile
import time

import hiredis
from beyond_memory import MB
from process import ResidentSampler, disk_bytes
from servers import memory_cgroup, start_build, start_cairn, start_in, start_redis
from wire import encode_command

BATCH = 64


class Sampler(ResidentSampler):
    """Samples the server's resident memory and its data directory twice a second."""

    def __init__(self, server, folder):
        super().__init__(server.process.pid, 0.5)
        self.folder = folder
        self.directory_mb: list[float] = []

    def sample(self):
        super().sample()
        self.directory_mb.append(disk_bytes(self.folder) / MB)

    def directory(self, share: float) -> float:
        """The MB that so large a share of the samples does not exceed."""
        return sorted(self.directory_mb)[int(share * (len(self.directory_mb) - 1))]


class Zipf:
    """Numbers below `count`, of which the n-th most frequent has a weight of n ** -theta; scattered over the range."""

    def __init__(self, count: int, theta: float, seed: int):
        self.count, self.chance = count, random.Random(seed)
        # Ranks are drawn exactly up to 100,000 and by groups of a thousandth more each beyond.
        edges = [1]
        while edges[-1] <= count:
            edges.append(max(edges[-1] + 1, int(edges[-1] * 1.001)))
        edges[-1] = count + 1
        self.edges = edges
        self.sums = list(itertools.accumulate((end - begin) * ((begin + end - 1) / 2) ** -theta
                                              for begin, end in itertools.pairwise(edges)))

    def draw(self) -> int:
        """A key's number."""
        group = bisect.bisect_left(self.sums, self.chance.random() * self.sums[-1])
        rank = self.chance.randrange(self.edges[group], self.edges[group + 1])
        return rank * 2654435761 % self.count


class Load:
    """One connection that fills and reads."""

    def __init__(self, port: int, options):
        self.connection = socket.create_connection(("127.0.0.1", port))
        self.reader = hiredis.Reader()
        self.noise = random.Random(1).randbytes(1 << 20)
        self.options = options

    def set_of(self, number: int) -> bytes:
        """The command that sets a key."""
        offset = number * 7919 % (len(self.noise) - self.options.value_bytes)
        return encode_command(b"SET", b"key:%d" % number, self.noise[offset:offset + self.options.value_bytes])

    def send(self, commands: list) -> list:
        """The replies to these commands."""
        self.connection.sendall(b"".join(commands))
        replies = []
        while len(replies) < len(commands):
            reply = self.reader.gets()
            if reply is False:
                self.reader.feed(self.connection.recv(1 << 20))
            else:
                replies.append(reply)
        return replies

    def fill(self, count: int) -> int:
        """Sets the keys below `count`; returns how many were refused."""
        refused = 0
        for first in range(0, count, 1000):
            replies = self.send([self.set_of(number) for number in range(first, min(count, first + 1000))])
            refused += sum(isinstance(reply, hiredis.ReplyError) for reply in replies)
        return refused

    def read(self, count: int, keys: int, set_share: float = 0.0) -> dict:
        """Reads so many of the keys: the hit rate of the second half, operations a second, times of a batch of GETs.

        Sets those that are not found, and this share of those that are.
        """
        keys, again = Zipf(keys, self.options.theta, 2), random.Random(3)
        begin = time.monotonic()
        reads = hits = refused = operations = 0
        times = []
        for first in range(0, count, BATCH):
            numbers = [keys.draw() for _ in range(BATCH)]
            gets = [encode_command(b"GET", b"key:%d" % number) for number in numbers]
            sent = time.monotonic()
            values = self.send(gets)
            times.append(time.monotonic() - sent)
            written = [number for number, value in zip(numbers, values) if value is None or again.random() < set_share]
            if written:
                replies = self.send([self.set_of(number) for number in written])
                refused += sum(isinstance(reply, hiredis.ReplyError) for reply in replies)
            operations += BATCH + len(written)
            if first > count / 2:
                reads += BATCH
                hits += BATCH - values.count(None)
        times.sort()
        return {"hit_rate": hits / max(1, reads), "refused": refused,
                "operations_per_s": operations / (time.monotonic() - begin),
                "p50_ms": 1000 * times[len(times) // 2], "p99_ms": 1000 * times[len(times) * 99 // 100]}


def show(name: str, figures: dict) -> None:
    """A line of the table."""
    print(f"{name:14}  {figures['keys']:9} keys  hit rate {100 * figures['hit_rate']:5.1f} %  "
          f"{figures['operations_per_s']:8.0f} operations a second  {BATCH} GETs: p50 {figures['p50_ms']:.2f} "
          f"p99 {figures['p99_ms']:.2f} ms  refused {figures['refused']}  evicted {figures['evicted']}", flush=True)


def measure_cairn(options, folder, bound_mb: int, keys: int, set_share: float = 0.0) -> dict:
    """A run of Cairn; bound 0: none."""
    limits = {"max_data_size": f"{bound_mb}mb", "maxmemory_policy": options.policy,
              "memory_budget": f"{options.budget}mb", "data_dir": folder, "start": False}
    with memory_cgroup(options.limit * MB) as group, \
            (start_build(options.build, **limits) if options.build else start_cairn(**limits)) as server:
        start_in(group, server)
        client = server.client(decode_responses=True)
        load = Load(server.port, options)
        begin = time.monotonic()
        refused = load.fill(keys)
        print(f"filled in {time.monotonic() - begin:.0f} s, {refused} refused", flush=True)
        with Sampler(server, folder) as sampler:
            figures = load.read(options.reads, keys, set_share)
        info = client.info("cairn") | client.info("stats")
        figures |= {"keys": client.dbsize(), "evicted": info["evicted_keys"], "data_mb": info["data_size"] / MB,
                    "disk_mb": sampler.directory(1.0), "tables_mb": disk_bytes(folder, ".sst", ".blob") / MB}
        show("cairn" if bound_mb else "no bound", figures)
        print(f"data_size {figures['data_mb']:.0f} MB of {bound_mb}  tables {figures['tables_mb']:.0f} MB  "
              f"directory median {sampler.directory(0.5):.0f}, p90 {sampler.directory(0.9):.0f}, "
              f"highest {figures['disk_mb']:.0f} MB  resident at most {sampler.highest() / MB:.0f} MB", flush=True)
        server.shutdown()
    return figures


def measure_redis(options, held: int) -> dict:
    """A run of redis-server that holds `held` keys."""
    with start_redis() as server:
        client = server.client(decode_responses=True)
        load = Load(server.port, options)
        load.fill(held)
        client.config_set("maxmemory", client.info("memory")["used_memory"])
        client.config_set("maxmemory-policy", options.policy)
        load.fill(options.keys)
        figures = load.read(options.reads, options.keys)
        figures |= {"keys": client.dbsize(), "evicted": client.info("stats")["evicted_keys"]}
        show("redis-server", figures)
    return figures


def parse_options():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keys", type=int, default=10_000_000)
    parser.add_argument("--value-bytes", type=int, default=500)
    parser.add_argument("--bound", type=int, default=0, metavar="MB", help="max-data-size; 0: a third of the data")
    parser.add_argument("--policy", default="allkeys-lru")
    parser.add_argument("--theta", type=float, default=0.99, help="of the zipfian distribution")
    parser.add_argument("--reads", type=int, default=8_000_000, help="keys that are read")
    parser.add_argument("--budget", type=int, default=512, metavar="MB", help="memory-budget")
    parser.add_argument("--limit", type=int, default=1024, metavar="MB", help="memory of the cgroup")
    parser.add_argument("--build", default="", help="another cairn-server")
    return parser.parse_args()


def main() -> int:
    options = parse_options()
    bound_mb = options.bound or options.keys * options.value_bytes // 3 // MB
    with tempfile.TemporaryDirectory(prefix="cairn-bench-") as folder:
        cairn = measure_cairn(options, pathlib.Path(folder), bound_mb, options.keys)
    with tempfile.TemporaryDirectory(prefix="cairn-bench-") as folder:
        alone = measure_cairn(options, pathlib.Path(folder), 0, cairn["keys"], 1 - cairn["hit_rate"])
    print(f"p99 of {BATCH} GETs: {cairn['p99_ms'] / alone['p99_ms']:.1f} times that without evictions")
    redis = measure_redis(options, cairn["keys"])
    claims = {f"{100 * cairn['hit_rate']:.1f} % of the reads hit, {100 * redis['hit_rate']:.1f} % of redis-server's":
              cairn["hit_rate"] >= redis["hit_rate"] - 0.03,
              f"the directory takes at most {cairn['disk_mb'] / bound_mb:.2f} of the bound":
              cairn["disk_mb"] <= 1.3 * bound_mb}
    for claim, holds in claims.items():
        print(f"{'ok' if holds else 'FAILED':6} {claim}")
    return 0 if all(claims.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
