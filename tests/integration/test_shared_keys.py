# SPDX-License-Identifier: BSD-3-Clause
"""Many clients with deep pipelines on few keys. Large ticks are committed while the next tick runs on the same keys,
some requests go to the slow lane, and no write may be lost, seen twice or seen too early.
"""

import random
import threading

import pytest

pytestmark = pytest.mark.slow

CLIENTS = 8
ROUNDS = 12
DEPTH = 150


def in_threads(work):
    """Runs work(number) in CLIENTS threads and returns their results; raises their errors."""
    results, errors = [None] * CLIENTS, []

    def run(number):
        try:
            results[number] = work(number)
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    if errors:
        raise errors[0]
    return results


@pytest.fixture(params=["everysec", "always"])
def policy(request, r):
    r.config_set("appendfsync", request.param)
    yield request.param
    r.config_set("appendfsync", "everysec")


def test_counters_count_each_increment_once(server, r, policy):
    def work(number):
        client, seen = server.client(), {"hot": [], "field": []}
        for round_ in range(ROUNDS):
            pipeline = client.pipeline(transaction=False)
            for i in range(DEPTH):
                pipeline.incr("hot")
                pipeline.hincrby("hash", "field", 1)
                pipeline.set(f"own:{number}:{round_}:{i}", "v" * 50)
            replies = pipeline.execute()
            seen["hot"] += replies[0::3]
            seen["field"] += replies[1::3]
        return seen

    results = in_threads(work)
    total = CLIENTS * ROUNDS * DEPTH
    for name in ("hot", "field"):
        for seen in results:
            assert seen[name] == sorted(set(seen[name]))
        assert sorted(n for seen in results for n in seen[name]) == list(range(1, total + 1))
    assert int(r.get("hot")) == int(r.hget("hash", "field")) == total
    assert r.dbsize() == total + 2


def test_each_element_is_taken_once(server, r, policy):
    def work(number):
        client, taken = server.client(), {"set": [], "zset": [], "list": []}
        rng = random.Random(number)
        for round_ in range(ROUNDS):
            pipeline = client.pipeline(transaction=False)
            for i in range(DEPTH):
                member = f"{number}:{round_}:{i}:{'x' * rng.randint(0, 80)}"
                pipeline.sadd("set", member)
                pipeline.zadd("zset", {member: rng.randint(0, 50)})
                pipeline.rpush("list", member)
                if i % 3 == 2:
                    pipeline.spop("set")
                    pipeline.zpopmin("zset")
                    pipeline.lpop("list")
            if round_ % 4 == 3:
                pipeline.keys("nothing*")  # on the slow lane
            replies = pipeline.execute()
            taken["zset"] += [pair[0] for reply in replies if isinstance(reply, list) for pair in reply]
            texts = [reply for reply in replies if isinstance(reply, bytes)]
            taken["set"] += texts[0::2]
            taken["list"] += texts[1::2]
        return taken

    results = in_threads(work)
    left = {"set": r.smembers("set"), "zset": r.zrange("zset", 0, -1), "list": r.lrange("list", 0, -1)}
    for name, rest in left.items():
        everything = [member for taken in results for member in taken[name]] + list(rest)
        assert len(everything) == len(set(everything)) == CLIENTS * ROUNDS * DEPTH, name
    assert r.scard("set") == len(left["set"]) and r.zcard("zset") == len(left["zset"])


def test_a_transaction_is_visible_as_a_whole(server, r, policy):
    keys = [f"account:{i}" for i in range(4)]
    r.mset({key: 1000 for key in keys})

    def work(number):
        client, rng = server.client(), random.Random(number)
        for round_ in range(ROUNDS):
            pipeline = client.pipeline(transaction=False)
            for i in range(DEPTH // 3):
                source, target = rng.sample(keys, 2)
                pipeline.execute_command("MULTI")
                pipeline.decrby(source, 7)
                pipeline.incrby(target, 7)
                pipeline.execute_command("EXEC")
                pipeline.mget(keys)
                pipeline.set(f"own:{number}:{round_}:{i}", "v")
            for reply in pipeline.execute():
                if isinstance(reply, list) and len(reply) == len(keys):
                    assert sum(map(int, reply)) == 4000
        return True

    assert all(in_threads(work))
    assert sum(map(int, r.mget(keys))) == 4000


def test_a_watch_sees_each_change(server, r):
    """A compare-and-set loop with WATCH loses no increment while other clients fill large ticks."""
    r.set("guarded", 0)

    def work(number):
        client, done = server.client(), 0
        while done < 30:
            filler = client.pipeline(transaction=False)
            for i in range(DEPTH * 2):
                filler.set(f"fill:{number}:{i}", "v")
            filler.execute()
            with client.pipeline() as pipeline:
                pipeline.watch("guarded")
                value = int(pipeline.get("guarded"))
                pipeline.multi()
                pipeline.set("guarded", value + 1)
                try:
                    pipeline.execute()
                    done += 1
                except Exception as error:  # noqa: BLE001
                    assert type(error).__name__ == "WatchError", error
        return done

    assert sum(in_threads(work)) == CLIENTS * 30 == int(r.get("guarded"))
