# SPDX-License-Identifier: BSD-3-Clause
"""Sessions that expire: whether the disk stays flat, and how late events come.

One process writes sessions at a rate: strings of 200 bytes (SET PXAT), and every fifth a hash of four fields (HSET,
PEXPIREAT). A session lives for a random time between the shortest and the longest one. Another process subscribes to
__keyevent@0__:expired and compares each event with the deadline, which the key's name contains. Every ten seconds the
size of the data directory, the number of keys, resident memory and the bytes written are sampled. The server runs in a
memory cgroup. The sessions are about rate * (shortest + longest) / 2 keys once the first ones have expired.

Fails if an event is later than --latest seconds, or if the tables in the last quarter are more than 1.3 times those of
the second quarter. Logs are kept up to 256 MB, in waves.
"""

import argparse
import multiprocessing
import pathlib
import random
import re
import shutil
import socket
import sys
import tempfile
import time

from beyond_memory import MB, running
from process import disk_bytes, status_bytes
from series_plot import Panel, draw_lines
from wire import encode_command

STEP_S = 0.02
SAMPLE_S = 10
MOST_GROWTH = 1.3
EXPIRED = re.compile(rb"session:(\d+):\d+\r\n")
BUCKETS_PER_S = 100
MOST_BUCKETS = 60 * BUCKETS_PER_S  # an event that is later counts as this


def session(number: int, deadline_ms: int, value: bytes) -> bytes:
    """The commands that write one session."""
    key, when = b"session:%d:%d" % (deadline_ms, number), b"%d" % deadline_ms
    if number % 5:
        return encode_command(b"SET", key, value, b"PXAT", when)
    return encode_command(b"HSET", key, b"user", value[:8], b"csrf", value[:32], b"at", when, b"page", b"/index") + \
        encode_command(b"PEXPIREAT", key, when)


def write(port: int, options, sent) -> None:
    """Writes sessions at the rate for the whole run, in steps; each waits for the replies of the one before."""
    chance = random.Random(1)
    noise = chance.randbytes(1 << 20)
    with socket.create_connection(("127.0.0.1", port)) as connection:
        begin, number = time.monotonic(), 0
        while (elapsed := time.monotonic() - begin) < options.minutes * 60:
            due, commands, now_ms = int(elapsed * options.rate) - number, [], time.time() * 1000
            for _ in range(due):
                offset = chance.randrange(len(noise) - 200)
                lifetime = chance.uniform(options.shortest, options.longest)
                commands.append(session(number, int(now_ms + 1000 * lifetime), noise[offset:offset + 200]))
                number += 1
            connection.sendall(b"".join(commands))
            replies = due + sum(1 for i in range(number - due, number) if i % 5 == 0)
            while replies > 0:
                replies -= connection.recv(1 << 20).count(b"\n")
            sent.value = number
            time.sleep(max(0.0, begin + elapsed + STEP_S - time.monotonic()))


