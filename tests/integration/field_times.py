# SPDX-License-Identifier: BSD-3-Clause
"""Hashes whose fields expire, for tests with several servers: how they are filled, changed and compared. The commands
are those that Redis 8, Valkey 9.1 and Cairn share."""

from waiting import wait_until

LATE_MS = 4102444800000
HASHES = {b"timed:small": 5, b"timed:large": 1000, b"timed:huge": 5000}


def fill_timed(client):
    """Hashes of which every third field expires far in the future."""
    for name, size in HASHES.items():
        client.hset(name, mapping={b"f%d" % i: b"v%d" % i for i in range(size)})
        for i in range(0, size, 3):
            client.execute_command("HPEXPIREAT", name, LATE_MS + i, "FIELDS", 1, b"f%d" % i)


def change_timed(client, rng):
    """One random change of a field or of its expiry."""
    name, field = rng.choice(list(HASHES)), b"f%d" % rng.randrange(30)
    when = LATE_MS + rng.randrange(10**6)
    client.execute_command(*rng.choice([
        ("HPEXPIREAT", name, when, "FIELDS", 1, field), ("HPERSIST", name, "FIELDS", 1, field),
        ("HSETEX", name, "PXAT", when, "FIELDS", 1, field, b"x"), ("HSET", name, field, b"y"), ("HDEL", name, field),
        ("HGETEX", name, "PERSIST", "FIELDS", 1, field), ("HSETEX", name, "KEEPTTL", "FIELDS", 1, field, b"z"),
        ("HPEXPIRE", name, 50, "FIELDS", 1, b"short%d" % rng.randrange(5)),
        ("HSET", name, b"short%d" % rng.randrange(5), b"s"),
    ]))


def times_of(client):
    """The fields of the hashes with their values and times."""
    shown = {}
    for name in HASHES:
        values = client.hgetall(name)
        fields = sorted(values)
        times = client.execute_command("HPEXPIRETIME", name, "FIELDS", len(fields), *fields)
        shown[name] = [(field, values[field], when) for field, when in zip(fields, times, strict=True)]
    return shown


def assert_same_times(one, other):
    """Both servers hold the same hashes with the same times, once short-lived fields are deleted."""
    wait_until(lambda: times_of(one.client()) == times_of(other.client()), "equal fields", other)
