# SPDX-License-Identifier: BSD-3-Clause
"""A picture of the page of metrics-port: a primary with a replica under a mixed load, as Chromium shows it.

The load is redis-benchmark's, at a limited share of the machine, with some collections and slow commands beside it.
"""

import argparse
import pathlib
import random
import subprocess
import time

from servers import ROOT, free_port, start_cairn

from browser import Browser  # of tests/integration, whose path servers.py sets

COLUMNS, ROWS = 1240, 1000


def fill(client):
    """Writes collections of many sizes, and commands that take long."""
    chance = random.Random(1)
    pipe = client.pipeline(transaction=False)
    for i in range(3000):
        size = int(chance.paretovariate(0.7))
        pipe.rpush(f"queue:{i}", *range(min(size, 3000)))
        pipe.hset(f"user:{i}", mapping={f"field{n}": n for n in range(min(size, 500))})
    pipe.execute()
    client.execute_command("HOTKEYS", "START", "METRICS", 2, "CPU", "NET")
    for i in range(3):
        client.zadd(f"board:{i}", {f"player:{n}": n for n in range(20000)})
        client.zrevrange(f"board:{i}", 0, -1)


def main() -> int:
    """Takes the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=45, help="of load before the picture (default: 45)")
    parser.add_argument("--scheme", choices=["light", "dark"], default="light")
    parser.add_argument("--phone", action="store_true", help="a window of 390 columns")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "docs" / "plots" / "status-page.png")
    options = parser.parse_args()
    port = free_port()
    directives = {"metrics_port": port, "metrics_details": True, "memory_budget": "256mb",
                  "slowlog_log_slower_than": 4000}
    with start_cairn(**directives) as server, start_cairn(replicaof=f"127.0.0.1 {server.port}"), Browser() as browser:
        fill(server.client())
        load = subprocess.Popen(["nice", "redis-benchmark", "-p", str(server.port), "-c", "20", "-r", "1000000", "-d",
                                 "200", "-l", "-q", "-t", "set,get,incr,hset"], stdout=subprocess.DEVNULL)
        try:
            browser.open(f"http://127.0.0.1:{port}/", 390 if options.phone else COLUMNS, ROWS, options.scheme)
            time.sleep(options.seconds)
            options.out.write_bytes(browser.screenshot())
        finally:
            load.kill()
            load.wait()
    print(options.out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
