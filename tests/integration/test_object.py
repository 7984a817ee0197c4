# SPDX-License-Identifier: BSD-3-Clause
"""OBJECT FREQ and OBJECT IDLETIME, which maxmemory-policy decides about, beside redis-server."""

import pytest

from rdb_payloads import payload


@pytest.fixture
def counting(server, redis_server):
    """Clients of both, whose uses of keys are counted during the test."""
    clients = server.client(), redis_server.client()
    for client in clients:
        client.config_set("maxmemory-policy", "allkeys-lfu")
    yield clients
    for client in clients:
        client.config_set("maxmemory-policy", "noeviction")


def test_the_policy_decides_which_of_the_two_is_answered(pair):
    for policy in ("noeviction", "volatile-lfu", "allkeys-lru", "allkeys-lfu"):
        pair("config", "set", "maxmemory-policy", policy)
        pair("del", "key")  # what a key was counted for under another policy is no count
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
        # Redis goes by the clock's minutes: one may have begun since.
        assert client.object("freq", "rare") in (4, 5, 6)
        assert 12 <= client.object("freq", "common") <= 60
        assert 12 <= client.object("freq", "hash") <= 60
        before = client.object("freq", "common")
        for _ in range(100):
            client.object("freq", "common")  # looks, and is no use
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
