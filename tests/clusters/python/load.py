# SPDX-License-Identifier: BSD-3-Clause
"""The load of tests/clusters/cluster_load.py through redis-py's client of clusters."""

import collections
import sys
import threading
import time

import redis
from redis.cluster import ClusterNode, RedisCluster


def run(client, prefix, seed, i, counts):
    """Runs command number i; returns what is wrong with its reply, or None."""
    kind, number = "clhz"[i % 4], (i * 7919 + seed) % 500
    key = f"{prefix}:{kind}:{number}"
    if kind == "c":
        reply = client.incr(key)
    elif kind == "l":
        reply = client.rpush(key, i)
    elif kind == "h":
        reply = client.hset(key, i, i)
    else:
        reply = client.zadd(key, {i: i})
    expected = 1
    if kind in "cl":
        counts[key] += 1
        expected = counts[key]
    if reply != expected:
        return f"{key}: {reply} instead of {expected}"
    if i % 8 == 0 and int(client.get(key)) != expected:
        return f"{key}: not {expected} is read"
    return None


def main():
    """Runs until the standard input closes."""
    prefix, seed = sys.argv[1], int(sys.argv[2])
    nodes = [ClusterNode(*address.split(":")) for address in sys.argv[3:]]
    client = RedisCluster(startup_nodes=nodes)
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    counts = collections.Counter()
    longest_s, i = 0.0, 0
    while not ended.is_set():
        begin_s = time.monotonic()
        try:
            wrong = run(client, prefix, seed, i, counts)
        except redis.RedisError as error:
            wrong = f"{type(error).__name__}: {error}"
        longest_s = max(longest_s, time.monotonic() - begin_s)
        if wrong:
            print("error", i, wrong, flush=True)
        if i % 100 == 0:
            print("at", i, flush=True)
        i += 1
    print("done", i, int(longest_s * 1000), flush=True)


if __name__ == "__main__":
    main()
