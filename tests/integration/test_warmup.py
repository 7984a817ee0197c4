# SPDX-License-Identifier: BSD-3-Clause
"""key-cache-warmup: what was hot in the key cache is read again after a restart, beside the clients."""

import pytest
from harness import Server
from pairs import follow
from waiting import wait_until

KEYS = 5000
ELEMENTS = 2000


def fill(client):
    """Strings, and a set in rows of its own; all are read, so that they are hot."""
    pipe = client.pipeline(transaction=False)
    for i in range(KEYS):
        pipe.set(f"k:{i}", f"value {i}")
    pipe.sadd("set", *(f"{i} {'x' * 60}" for i in range(ELEMENTS)))
    pipe.execute()
    read(client)


def read(client):
    """Reads everything; the replies must be right."""
    pipe = client.pipeline(transaction=False)
    for i in range(KEYS):
        pipe.get(f"k:{i}")
    pipe.smismember("set", [f"{i} {'x' * 60}" for i in range(ELEMENTS)])
    replies = pipe.execute()
    assert replies[:KEYS] == [f"value {i}".encode() for i in range(KEYS)]
    assert all(replies[KEYS])


def warmup(client, field="key_cache_warmup"):
    """A field of INFO cache."""
    return client.info("cache")[field]


def wait_for(client, state):
    """Waits until the warm-up has this state."""
    wait_until(lambda: warmup(client) == state, f"the state {state}")


def misses(client):
    """Rows not found in the key cache, so far."""
    return client.info("cache")["key_cache_misses"]


def test_hot_rows_are_back_after_a_restart():
    with Server() as server:
        fill(server.client())
        wait_for(server.client(), "none")
        server.restart("shutdown")
        client = server.client()
        wait_for(client, "done")
        assert warmup(client, "key_cache_warmup_rows") >= KEYS + ELEMENTS
        before = misses(client)
        read(client)
        assert misses(client) - before < KEYS / 100
        assert b"value" not in (server.data_dir / "key-cache").read_bytes()


@pytest.mark.slow
def test_hot_rows_are_back_after_a_kill():
    """The names are also written now and then."""
    with Server() as server:
        fill(server.client())
        wait_until(lambda: warmup(server.client(), "key_cache_saved_names") >= KEYS, "the names")
        server.restart("kill9")
        client = server.client()
        wait_for(client, "done")
        assert warmup(client, "key_cache_warmup_rows") >= KEYS
        read(client)


def test_dropped_and_replaced_rows_are_not_brought_back():
    with Server() as server:
        client = server.client()
        fill(client)
        server.restart("shutdown")
        client = server.client()
        client.flushall()
        client.set("k:1", "new")
        client.swapdb(0, 1)
        wait_until(lambda: warmup(client) in ("done", "loading"), "a warm-up")
        wait_for(client, "done")
        assert (client.dbsize(), client.get("k:1"), client.get("k:2")) == (0, None, None)
        client.swapdb(0, 1)
        assert (client.dbsize(), client.get("k:1"), client.get("k:2")) == (1, b"new", None)
        client.execute_command("DEBUG", "RELOAD")
        assert (client.dbsize(), client.get("k:1"), client.get("k:2")) == (1, b"new", None)


def test_a_replica_warms_up_and_may_be_replaced_meanwhile():
    with Server() as primary, Server() as replica:
        fill(primary.client())
        fill(replica.client())
        replica.restart("shutdown")
        primary.client().set("k:1", "other")
        follow(replica, primary)
        client = replica.client()
        wait_for(client, "done")
        assert client.get("k:1") == b"other" and client.get("k:2") == b"value 2"
        replica.restart("shutdown")
        client = replica.client()
        wait_for(client, "done")
        assert warmup(client, "key_cache_warmup_rows") > 0
        assert client.get("k:1") == b"other" and client.get("k:2") == b"value 2"


@pytest.mark.parametrize("damage", [lambda data: data[:-3], lambda data: data[:20] + b"?" + data[21:], lambda _: b""])
def test_a_damaged_file_is_ignored(damage):
    with Server() as server:
        fill(server.client())
        server.shutdown()
        path = server.data_dir / "key-cache"
        path.write_bytes(damage(path.read_bytes()))
        server.start()
        wait_for(server.client(), "failed")
        assert server.log_path.read_text().count("the key cache is not warmed up") == 1
        read(server.client())
        server.restart("shutdown")
        wait_for(server.client(), "done")


def test_it_can_be_switched_off():
    with Server(key_cache_warmup=False) as server:
        client = server.client()
        fill(client)
        wait_for(client, "off")
        server.restart("shutdown")
        assert not (server.data_dir / "key-cache").exists()
        server.client().config_set("key-cache-warmup", "yes")
        read(server.client())
        server.shutdown()
        assert (server.data_dir / "key-cache").exists()
        server.start()
        wait_for(server.client(), "off")
