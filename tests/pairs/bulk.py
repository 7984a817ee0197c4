# SPDX-License-Identifier: BSD-3-Clause
"""Millions of small keys, and the comparison of servers that hold them. Both work on a batch of keys at a time, to save
memory and round trips."""

from load import value_of

BATCH = 1000
KINDS = 10  # of ten keys six are strings, one each a hash, a list, a set and a sorted set
EXPIRY_MS = 4_102_444_800_000


def _add(pipe, number):
    """Adds bulk key `number`; its value, size and expiry depend only on the number."""
    name, value = b"bulk:%d" % number, b"v%d" % (number * 7919)
    kind = number % KINDS
    if kind < 6:
        pipe.set(name, value * (1 + number % 5))
    elif kind == 6:
        pipe.hset(name, mapping={b"f%d" % i: value for i in range(1 + number % 7)})
    elif kind == 7:
        pipe.rpush(name, *[b"%d" % (number + i) for i in range(1 + number % 9)])
    elif kind == 8:
        pipe.sadd(name, *[number * 3 + i for i in range(1 + number % 6)])
    else:
        pipe.zadd(name, {b"m%d" % i: number / (i + 1) for i in range(1 + number % 8)})
    if number % 20 == 3:
        pipe.pexpireat(name, EXPIRY_MS + number)


def fill_bulk(server, keys):
    """Writes that many bulk keys into database 0."""
    client = server.client()
    for first in range(0, keys, BATCH):
        pipe = client.pipeline(transaction=False)
        for number in range(first, min(keys, first + BATCH)):
            _add(pipe, number)
        pipe.execute()


def _facts(client, names, digests_agree):
    """The facts that are compared: a digest of type and value, and the expiry. The few keys that are not bulk are
    compared by their whole value, because digests leave out a stream's groups."""
    pipe = client.pipeline(transaction=False)
    pipe.execute_command("DEBUG", "DIGEST-VALUE", *names)
    for name in names:
        pipe.execute_command("PEXPIRETIME", name)
    digests, *expiries = pipe.execute()
    whole = [not name.startswith(b"bulk:") or not digests_agree and _is_zset(name) for name in names]
    values = [value_of(client, name, client.type(name)) if is_whole else None for name, is_whole in zip(names, whole)]
    if not digests_agree:
        digests = [None if is_whole else digest for digest, is_whole in zip(digests, whole)]
    return list(zip(names, digests, expiries, values))


def _is_zset(name):
    return int(name.removeprefix(b"bulk:")) % KINDS == KINDS - 1


def assert_same_bulk(one, others, dbs=(0, 3), digests_agree=True):
    """All servers hold the same keys with the same types, values, orders and expiries. `digests_agree`: the servers
    have the same digests of scores and of fields that expire, which Redis 8 has not. REQUIRES: no client writes, and
    replication has caught up."""
    compared = 0
    for db in dbs:
        clients = [server.client(db=db) for server in (one, *others)]
        sizes = {client.dbsize() for client in clients}
        assert len(sizes) == 1, sizes
        cursor = None
        while cursor != 0:
            cursor, names = clients[0].scan(cursor or 0, count=BATCH)
            if not names:
                continue
            want = _facts(clients[0], names, digests_agree)
            compared += len(names)
            for client in clients[1:]:
                found = _facts(client, names, digests_agree)
                differing = [pair for pair in zip(want, found) if pair[0] != pair[1]]
                assert not differing, str(differing[:3])[:2000]
    return compared
