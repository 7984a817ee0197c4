# SPDX-License-Identifier: BSD-3-Clause
"""CLUSTER SLOT-STATS: which slots have the keys, and cost the time and the bytes."""

import contextlib

import pytest
import redis
from cluster_nodes import call, node_id, start_node
from harness import start_valkey
from redis.crc import key_slot

COSTS = ["cpu-usec", "network-bytes-in", "network-bytes-out"]


@pytest.fixture(name="node")
def fixture_node():
    """A node that owns slots 0 to 8191, and another that owns the rest."""
    with contextlib.ExitStack() as stack:
        node = start_node(stack)
        me, other = node_id(node), "b" * 40
        call(node, "CLUSTERX", "SETNODES",
             f"{me} 127.0.0.1 {node.port} master - 0-8191\n{other} 127.0.0.1 1 master - 8192-16383", 1)
        yield node


def stats(node, *arguments):
    """CLUSTER SLOT-STATS as (slot, metric -> value)."""
    return [(slot, dict(zip(pairs[::2], pairs[1::2])))
            for slot, pairs in call(node, "CLUSTER", "SLOT-STATS", *arguments)]


def of_slot(node, slot):
    """The metrics of one slot."""
    return stats(node, "SLOTSRANGE", slot, slot)[0][1]


def keys_of(slots, node, count=3):
    """`count` keys of each slot."""
    found = {slot: [] for slot in slots}
    for i in range(2000000):
        slot = key_slot(b"k%d" % i)
        if slot in found and len(found[slot]) < count:
            found[slot].append(f"k{i}")
            if all(len(keys) == count for keys in found.values()):
                return found
    raise AssertionError(f"no keys for {node}")


def test_only_the_slots_of_the_shard_are_shown(node):
    assert [slot for slot, _ in stats(node, "SLOTSRANGE", 8190, 8193)] == [8190, 8191]
    assert len(stats(node, "ORDERBY", "key-count")) == 8192
    assert of_slot(node, 0) == {"key-count": 0}


def test_keys_are_counted_by_slot_and_sorted(node):
    """DESC is the default; of equal slots the smaller comes first."""
    keys = keys_of([5, 6, 100], node)
    for slot, count in ((5, 1), (6, 3), (100, 3)):
        for key in keys[slot][:count]:
            call(node, "SET", key, "v")
    assert [of_slot(node, slot)["key-count"] for slot in (4, 5, 6, 100)] == [0, 1, 3, 3]
    first = stats(node, "ORDERBY", "KEY-COUNT", "LIMIT", 4)
    assert [(slot, metrics["key-count"]) for slot, metrics in first] == [(6, 3), (100, 3), (5, 1), (0, 0)]
    last = stats(node, "ORDERBY", "key-count", "ASC", "LIMIT", 2)
    assert [slot for slot, _ in last] == [0, 1]


def test_costs_are_measured_only_while_they_are_enabled(node):
    """The bytes are those of requests and replies; a transaction counts in the slot of its keys."""
    keys = keys_of([7, 9], node, 1)
    call(node, "SET", keys[7][0], "v")
    with pytest.raises(redis.ResponseError, match="Unrecognized sort metric"):
        call(node, "CLUSTER", "SLOT-STATS", "ORDERBY", "cpu-usec")
    call(node, "CONFIG", "SET", "cluster-slot-stats-enabled", "yes")
    assert of_slot(node, 7) == {"key-count": 1, **dict.fromkeys(COSTS, 0)}
    call(node, "GET", keys[7][0])
    request = f"*2\r\n$3\r\nGET\r\n${len(keys[7][0])}\r\n{keys[7][0]}\r\n"
    measured = of_slot(node, 7)
    assert (measured["network-bytes-in"], measured["network-bytes-out"]) == (len(request), len("$1\r\nv\r\n"))
    for i in range(50):
        call(node, "SET", keys[9][0], "x" * 1000 * i)
    assert of_slot(node, 9)["cpu-usec"] > 0 < of_slot(node, 9)["network-bytes-in"]
    assert stats(node, "ORDERBY", "network-bytes-in", "LIMIT", 1)[0][0] == 9
    before = of_slot(node, 7)["network-bytes-in"]
    with node.client().pipeline() as pipe:
        pipe.set(keys[7][0], "y" * 500).get(keys[7][0]).execute()
    assert of_slot(node, 7)["network-bytes-in"] > before + 500
    call(node, "PING")
    call(node, "CONFIG", "RESETSTAT")
    assert [of_slot(node, 7)[name] for name in COSTS] == [0, 0, 0]


def test_a_slot_that_left_and_came_back_begins_at_zero(node):
    call(node, "CONFIG", "SET", "cluster-slot-stats-enabled", "yes")
    (key,) = keys_of([20], node, 1)[20]
    call(node, "GET", key)
    assert of_slot(node, 20)["network-bytes-in"] > 0
    call(node, "CLUSTERX", "SETSLOT", 20, "NODE", "b" * 40, 2)
    assert stats(node, "SLOTSRANGE", 20, 20) == []
    call(node, "CLUSTERX", "SETSLOT", 20, "NODE", node_id(node), 3)
    assert of_slot(node, 20)["network-bytes-in"] == 0


@pytest.mark.slow
def test_replies_and_errors_are_those_of_valkey():
    """Whose documentation and Redis's agree; Redis 7.0 lacks the command."""
    calls = ["slotsrange 0 1", "slotsrange 5 1", "slotsrange 0 16384", "slotsrange a 1", "slotsrange 0",
             "slotsrange 0 1 2", "slotsrange 98 101", "orderby foo", "orderby cpu-usec", "orderby key-count limit 0",
             "orderby key-count limit 16385", "orderby key-count limit a", "orderby key-count limit 2 asc",
             "orderby key-count desc limit 1", "orderby key-count limit", "orderby key-count asc desc",
             "orderby key-count limit 1 limit 2", "orderby key-count foo", "foo 1 2", "orderby"]

    def reply(server, line):
        try:
            return call(server, "CLUSTER", "SLOT-STATS", *line.split())
        except redis.ResponseError as error:
            return str(error)

    with contextlib.ExitStack() as stack:
        ours = start_node(stack)
        theirs = stack.enter_context(start_valkey(cluster_enabled=True))
        for server in (ours, theirs):
            call(server, "CLUSTER", "ADDSLOTSRANGE", 0, 99)
            call(server, "CONFIG", "RESETSTAT")
        for line in calls:
            assert reply(ours, line) == reply(theirs, line), line
        for server in (ours, theirs):
            call(server, "CONFIG", "SET", "cluster-slot-stats-enabled", "yes")
        assert reply(ours, "slotsrange 0 3") == reply(theirs, "slotsrange 0 3")
