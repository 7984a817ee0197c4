# SPDX-License-Identifier: BSD-3-Clause
"""A collection's id is assigned only once, even if the disk refuses to record that it is in use.

Two collections with one id would show each other's members, and DEL of one would delete the other.
"""

import errno

import pytest
import redis

from fault_control import Faults
from harness import Server
from waiting import wait_until

MEMBERS = 700
SOME_SECONDS = 600_000_000  # iterations of an empty loop
# Draws an id and commits seconds later, when the disk accepts writes again.
SLOW_SET = """
local members = {}
for i = 1, ARGV[2] / 100 do end  -- on the slow lane from here on
for i = 1, ARGV[1] do members[i] = KEYS[1] .. i end
redis.call('SADD', KEYS[1], unpack(members))
for i = 1, ARGV[2] do end
return 'done'
"""


def members_of(name):
    """The members that SLOW_SET adds to a set of this name."""
    return {f"{name}{i}".encode() for i in range(1, MEMBERS + 1)}


def make_set(client, name, turns=0):
    """Whether the set was created; if not, no part of it exists."""
    try:
        return client.eval(SLOW_SET, 1, name, MEMBERS, turns) == b"done"
    except redis.ResponseError as error:
        assert "MISCONF" in str(error), error
        return False


@pytest.mark.slow
def test_no_id_is_used_twice_after_a_refused_reservation():
    with Faults() as faults, Server(command=faults.command()) as server:
        client = server.client()
        client.set("before", "x")
        faults.arm("write", errno.ENOSPC, path="*.log")
        is_made = make_set(client, "first", SOME_SECONDS)
        faults.wait_fired()
        if not is_made:
            wait_until(lambda: make_set(client, "first"), "a write", server, pause_s=0.1)
        server.kill9()
        server.start()
        client = server.client()
        assert make_set(client, "second")
        for name in ("first", "second"):
            assert client.smembers(name) == members_of(name), name
        client.delete("second")
        client.execute_command("COMPACT")
        assert client.smembers("first") == members_of("first")
