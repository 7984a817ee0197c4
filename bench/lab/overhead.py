# SPDX-License-Identifier: BSD-3-Clause
"""Measures what a feature costs each GET: bench/compare --overhead.

Two Cairns take turns, one with its defaults, one with the feature:

  access    the clients log in as a user restricted to GET on one key pattern, and metrics are fetched every second
  cluster   cluster-enabled; the node has all slots

The result is the server process's CPU time per GET.
"""

import contextlib
import statistics
import threading
import urllib.request

from rows import Load, choose_rows
from servers import free_port, start_cairn
from wire import Connection, pack_chunks

from waiting import wait_until  # noqa: E402  (servers.py sets the path)

MOST_COST = 1.05
FETCH_EVERY_S = 1.0
USER = ("reader", "secret")
COLUMNS = "{row:6} {pipeline:>3} {plain:>9} {other:>9} {cost:>6} {most:>6}"
FEATURES = ("access", "cluster")


@contextlib.contextmanager
def fetched_metrics(port: int):
    """Fetches the metrics of the port repeatedly during the block; they must have figures."""
    ended = threading.Event()
    fetched = []

    def fetch():
        while not ended.wait(FETCH_EVERY_S):
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as reply:
                fetched.append(len(reply.read()))

    thread = threading.Thread(target=fetch)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
    if not fetched or min(fetched) == 0:
        raise RuntimeError("the metrics were not fetched")


@contextlib.contextmanager
def start_with(feature: str, cairn_args: str):
    """A server with the feature, and what its clients add to redis-benchmark's arguments."""
    if feature == "cluster":
        with start_cairn(cairn_args, cluster_enabled="yes") as server, server.client() as client:
            client.execute_command("CLUSTER ADDSLOTSRANGE", 0, 16383)
            wait_until(lambda: client.cluster("info")["cluster_state"] == "ok", "the slots")
            yield server, []
        return
    metrics_port = free_port()
    with start_cairn(cairn_args, metrics_port=metrics_port) as server:
        with Connection(server.port) as connection:
            connection.ask("ACL", "SETUSER", USER[0], "on", f">{USER[1]}", "~key:*", "+get", "+ping")
        with fetched_metrics(metrics_port):
            yield server, ["--user", USER[0], "-a", USER[1]]


def _cost(sides, chunks: list, requests: int, pipeline: int, options) -> dict:
    row = choose_rows("GET")[0]
    arguments = ["-c", str(options.clients), "-n", str(requests), "-P", str(pipeline),
                 "-d", str(options.data_bytes), "-r", str(options.key_space), *row.arguments()]
    for side in sides:
        side.forget()
        side.prepare(chunks)
    for turn in range(options.rounds):
        for side in sides if turn % 2 == 0 else sides[::-1]:
            side.measure(row, requests, arguments)
    medians = [statistics.median(side.cpu_us) for side in sides]
    return {"row": row.name, "pipeline": pipeline, "plain": medians[0], "other": medians[1],
            "cost": medians[1] / medians[0]}


def measure_overhead(make_side, options) -> int:
    """Measures and prints; returns 1 if a GET costs more than a twentieth more. `make_side`: compare.Side."""
    row = choose_rows("GET")[0]
    with start_cairn(options.cairn_args) as plain, \
            start_with(options.overhead, options.cairn_args) as (other, arguments):
        sides = make_side(plain), make_side(other, arguments)
        print(f"CPU per GET in microseconds, with the defaults and with {options.overhead}; "
              f"median of {options.rounds}\n")
        print(COLUMNS.format(row="row", pipeline="P", plain="plain us", other="other us", cost="cost", most="most"))
        results = []
        for pipeline in map(int, options.pipelines.split(",")):
            requests = row.requests(options.requests, pipeline)
            load = Load(requests, options.data_bytes, options.key_space, options.fill)
            # Not MSET: its keys would have several slots.
            chunks = list(pack_chunks((b"SET", *pair) for command in load.commands(row)
                                      for pair in zip(command[1::2], command[2::2])))
            results.append(_cost(sides, chunks, requests, pipeline, options))
            shown = {name: f"{value:.2f}" if isinstance(value, float) else value
                     for name, value in results[-1].items()}
            print(COLUMNS.format(**shown, most=MOST_COST), flush=True)
    dear = [result for result in results if result["cost"] > MOST_COST]
    print(f"\n{len(results)} rows, {len(dear)} cost more than {MOST_COST}")
    return 1 if dear else 0
