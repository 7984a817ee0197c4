# SPDX-License-Identifier: BSD-3-Clause
"""MEMORY STATS, MALLOC-STATS, DOCTOR and PURGE, LOLWUT and MODULE: commands that tools send to any server."""

import contextlib
import socket

import cgroups
import pytest
import redis
from harness import Server
from waiting import wait_until


def pairs(reply):
    """A flat array of names and values as a dictionary."""
    return dict(zip(reply[::2], reply[1::2]))


def test_memory_stats_has_redis_fields_in_redis_types(pair):
    def shape(client):
        client("set", "k", "v")
        kind, fields = client("memory", "stats")
        return kind, [(name, value[0]) for name, value in zip(fields[::2], fields[1::2])]

    assert shape(pair.ours) == shape(pair.theirs)


@pytest.mark.measures("memory")
def test_memory_stats_adds_up(server):
    client = server.client()
    for i in range(1000):
        client.set(f"k{i}", b"x" * 1000)
    stats = pairs(client.execute_command("MEMORY", "STATS", NEVER_DECODE=True))
    assert stats[b"keys.count"] == 1000
    assert stats[b"dataset.bytes"] > 1000 * 1000
    assert stats[b"dataset.bytes"] + stats[b"overhead.total"] == stats[b"total.allocated"]
    assert stats[b"peak.allocated"] >= stats[b"total.allocated"] > stats[b"startup.allocated"] > 0


def test_memory_reports_are_texts(server):
    client = server.client()
    assert b"jemalloc statistics" in client.execute_command("MEMORY MALLOC-STATS")
    assert b"budget" in client.execute_command("MEMORY DOCTOR")
    assert client.execute_command("MEMORY PURGE") in (True, b"OK")


def test_lolwut_ends_with_the_version(server):
    client = server.client()
    version = client.info("server")["redis_version"]
    for arguments in ((), ("VERSION", 5), ("VERSION", 6, 20, 3), ("nonsense",)):
        text = client.execute_command("LOLWUT", *arguments).decode()
        assert text.endswith(f"\nRedis ver. {version}\n")
    small = client.execute_command("LOLWUT", "VERSION", 5, 20, 3).decode()
    assert all(len(line) <= 20 + 3 for line in small.splitlines()) and small.count("(") == 3


@pytest.mark.parametrize("command", [
    ("lolwut", "version", "x"), ("lolwut", "version", "5", "x"),
    ("module", "load", "/nowhere"), ("module", "unload", "x"), ("module", "nonsense"),
    ("module", "list", "x")])
def test_replies_equal_redis(pair, command):
    pair(*command)


@pytest.mark.skipif(not cgroups.may_make(), reason="only root makes a cgroup")
def test_the_default_budget_is_a_share_of_the_cgroups_limit():
    """Of the server's own group, not of the root: systemd's MemoryMax= limits that one."""
    limit = 1 << 30
    with cgroups.memory_cgroup(limit) as group, Server(start=False) as server:
        cgroups.start_in(group, server)
        assert server.client().info("cairn")["memory_budget"] == limit // 10 * 4
        server.shutdown()


def test_a_budget_beyond_the_machine_is_refused(server):
    """The caches would be made for it."""
    client = server.client()
    before = client.config_get("memory-budget")
    with pytest.raises(redis.ResponseError, match="more than the memory of the machine"):
        client.config_set("memory-budget", 2**63 - 1)
    assert client.config_get("memory-budget") == before


def test_clients_count_before_their_first_command(server):
    """Thousands that have just connected would not be in the sum of INFO's parts."""
    client, count = server.client(), 200
    before = client.info("cairn")["used_client_bytes"]
    with contextlib.ExitStack() as connections:
        for _ in range(count):
            connections.enter_context(socket.create_connection((server.host, server.port)))
        wait_until(lambda: client.info("clients")["connected_clients"] > count, "the connections", pause_s=0)
        assert client.info("cairn")["used_client_bytes"] - before > count * 1000
