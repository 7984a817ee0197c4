# SPDX-License-Identifier: BSD-3-Clause
"""Commands wait for the keys of a commit with a slow fsync while the server's role changes."""

import pytest
import redis

from fault_control import Faults
from pairs import send_and_see, start
from raw_client import RawClient
from waiting import wait_until

HELD_MS = 600_000  # a test ends the delay before


@pytest.fixture(name="faults")
def fixture_faults():
    with Faults() as faults:
        yield faults


@pytest.fixture(name="server")
def fixture_server(faults):
    with start("cairn", command=faults.command(), appendfsync="always") as server:
        yield server


def library(name):
    """The code of a library with one function of the same name."""
    return f"#!lua name={name}\nredis.register_function('{name}', function() return 1 end)"


def refuses_writes(client):
    """Whether the server refuses DEL because it is a replica; the DEL has nothing to commit on a primary."""
    try:
        return client.delete("missing") > 0
    except redis.exceptions.ReadOnlyError:
        return True


def test_a_function_load_that_waited_is_refused_by_a_replica(faults, server):
    """A FUNCTION LOAD that waits for another one is refused if the server becomes a replica meanwhile."""
    first, second, demoter = (RawClient(server.port) for _ in range(3))
    faults.arm("sync", path="*.log", delay_ms=HELD_MS)
    first.send("function", "load", library("first"))
    faults.wait_fired()
    send_and_see(server, second, "function", "load", library("second"), shown="function|load")
    demoter.send("replicaof", "127.0.0.1", 1)
    with server.client() as client:
        wait_until(lambda: refuses_writes(client), "REPLICAOF")
        faults.disarm()
        assert first.read() == (b"$", b"first")
        kind, text = second.read()
        assert kind == b"-" and text.startswith(b"READONLY"), text
        assert demoter.read() == (b"+", b"OK")
        assert [listed[1] for listed in client.execute_command("FUNCTION", "LIST")] == [b"first"]
