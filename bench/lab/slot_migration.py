# SPDX-License-Identifier: BSD-3-Clause
"""Measures the move of 100 slots between two nodes of a cluster under load.

The source has strings of 100 bytes in the slots that move and in others, and in one of the former a sorted set of a
million members. Processes write and read at a given rate, in both kinds of slots, and follow MOVED. One more client
reads a key of another slot once a millisecond, and its latency is compared with that before. Then redis-cli moves a
tenth of the slots back, key by key, under the same load, for the factor in keys a second.

Exit status 1 if a key or an acknowledged write is lost, or if the p99 of the other client during the move is more than
twice that before.
"""

import argparse
import json
import multiprocessing
import pathlib
import random
import socket
import subprocess
import sys
import time

from servers import ROOT, start_cairn

sys.path.insert(0, str(ROOT / "tests" / "integration"))
from cluster_nodes import await_ok, call, make_cluster, node_id  # noqa: E402  (the path is set just above)

MOST_P99 = 2.0
SLOTS = 100  # from 1 on
BATCHES_PER_S = 50
SET_MEMBERS = 1_000_000


class Connection:
    """A raw connection that sends many requests at once and reads their one-line or bulk replies."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb")

    def ask(self, requests):
        """The first line of each reply."""
        self.socket.sendall(b"".join(
            b"*%d\r\n%s" % (len(words), b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words))
            for words in requests))
        lines = []
        for _ in requests:
            line = self.file.readline()
            if line[:1] == b"$" and line[1:2] != b"-":
                self.file.read(int(line[1:]) + 2)
            lines.append(line)
        return lines


def tags_by_slot():
    """A hash tag of each slot of which one is found quickly."""
    found = {}
    number = 0
    while len(found) < 16384:
        tag = b"%d" % number
        crc = 0
        for byte in tag:
            crc ^= byte << 8
            for _ in range(8):
                crc = (crc << 1 ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xffff
        found.setdefault(crc % 16384, tag)
        number += 1
    return found


def work(ports, tags, keys, writes, rate, seed, stop, result):
    """Sends `rate` requests a second for random keys; follows MOVED. Puts the number of acknowledged writes."""
    rng = random.Random(seed)
    connections = [Connection(port) for port in ports]
    owner = {}
    done = 0
    batch = max(1, rate // BATCHES_PER_S)
    due = time.monotonic()
    while not stop.is_set():
        due += 1 / BATCHES_PER_S
        todo = []
        for _ in range(batch):
            tag = rng.choice(tags)
            todo.append((tag, [b"INCR", b"{%s}c%d" % (tag, seed)] if writes else
                         [b"GET", b"{%s}%d" % (tag, rng.randrange(keys))]))
        while todo:
            again = []
            for at, connection in enumerate(connections):
                mine = [item for item in todo if owner.get(item[0], 0) == at]
                if not mine:
                    continue
                for item, line in zip(mine, connection.ask([words for _, words in mine])):
                    if line.startswith((b"-MOVED", b"-ASK", b"-TRYAGAIN", b"-CLUSTERDOWN")):
                        if line.startswith(b"-MOVED"):
                            owner[item[0]] = ports.index(int(line.rsplit(b":", 1)[1]))
                        again.append(item)
                    elif line.startswith(b"-"):
                        raise RuntimeError(line)
                    else:
                        done += writes
            todo = again
        time.sleep(max(0, due - time.monotonic()))
    result.put(done)


def probe(port, tag, keys, stop, result):
    """Reads a key a millisecond; puts the latencies in ms with their times."""
    connection = Connection(port)
    rng = random.Random(7)
    seen = []
    while not stop.is_set():
        begun = time.monotonic()
        connection.ask([[b"GET", b"{%s}%d" % (tag, rng.randrange(keys))]])
        took = time.monotonic() - begun
        seen.append((begun, took * 1000))
        time.sleep(max(0, 0.001 - took))
    result.put(seen)


def fill(server, tags, keys):
    """Writes `keys` strings under each tag."""
    noise = random.Random(1).randbytes(1_000_000)
    client = server.client(socket_timeout=600)
    for tag in tags:
        pipe = client.pipeline(transaction=False)
        for i in range(keys):
            at = i * 7919 % (len(noise) - 100)
            pipe.execute_command("SET", b"{%s}%d" % (tag, i), noise[at:at + 100])
            if i % 5000 == 4999:
                pipe.execute()
        pipe.execute()


def fill_set(server, tag):
    """Writes the large sorted set."""
    pipe = server.client(socket_timeout=600).pipeline(transaction=False)
    for first in range(0, SET_MEMBERS, 1000):
        pipe.execute_command("ZADD", b"{%s}set" % tag, *[word for i in range(first, first + 1000)
                                                         for word in (i / 2, b"member:%d" % i)])
        if first % 20000 == 0:
            pipe.execute()
    pipe.execute()


def p99(latencies, begin, end):
    """The 99th percentile in ms between two times."""
    inside = sorted(ms for at, ms in latencies if begin <= at < end)
    return inside[int(len(inside) * 0.99)] if inside else float("nan")


def parse_options():
    """The command line."""
    parser = argparse.ArgumentParser(prog="bench/slot_migration", description=__doc__.partition("\n")[0])
    parser.add_argument("--keys", type=int, default=2_000_000, help="strings in the slots that move")
    parser.add_argument("--writes", type=int, default=5000, help="a second")
    parser.add_argument("--reads", type=int, default=20000, help="a second")
    parser.add_argument("--quiet-s", type=float, default=20, help="seconds of load before the move")
    parser.add_argument("--cairn-args", default="", metavar="TEXT", help="directives, as on the command line")
    parser.add_argument("--json", metavar="FILE")
    return parser.parse_args()


def migrate(source, target):
    """Moves the slots at once; seconds."""
    begun = time.monotonic()
    call(source, "CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", 1, SLOTS, "NODE", node_id(target))
    while True:
        row = call(source, "CLUSTER", "GETSLOTMIGRATIONS")[0]
        state = dict(zip(row[::2], row[1::2]))
        if state["state"] in ("success", "failed"):
            break
        time.sleep(0.02)
    if state["state"] == "failed":
        raise RuntimeError(state["message"])
    return time.monotonic() - begun


def reshard(source, target, slots):
    """Moves slots key by key; seconds."""
    begun = time.monotonic()
    subprocess.run(["redis-cli", "--cluster", "reshard", f"127.0.0.1:{source.port}", "--cluster-from", node_id(source),
                    "--cluster-to", node_id(target), "--cluster-slots", str(slots), "--cluster-yes"],
                   check=True, capture_output=True, timeout=7200)
    return time.monotonic() - begun


def main() -> int:
    """Fills, loads, moves, and checks the claims."""
    options = parse_options()
    keys = options.keys // SLOTS
    servers = [start_cairn(options.cairn_args, cluster_enabled=True) for _ in range(3)]
    try:
        make_cluster(servers)
        source, target = servers[0], servers[1]
        tags = tags_by_slot()
        moving, staying = [tags[slot] for slot in range(1, SLOTS + 1)], [tags[slot] for slot in range(200, 300)]
        fill(source, moving, keys)
        fill(source, staying, keys // 10)
        fill_set(source, moving[49])
        print(source.client().dbsize(), "keys", flush=True)
        stop, result, latencies = multiprocessing.Event(), multiprocessing.Queue(), multiprocessing.Queue()
        ports = [source.port, target.port]
        kinds = [(1, options.writes), (0, options.reads // 2), (0, options.reads // 2)]
        workers = [multiprocessing.Process(target=work, args=(ports, moving + staying, keys // 10, writes, rate, seed,
                                                              stop, result))
                   for seed, (writes, rate) in enumerate(kinds)]
        workers.append(multiprocessing.Process(target=probe,
                                               args=(source.port, staying[0], keys // 10, stop, latencies)))
        for worker in workers:
            worker.start()
        begin = time.monotonic()
        time.sleep(options.quiet_s)
        moved_at = time.monotonic()
        seconds = migrate(source, target)
        end = time.monotonic()
        time.sleep(options.quiet_s / 4)
        slow_s = reshard(target, source, SLOTS // 10)
        stop.set()
        acknowledged = sum(result.get() for _ in range(3))
        seen = latencies.get()
        for worker in workers:
            worker.join()
        await_ok(servers)
        counted, strings, members = 0, 0, 0
        for slot in [*range(1, SLOTS + 1), *range(200, 300)]:
            for server in (source, target):
                client = server.client()
                if call(server, "CLUSTER", "COUNTKEYSINSLOT", slot) == 0:
                    continue
                counted += int(client.get(b"{%s}c0" % tags[slot]) or 0)
                strings += call(server, "CLUSTER", "COUNTKEYSINSLOT", slot) - (
                    client.get(b"{%s}c0" % tags[slot]) is not None)
                members += client.zcard(b"{%s}set" % tags[slot]) if slot == 50 else 0
        same = counted == acknowledged and members == SET_MEMBERS
        same = same and strings == SLOTS * keys + len(staying) * (keys // 10) + 1
        before, during = p99(seen, begin + 2, moved_at), p99(seen, moved_at, end)
        fast, slow = SLOTS * keys / seconds, SLOTS // 10 * keys / slow_s
        hold = [line for line in source.log_tail(400).splitlines() if "held back" in line]
        figures = {"s": seconds, "keys_per_s": fast, "reshard_keys_per_s": slow, "factor": fast / slow,
                   "p99_before_ms": before, "p99_during_ms": during, "acknowledged": acknowledged}
    finally:
        for server in servers:
            server.close()
    for name, value in figures.items():
        print(f"{name:20}{value:14.2f}")
    print(*hold, sep="\n")
    print("yes" if same else f"NO: {counted} of {acknowledged} writes, {strings} strings, {members} members",
          "everything is there")
    steady = during <= MOST_P99 * before
    print("yes" if steady else "NO", f"the p99 of another client is at most {MOST_P99:g} times that before")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(figures, indent=1))
    return 0 if same and steady else 1


if __name__ == "__main__":
    sys.exit(main())
