# SPDX-License-Identifier: BSD-3-Clause
"""OBJECT FREQ and OBJECT IDLETIME, which depend on maxmemory-policy, compared with redis-server."""

import pytest

from rdb_payloads import payload


@pytest.fixture
def counting(server, redis_server):
    """Clients of both servers, which count uses of keys during the test."""
    clients = server.client(), redis_server.client()
    for client in clients:
        client.config_set("maxmemory-policy", "allkeys-lfu")
    yield clients
    for client in clients:
        client.config_set("maxmemory-policy", "noeviction")


def test_the_policy_decides_which_of_the_two_replies(pair):
    for policy in ("noeviction", "volatile-lfu", "allkeys-lru", "allkeys-lfu"):
        pair("config", "set", "maxmemory-policy", policy)
        pair("del", "key")  # a use counted under another policy does not count
        pair("set", "key", "value")
        for name in ("freq", "idletime"):
            pair("object", name, "key")
            pair("object", name, "nokey")
    pair("config", "set", "maxmemory-policy", "noeviction")


def test_uses_are_counted_on_a_logarithmic_scale(counting):
    for client in counting:
        client.set("rare", "value")
        client.set("common", "value")
        client.hset("hash", "f", "v")
        for _ in range(3000):
            client.get("common")
            client.hget("hash", "f")
        # Redis uses the minutes of the clock, and a new minute may have begun since.
        assert client.object("freq", "rare") in (4, 5, 6)
        assert 12 <= client.object("freq", "common") <= 60
        assert 12 <= client.object("freq", "hash") <= 60
        before = client.object("freq", "common")
        for _ in range(100):
            client.object("freq", "common")  # reads the counter, and is not a use
        assert client.object("freq", "common") == before
        client.set("common", "another value")
        assert client.object("freq", "common") >= before


def test_restore_sets_the_frequency(counting):
    for client in counting:
        client.restore("key", 0, payload("00 0161"), frequency=100)
        assert client.object("freq", "key") == 100
        client.restore("none", 0, payload("00 0161"), frequency=0)
        assert client.object("freq", "none") == 0
        client.get("key")
        assert client.object("freq", "key") in (100, 101)
