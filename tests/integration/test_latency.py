# SPDX-License-Identifier: BSD-3-Clause
"""LATENCY and its subcommands compared with redis-server: events above latency-monitor-threshold, and the histograms of
all commands.

Redis's own unit/latency-monitor tests the sizes of samples. These tests check the form of replies, the error texts,
RESP3, and the events that only Cairn has.
"""

import time

import pytest
from harness import Server

BOUNDS_US = [1, 2, 4, 8, 16, 33, 66, 132, 264, 528, 1056, 2113, 4227, 8454, 16908, 33816, 67633,
             135266, 270532, 541065, 1082130]


@pytest.fixture(scope="module")
def slow():
    """A server with DEBUG SLEEP enabled, where 10 ms is an event."""
    with Server(enable_debug_command="yes", latency_monitor_threshold=10) as running:
        yield running.client()


def test_errors_equal_redis(pair):
    pair("latency", "graph", "nothing-of-that-name")
    pair("latency", "history", "nothing-of-that-name")
    pair("latency", "latest")
    pair("latency", "latest", "x")
    pair("latency", "history")
    pair("latency", "graph")
    pair("latency", "reset", "nothing-of-that-name")
    pair("latency", "doctor", "x")
    pair("latency", "nonsense")


@pytest.mark.parametrize("name", ["latency|doctor", "latency|graph", "latency|help",
                                  "latency|histogram", "latency|history", "latency|latest",
                                  "lolwut", "memory|stats", "memory|malloc-stats",
                                  "module|list", "module|load", "module|loadex", "module|unload"])
def test_rows_equal_redis(pair, name):
    pair("command", "info", name)


def test_a_slow_command_is_an_event_until_it_is_reset(slow):
    slow.execute_command("LATENCY RESET")
    slow.execute_command("DEBUG SLEEP", "0.05")
    (event, unix_s, last_ms, worst_ms), = slow.execute_command("LATENCY LATEST")
    assert event == b"command" and abs(unix_s - time.time()) < 60
    assert last_ms == worst_ms and 50 <= last_ms < 5000
    assert slow.execute_command("LATENCY HISTORY", "command") == [[unix_s, last_ms]]
    graph = slow.execute_command("LATENCY GRAPH", "command").decode()
    assert graph.startswith(f"command - high {last_ms} ms, low {last_ms} ms (all time high")
    assert f"1. command: 1 latency spikes (average {last_ms}ms" in str(
        slow.execute_command("LATENCY DOCTOR"))
    assert slow.execute_command("LATENCY RESET", "Command", "x") == 1
    assert slow.execute_command("LATENCY LATEST") == []


def test_the_doctor_bounds_its_advice_for_the_highest_threshold(slow):
    slow.execute_command("DEBUG SLEEP", "0.02")
    slow.config_set("latency-monitor-threshold", (1 << 63) - 1)
    slow.config_set("slowlog-log-slower-than", -1)
    assert "slowlog-log-slower-than 9223372036854775000'" in str(slow.execute_command("LATENCY DOCTOR"))
    slow.config_set("latency-monitor-threshold", 10)
    slow.config_set("slowlog-log-slower-than", 10000)


def test_a_second_has_one_sample_with_its_maximum(slow):
    slow.execute_command("LATENCY RESET")
    for seconds in ("0.02", "0.06", "0.02", "0.02"):
        slow.execute_command("DEBUG SLEEP", seconds)
    history = slow.execute_command("LATENCY HISTORY", "command")
    assert len({unix_s for unix_s, _ in history}) == len(history) <= 3
    assert max(ms for _, ms in history) >= 60


def test_durations_below_the_threshold_are_not_recorded(slow):
    slow.config_set("latency-monitor-threshold", 100000)
    slow.execute_command("LATENCY RESET")
    slow.execute_command("DEBUG SLEEP", "0.02")
    slow.config_set("latency-monitor-threshold", 10)
    assert slow.execute_command("LATENCY LATEST") == []


def test_a_slow_sync_is_an_event():
    # On any disk some sync of the log takes a millisecond.
    with Server(appendfsync="always", latency_monitor_threshold=1) as running:
        client = running.client()
        deadline = time.monotonic() + 60
        events = set()
        while not events & {b"aof-fsync-always", b"commit"} and time.monotonic() < deadline:
            for i in range(50):
                client.set(f"k{i}", b"x" * 10000)
            events = {event[0] for event in client.execute_command("LATENCY LATEST")}
        assert events & {b"aof-fsync-always", b"commit"}


def test_a_histogram_is_cumulative_with_redis_bounds(server):
    client = server.client()
    client.config_resetstat()
    for i in range(200):
        client.set(f"k{i}", "v")
    name, facts = client.execute_command("LATENCY HISTOGRAM", "set")
    assert name == b"set" and facts[:3] == [b"calls", 200, b"histogram_usec"]
    bounds, counts = facts[3][::2], facts[3][1::2]
    assert set(bounds) <= set(BOUNDS_US) and bounds == sorted(bounds)
    assert counts == sorted(set(counts)) and counts[-1] == 200


def test_a_histogram_is_a_map_of_maps_in_resp3(server):
    client = server.client(protocol=3)
    client.config_resetstat()
    client.get("k")
    client.client_id()
    reply = client.execute_command("LATENCY HISTOGRAM", "get", "client", "nonsense", "client|list")
    assert set(reply) == {b"get", b"client|id"} | {name for name in reply if b"client|" in name}
    assert reply[b"get"][b"calls"] == 1 and list(reply[b"get"][b"histogram_usec"].values()) == [1]
    assert b"config|resetstat" in client.execute_command("LATENCY HISTOGRAM")


def test_a_histogram_is_cleared_by_resetstat(server):
    client = server.client()
    client.get("k")
    client.config_resetstat()
    assert client.execute_command("LATENCY HISTOGRAM", "get") == []
