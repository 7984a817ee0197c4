# SPDX-License-Identifier: BSD-3-Clause
"""Measures the layout of a spread list, for docs/decisions/list-layout.md.

    CAIRN_SERVER=build/release/cairn-server build/venv/bin/python bench/lab/list_layout.py

prints one line of figures for one build. The page's table has a build per column; they differ in the two constants
kChunkItems and kChunkBytes of src/types/list_chunks.cc. Costs are the server's CPU time, not throughput, so other load
has little effect.
"""

import argparse
import os
import random
import subprocess
import time

from process import cpu_seconds, wait_until_quiet
from servers import start_cairn

ELEMENTS = 1_000_000


def benchmark_us(server, requests, *arguments):
    """CPU microseconds per request of a redis-benchmark run."""
    wait_until_quiet([server.pid])
    before = cpu_seconds(server.pid)
    subprocess.run(["redis-benchmark", "-p", str(server.port), "-n", str(requests), "-q",
                    *arguments], check=True, stdout=subprocess.DEVNULL)
    return (cpu_seconds(server.pid) - before) / requests * 1e6


def lone_push_bytes(server):
    """Bytes of log per LPUSH of 100 bytes if every push is a separate commit."""
    client = server.client()
    before = client.info("rocksdb")["wal_bytes"]
    for i in range(2000):
        client.lpush("alone", f"{i:0100d}")
    return (client.info("rocksdb")["wal_bytes"] - before) / 2000


def fill(server):
    """Writes a list of random elements of 60 bytes; returns its size on disk."""
    client = server.client()
    rng = random.Random(1)
    pipe = client.pipeline(transaction=False)
    for start in range(0, ELEMENTS, 500):
        pipe.rpush("large", *(rng.randbytes(30).hex() for _ in range(500)))
        if start % 10_000 == 0:
            pipe.execute()
    pipe.execute()
    client.execute_command("COMPACT")
    return client.info("rocksdb")["total_sst_files_size"]


def cold_range_ms(server):
    """Milliseconds of an LRANGE of 600 elements from the head, with rows that are not in memory."""
    server.restart()
    client = server.client()
    client.ping()
    started = time.perf_counter()
    assert len(client.lrange("large", 5000, 5599)) == 600
    return (time.perf_counter() - started) * 1e3


def main():
    """Measures one build."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=200_000)
    options = parser.parse_args()
    many = ["-d", "100", "-c", "50", "-P", "16"]
    with start_cairn() as server:
        push = benchmark_us(server, options.requests, *many, "-t", "lpush")
        range_100 = benchmark_us(server, options.requests // 10, *many, "lrange", "mylist", "0", "99")
        range_600 = benchmark_us(server, options.requests // 20, *many, "lrange", "mylist", "0", "599")
        pop = benchmark_us(server, options.requests, *many, "-t", "rpop")
        log_bytes = lone_push_bytes(server)
        disk = fill(server)
        cold = cold_range_ms(server)
    print(f"{os.environ.get('CAIRN_SERVER', 'release build')}: LPUSH {push:.2f} us, RPOP {pop:.2f} us, "
          f"LRANGE_100 {range_100:.1f} us, LRANGE_600 {range_600:.1f} us, "
          f"log per lone LPUSH {log_bytes:.0f} B, disk {disk / ELEMENTS:.1f} B per element of 60, "
          f"cold LRANGE of 600 {cold:.1f} ms")


if __name__ == "__main__":
    main()
