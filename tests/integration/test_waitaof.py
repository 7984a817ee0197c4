# SPDX-License-Identifier: BSD-3-Clause
"""WAITAOF's first number is 1 for writes that are on the disk, and only for those."""

import contextlib
import time

import pytest
from fake_peers import FakeReplica
from harness import by_size
from pairs import start
from raw_client import RawClient
from waiting import assert_stays, wait_until

pytestmark = pytest.mark.slow


def is_synced(client):
    """WAITAOF's reply about this server without waiting."""
    kind, (local, _) = client("waitaof", 0, 0, 0)
    assert kind == b"*"
    return local == (b":", b"1")


def replica_of(server, wanted):
    """A replica of the server until the block ends, if `wanted`."""
    return FakeReplica(server.port) if wanted else contextlib.nullcontext()


@pytest.mark.parametrize("with_log", [False, True], ids=["alone", "with a replica"])
def test_writes_are_not_synced_before_a_sync(with_log):
    """Under `appendfsync no` no write is on the disk before a client waits for that."""
    directives = {"appendfsync": "no", "repl_ping_replica_period": 3600}
    with start("cairn", **directives) as server, RawClient(server.port) as client, replica_of(server, with_log):
        for number in range(3):
            client("set", "a", number)
            assert not is_synced(client)
            assert_stays(lambda: not is_synced(client), 0.2, "the wait")
            assert client("waitaof", 1, 0, 0) == (b"*", [(b":", b"1"), (b":", b"0")])
            assert is_synced(client)


def test_under_always_everything_is_synced():
    """Also the writes before it became `always`."""
    with start("cairn", appendfsync="no") as server, RawClient(server.port) as client:
        client("set", "a", 1)
        assert not is_synced(client)
        client("config", "set", "appendfsync", "always")
        assert is_synced(client)
        for number in range(20):
            client("set", "a", number)
            assert is_synced(client)
        client("config", "set", "appendfsync", "no")
        assert is_synced(client)


@pytest.mark.parametrize("with_log", [False, True], ids=["alone", "with a replica"])
def test_every_second_is_enough(with_log):
    """A write shortly before a sync is synced by it or by the next one, even if no client writes any more."""
    with (start("cairn", repl_ping_replica_period=3600) as server, RawClient(server.port) as client,
          replica_of(server, with_log)):
        for number in range(by_size(1, 3, 7)):
            client("set", "phase", number)
            wait_until(lambda: is_synced(client), "the sync")
            time.sleep(0.98)  # the next sync comes a second after the last one
            client("set", "a", number)
            wait_until(lambda: is_synced(client), "the sync after it")
