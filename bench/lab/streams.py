# SPDX-License-Identifier: BSD-3-Clause
"""A stream is trimmed as it grows, while a consumer group reads and acknowledges it.

One process adds entries by XADD with MAXLEN ~, another reads them by XREADGROUP and acknowledges them, both with
pipelines on one connection. The producer waits when the group is half a stream behind, so no entry is trimmed unread.
Every second the throughput, the server's memory and its directory's size are recorded.

Two claims are checked: the last minute's throughput is within a fifth of the first one's (in a short run, of the last
and first third), and the disk use of the second half is at most one and a half times that of the first.
"""

import argparse
import json
import multiprocessing
import pathlib
import statistics
import sys
import time

import hiredis
from process import cpu_seconds, disk_bytes, status_bytes
from servers import start_cairn, version_of
from wire import Connection, encode_command

STREAM, GROUP = b"measurements", b"readers"
MOST_CHANGE = 0.2
MOST_GROWTH = 1.5
MINUTE_S = 60


def add_entries(port: int, options: argparse.Namespace, added, acknowledged):
    """Adds all entries with XADD; runs in a separate process."""
    command = encode_command(b"XADD", STREAM, b"MAXLEN", b"~", b"%d" % options.keep, b"*",
                             b"sensor", b"17", b"celsius", b"20.5", b"note", b"x" * options.text)
    lines = 2 * options.batch  # a reply is "$15" and an id
    with Connection(port) as connection:
        while added.value < options.entries:
            while added.value - acknowledged.value > options.keep // 2:
                time.sleep(0.0005)
            connection.socket.sendall(command * options.batch)
            awaited = lines
            while awaited > 0:
                awaited -= connection.socket.recv(1 << 18).count(b"\n")
            added.value += options.batch


def read_entries(port: int, options: argparse.Namespace, acknowledged):
    """Reads and acknowledges until all entries were acknowledged; runs in a separate process."""
    reader = hiredis.Reader()
    read = encode_command(b"XREADGROUP", b"GROUP", GROUP, b"one", b"COUNT", b"%d" % options.count,
                          b"BLOCK", b"1000", b"STREAMS", STREAM, b">")
    with Connection(port) as connection:
        connection.socket.sendall(read)
        ids: list[bytes] = []
        while acknowledged.value < options.entries:
            replies = [None] * (2 if ids else 1)
            for at, _ in enumerate(replies):
                while (reply := reader.gets()) is False:
                    reader.feed(connection.socket.recv(1 << 20))
                if isinstance(reply, hiredis.ReplyError):
                    raise RuntimeError(str(reply))
                replies[at] = reply
            acknowledged.value += len(ids)
            if ids and replies[0] != len(ids):
                raise RuntimeError(f"{len(ids)} entries acknowledged, {replies[0]} counted")
            ids = [entry[0] for entry in replies[-1][0][1]] if replies[-1] else []
            acknowledge = encode_command(b"XACK", STREAM, GROUP, *ids) if ids else b""
            connection.socket.sendall(acknowledge + read)


def sample(server, workers, added, options) -> list[dict]:
    """A sample each second until all entries were added and read."""
    folder, pid = pathlib.Path(server.data_dir), server.process.pid
    samples = []
    last_s, last_added = time.monotonic(), 0
    while any(worker.is_alive() for worker in workers):
        if any(worker.exitcode for worker in workers):
            raise RuntimeError("a client failed")
        time.sleep(1)
        now_s, now_added = time.monotonic(), added.value
        samples.append({"per_second": (now_added - last_added) / (now_s - last_s),
                        "disk": disk_bytes(folder), "resident": status_bytes(pid, "VmRSS")})
        last_s, last_added = now_s, now_added
        if len(samples) % 30 == 0 and not options.json:
            print(f"{len(samples):5} s {now_added:10} entries {samples[-1]['per_second']:9.0f}/s "
                  f"{samples[-1]['disk'] / 1e6:7.1f} MB on disk", flush=True)
    return samples[:-1]  # the last second is not complete


def measure(options: argparse.Namespace) -> dict:
    """One run."""
    context = multiprocessing.get_context("fork")
    added, acknowledged = context.Value("q", 0, lock=False), context.Value("q", 0, lock=False)
    with start_cairn(options.cairn_args) as server:
        client = server.client()
        client.xgroup_create(STREAM, GROUP, id="0", mkstream=True)
        before_s = cpu_seconds(server.process.pid)
        workers = [
            context.Process(target=add_entries, args=(server.port, options, added, acknowledged)),
            context.Process(target=read_entries, args=(server.port, options, acknowledged))]
        for worker in workers:
            worker.start()
        try:
            samples = sample(server, workers, added, options)
        finally:
            for worker in workers:
                worker.terminate()
                worker.join()
        cpu_us = (cpu_seconds(server.process.pid) - before_s) / options.entries * 1e6
        info = client.xinfo_stream(STREAM)
        group = client.xinfo_groups(STREAM)[0]
        name = version_of(server)
    if info["entries-added"] != options.entries or group["pending"] != 0 or group["lag"] != 0:
        raise RuntimeError(f"entries are missing: {info} {group}")
    return {"server": name, "entries": options.entries, "samples": samples, "cpu_us": cpu_us,
            "length": info["length"]}


def main() -> int:
    """Parses the command line, measures, prints the figures; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--entries", type=int, default=20_000_000)
    parser.add_argument("--keep", type=int, default=100_000, help="MAXLEN ~")
    parser.add_argument("--batch", type=int, default=100, help="XADDs per pipeline")
    parser.add_argument("--count", type=int, default=1000, help="COUNT of XREADGROUP")
    parser.add_argument("--text", type=int, default=20, help="bytes of an entry's third field")
    parser.add_argument("--cairn-args", default="", metavar="TEXT", help="directives, as on the command line")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    options.entries -= options.entries % options.batch
    result = measure(options)
    samples = result["samples"]
    span = max(1, min(MINUTE_S, len(samples) // 3))
    rates = [entry["per_second"] for entry in samples]
    first, last = statistics.mean(rates[:span]), statistics.mean(rates[-span:])
    disk = [entry["disk"] for entry in samples]
    halves = max(disk[:len(disk) // 2]), max(disk[len(disk) // 2:])
    print(f"{result['server']}: {result['entries']} entries in {len(samples)} s, "
          f"{result['cpu_us']:.2f} us of CPU each, {result['length']} kept")
    print(f"first {span} s {first:.0f}/s, last {last:.0f}/s: {last / first:.2f}")
    print(f"disk: at most {halves[0] / 1e6:.1f} MB in the first half, "
          f"{halves[1] / 1e6:.1f} MB in the second; "
          f"memory: at most {max(entry['resident'] for entry in samples) / 1e6:.1f} MB")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(result, indent=1))
    good = abs(last / first - 1) <= MOST_CHANGE and halves[1] <= MOST_GROWTH * halves[0]
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