def listen(port: int, late) -> None:
    """Counts events by their lateness in hundredths of a second, until it is ended."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(encode_command(b"SUBSCRIBE", b"__keyevent@0__:expired"))
        rest = b""
        while received := connection.recv(1 << 20):
            now_ms = time.time() * 1000
            rest += received
            end = rest.rfind(b"\r\n") + 2 if b"\r\n" in rest else 0
            for deadline in EXPIRED.findall(rest[:end]):
                bucket = int(max(0.0, now_ms - int(deadline)) * BUCKETS_PER_S / 1000)
                late[min(bucket, MOST_BUCKETS)] += 1
            rest = rest[end:]


def percentile(counts, share: float) -> float:
    """The lateness in seconds below which this share of the events are."""
    left = sum(counts) * share
    for bucket, count in enumerate(counts):
        left -= count
        if left <= 0:
            return (bucket + 1) / BUCKETS_PER_S
    return 0.0


def sample(server, folder, begin: float, sent, late, earlier: list) -> dict:
    """The figures of this moment; lateness is of the events since the previous sample."""
    client = server.client(decode_responses=True)
    info = client.info("stats") | client.info("amplification")
    events = list(late)
    counts = [now - before for now, before in zip(events, earlier)]
    earlier[:] = events
    figures = {"at_s": time.monotonic() - begin, "written": sent.value, "keys": client.dbsize(),
               "expired": int(info["expired_keys"]),
               "disk_mb": disk_bytes(folder) / MB, "tables_mb": disk_bytes(folder, ".sst", ".blob") / MB,
               "resident_mb": status_bytes(server.process.pid, "VmRSS") / MB,
               "device_mb": sum(int(info.get(f"written_bytes_{part}", 0))
                                for part in ("log", "flushes", "compactions")) / MB,
               "p50_s": percentile(counts, 0.5), "p99_s": percentile(counts, 0.99), "max_s": percentile(counts, 1)}
    client.close()
    return figures


def show(figures: dict) -> None:
    """A line of the table."""
    print(f"{figures['at_s']:6.0f} s  {figures['written']:10} written  {figures['keys']:9} keys  "
          f"{figures['expired']:10} expired  disk {figures['disk_mb']:5.0f} MB (tables {figures['tables_mb']:.0f})  "
          f"resident {figures['resident_mb']:5.0f} MB  to the device {figures['device_mb']:7.0f} MB  "
          f"events late: p50 {figures['p50_s']:.2f}  p99 {figures['p99_s']:.2f}  max {figures['max_s']:.2f} s",
          flush=True)


def panels_of(samples: list) -> list:
    """The charts of a run."""
    def line(name):
        return [(figures["at_s"], figures[name]) for figures in samples]
    return [Panel("keys", {"keys": line("keys")}),
            Panel("MB", {"disk": line("disk_mb"), "tables": line("tables_mb"), "resident": line("resident_mb")}),
            Panel("events after their deadline, seconds", {"p50": line("p50_s"), "p99": line("p99_s"),
                                                           "max": line("max_s")})]


def judge(samples: list, late, options) -> int:
    """Prints the summary and the claims; returns the exit status."""
    counts = list(late)
    p99, latest = percentile(counts, 0.99), percentile(counts, 1)
    quarter = max(1, len(samples) // 4)
    early, end = (max(figures["tables_mb"] for figures in part)
                  for part in (samples[quarter:2 * quarter] or samples, samples[-quarter:]))
    print(f"{sum(counts)} events, late: p50 {percentile(counts, 0.5):.2f}  p99 {p99:.2f}  max {latest:.2f} s")
    claims = {f"all events within {options.latest:g} s": latest <= options.latest,
              f"tables of {end:.0f} MB at the end, {early:.0f} MB in the second quarter": end <= MOST_GROWTH * early}
    for claim, holds in claims.items():
        print(f"{'ok' if holds else 'FAILED':6} {claim}")
    return 0 if all(claims.values()) else 1


def parse_options():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=15)
    parser.add_argument("--rate", type=int, default=20_000, help="sessions a second")
    parser.add_argument("--shortest", type=float, default=60, metavar="SECONDS")
    parser.add_argument("--longest", type=float, default=300, metavar="SECONDS")
    parser.add_argument("--latest", type=float, default=2, metavar="SECONDS", help="the bar for events")
    parser.add_argument("--budget", type=int, default=256, metavar="MB", help="memory-budget")
    parser.add_argument("--limit", type=int, default=640, metavar="MB", help="memory of the cgroup")
    parser.add_argument("--build", default="", help="another cairn-server")
    parser.add_argument("--svg", type=pathlib.Path)
    return parser.parse_args()


def run(options, folder) -> tuple:
    """One run: the samples and the counts of events by lateness."""
    sent, late = multiprocessing.Value("q", 0), multiprocessing.Array("q", MOST_BUCKETS + 1, lock=False)
    samples, earlier = [], [0] * (MOST_BUCKETS + 1)
    with running(options, options.build, folder, notify_keyspace_events="Ex") as (server, second):
        parts = [multiprocessing.Process(target=listen, args=(second, late), daemon=True),
                 multiprocessing.Process(target=write, args=(server.port, options, sent), daemon=True)]
        for part in parts:
            part.start()
        begin = time.monotonic()
        while parts[1].is_alive():
            parts[1].join(SAMPLE_S)
            samples.append(sample(server, folder, begin, sent, late, earlier))
            show(samples[-1])
        parts[0].terminate()
        parts[0].join()
        if parts[1].exitcode:
            raise RuntimeError("the writer failed")
    return samples, late


def main() -> int:
    """Runs, prints and plots; returns the exit status."""
    options = parse_options()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="cairn-bench-"))
    try:
        samples, late = run(options, folder)
    finally:
        shutil.rmtree(folder)
    if options.svg:
        title = (f"bench/expiry: {options.rate} sessions a second that live {options.shortest:g} to "
                 f"{options.longest:g} s, memory-budget {options.budget} MB, cgroup of {options.limit} MB")
        options.svg.write_text(draw_lines(title, "seconds", panels_of(samples)))
    return judge(samples, late, options)


if __name__ == "__main__":
    sys.exit(main())
