# SPDX-License-Identifier: BSD-3-Clause
"""Scripts, transactions and plain reads of the same keys, from eight clients: a sum is constant.

Money moves between accounts in every possible way: by a script that declares its keys, by one that does not, by a
function, by WATCH and EXEC. Every reader, by one command, by EXEC or by a script, sees the full sum, and so does a
client after kill -9.
"""

import random
import threading
import time

import pytest
import redis

from harness import Server

pytestmark = pytest.mark.slow

ACCOUNTS = [f"account:{i}" for i in range(12)]
TOTAL = 100 * len(ACCOUNTS)
ROUNDS = 2
ROUND_S = 3

MOVE = """
    local from, to, amount = KEYS[1], KEYS[2], tonumber(ARGV[1])
    if tonumber(redis.call('get', from)) < amount then return 0 end
    redis.call('decrby', from, amount)
    redis.call('incrby', to, amount)
    return 1
"""
MOVE_UNDECLARED = MOVE.replace("KEYS[1], KEYS[2], tonumber(ARGV[1])",
                               "ARGV[1], ARGV[2], tonumber(ARGV[3])")
SUM = """
    local sum = 0
    for i = 1, tonumber(ARGV[1]) do sum = sum + redis.call('get', 'account:' .. (i - 1)) end
    return sum
"""
LIBRARY = "#!lua name=bank\nredis.register_function('move', function(KEYS, ARGV) " + MOVE + " end)"


def move_by_exec(client, source, target, amount):
    with client.pipeline() as pipe:
        pipe.watch(source)
        enough = int(pipe.get(source)) >= amount
        pipe.multi()
        if enough:
            pipe.decrby(source, amount)
            pipe.incrby(target, amount)
        try:
            pipe.execute()
        except redis.WatchError:
            pass


def move(client, choice):
    source, target = random.sample(ACCOUNTS, 2)
    amount = random.randint(1, 60)
    if choice == 0:
        client.eval(MOVE, 2, source, target, amount)
    elif choice == 1:
        client.eval(MOVE_UNDECLARED, 0, source, target, amount)
    elif choice == 2:
        client.fcall("move", 2, source, target, amount)
    else:
        move_by_exec(client, source, target, amount)


def look(client, choice):
    if choice == 0:
        return sum(map(int, client.mget(ACCOUNTS)))
    if choice == 1:
        return int(client.eval_ro(SUM, 0, len(ACCOUNTS)))
    with client.pipeline() as pipe:
        for account in ACCOUNTS:
            pipe.get(account)
        return sum(map(int, pipe.execute()))


def work(server, index, stop, sums):
    client = server.client()
    try:
        while not stop.is_set():
            move(client, random.randrange(4))
            if random.random() < 0.3:
                sums.append(look(client, (index + len(sums)) % 3))
    except (redis.exceptions.ConnectionError, redis.exceptions.WatchError, AttributeError):
        pass  # the server was killed; redis-py raises the last two while watching


def test_every_reader_sees_the_constant_sum():
    with Server(io_threads=2) as server:
        server.client().mset({account: 100 for account in ACCOUNTS})
        server.client().function_load(LIBRARY)
        sums = []
        for _ in range(ROUNDS):
            stop = threading.Event()
            workers = [threading.Thread(target=work, args=(server, i, stop, sums)) for i in range(8)]
            for worker in workers:
                worker.start()
            time.sleep(ROUND_S)  # clients write meanwhile
            server.kill9()
            stop.set()
            for worker in workers:
                worker.join()
            server.start()
            sums.append(look(server.client(), 0))
        assert len(sums) > 20
        assert set(sums) == {TOTAL}
