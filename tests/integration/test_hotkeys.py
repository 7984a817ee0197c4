# SPDX-License-Identifier: BSD-3-Clause
"""HOTKEYS of Redis 8.6: sessions that measure the time and the bytes of each key. tests/stats/hot_keys_test.cc tests
the sums themselves."""

import random

import pytest
import redis
from raw_client import RawClient
from waiting import wait_until

FIELDS = ["tracking-active", "sample-ratio", "selected-slots", "all-commands-all-slots-us",
          "net-bytes-all-commands-all-slots", "collection-start-time-unix-ms", "collection-duration-ms"]
OF_CPU = ["total-cpu-time-user-ms", "total-cpu-time-sys-ms"]

ERRORS = {
    "start": "METRICS parameter is required",
    "start METRICS": "METRICS parameter is required",
    "start COUNT 1 METRICS 1 CPU": "METRICS parameter is required",
    "start METRICS 0 CPU": "METRICS count must be > 0 and <= 2",
    "start METRICS x CPU": "METRICS count must be > 0 and <= 2",
    "start METRICS 3 CPU NET": "METRICS count must be > 0 and <= 2",
    "start METRICS 2 CPU": "METRICS count does not match number of metric types provided",
    "start METRICS 1 CPU NET": "syntax error",
    "start METRICS 1 GPU": "METRICS no valid metrics passed. Supported: CPU|NET",
    "start METRICS 2 CPU CPU": "METRICS CPU defined more than once!",
    "start METRICS 2 NET NET": "METRICS NET defined more than once!",
    "start METRICS 1 CPU COUNT 0": "COUNT must be between 1 and 64",
    "start METRICS 1 CPU COUNT 65": "COUNT must be between 1 and 64",
    "start METRICS 1 CPU DURATION 0": "DURATION must be between 1 and 1000000",
    "start METRICS 1 CPU SAMPLE 0": "SAMPLE ratio must be positive",
    "start METRICS 1 CPU SLOTS 2 0 5": "SLOTS parameter cannot be used in non-cluster mode",
    "start METRICS 1 CPU COUNT": "syntax error",
    "start METRICS 1 CPU OTHER 1": "syntax error",
    "get x": "wrong number of arguments for 'hotkeys|get' command",
}


@pytest.fixture(name="hotkeys")
def fixture_hotkeys(r):
    """Runs HOTKEYS; no session is left afterwards."""
    def run(*words):
        return r.execute_command("HOTKEYS", *words)

    yield run
    run("stop")
    run("reset")


def results(reply):
    """The map in a reply of HOTKEYS GET."""
    (flat,) = reply
    return {flat[i].decode(): flat[i + 1] for i in range(0, len(flat), 2)}


def pairs(flat):
    """Keys and their values."""
    return {flat[i]: flat[i + 1] for i in range(0, len(flat), 2)}


@pytest.mark.parametrize("words", ERRORS)
def test_errors_are_those_of_redis(hotkeys, words):
    with pytest.raises(redis.ResponseError) as error:
        hotkeys(*words.split())
    assert str(error.value) == ERRORS[words]
    assert hotkeys("get") is None


def test_a_session_is_started_stopped_and_reset(hotkeys):
    assert hotkeys("get") is None and hotkeys("stop") is None and hotkeys("reset") == b"OK"
    assert hotkeys("start", "metrics", 2, "GPU", "CPU") == b"OK"
    with pytest.raises(redis.ResponseError, match="hotkey tracking session already in progress"):
        hotkeys("start")
    with pytest.raises(redis.ResponseError, match="hotkey tracking session in progress, stop tracking first"):
        hotkeys("reset")
    assert results(hotkeys("get"))["tracking-active"] == 1
    assert hotkeys("stop") == b"OK" and hotkeys("stop") is None
    assert results(hotkeys("get"))["tracking-active"] == 0
    assert hotkeys("start", "METRICS", 1, "NET", "COUNT", 3, "DURATION", 10, "SAMPLE", 5) == b"OK"
    assert results(hotkeys("get"))["sample-ratio"] == 5


@pytest.mark.parametrize("metrics,fields", [
    (["CPU"], FIELDS + OF_CPU + ["by-cpu-time-us"]),
    (["NET"], FIELDS + ["total-net-bytes", "by-net-bytes"]),
    (["CPU", "NET"], FIELDS + OF_CPU + ["total-net-bytes", "by-cpu-time-us", "by-net-bytes"]),
])
def test_the_fields_are_those_of_the_metrics(hotkeys, r, metrics, fields):
    hotkeys("start", "METRICS", len(metrics), *metrics)
    r.set("k", "v")
    found = results(hotkeys("get"))
    assert list(found) == fields
    assert found["selected-slots"] == [[0, 16383]]
    assert 0 <= found["collection-duration-ms"] < 100_000


def test_the_reply_is_an_array_of_a_map_in_resp3(hotkeys, server):
    hotkeys("start", "METRICS", 1, "NET")
    kind, ((inner, _),) = RawClient(server.port, 3)("hotkeys", "get")
    assert (kind, inner) == (b"*", b"%")


def test_bytes_are_those_of_the_request_and_the_reply(hotkeys, r):
    """Divided by the command's keys; commands without keys do not count."""
    hotkeys("start", "METRICS", 1, "NET")
    r.set("k", "v")
    request, reply = b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n", b"+OK\r\n"
    assert pairs(results(hotkeys("get"))["by-net-bytes"]) == {b"k": len(request) + len(reply)}
    r.ping()
    r.mset({"a": 1, "b": 2})
    found = results(hotkeys("get"))
    by_bytes = pairs(found["by-net-bytes"])
    assert by_bytes[b"a"] == by_bytes[b"b"] > 0
    total = found["net-bytes-all-commands-all-slots"]
    assert found["total-net-bytes"] == total and sum(by_bytes.values()) in (total, total - 1)  # halves are cut


def test_commands_of_exec_count_and_calls_of_scripts_do_not(hotkeys, r):
    hotkeys("start", "METRICS", 1, "NET")
    with r.pipeline(transaction=True) as pipe:
        pipe.set("a", 1)
        pipe.rpush("b", 1)
        pipe.execute()
    r.eval("redis.call('set', KEYS[1], 1) return redis.call('set', 'other', 1)", 1, "declared")
    assert set(pairs(results(hotkeys("get"))["by-net-bytes"])) == {b"a", b"b", b"declared"}


def test_a_session_ends_after_its_duration(hotkeys, r):
    hotkeys("start", "METRICS", 1, "CPU", "DURATION", 1)
    wait_until(lambda: results(hotkeys("get"))["tracking-active"] == 0, "the end of the session")
    assert results(hotkeys("get"))["collection-duration-ms"] == 1000
    r.set("k", "v")
    assert results(hotkeys("get"))["by-cpu-time-us"] == []
    assert hotkeys("reset") == b"OK"


@pytest.mark.parametrize("ratio", [1, 20])
def test_hot_keys_are_found(hotkeys, r, ratio):
    """Four fifths of the commands go to 20 of 1,020 keys."""
    rng = random.Random(5)
    hotkeys("start", "METRICS", 2, "CPU", "NET", "SAMPLE", ratio)
    with r.pipeline(transaction=False) as pipe:
        for _ in range(30_000):
            pipe.set(f"hot{rng.randrange(20)}" if rng.random() < 0.8 else f"cold{rng.randrange(1000)}", "x" * 20)
        pipe.execute()
    hotkeys("stop")
    found = results(hotkeys("get"))
    assert len(pairs(found["by-net-bytes"])) == 10
    assert all(key.startswith(b"hot") for key in pairs(found["by-net-bytes"]))
    by_time = list(pairs(found["by-cpu-time-us"]))
    # A command that waits for a processor takes longer than all commands of a hot key together.
    assert any(key.startswith(b"hot") for key in by_time), by_time
    assert found["all-commands-all-slots-us"] > 0


def test_it_needs_permission_and_is_not_for_scripts(hotkeys, r, server):
    assert b"hotkeys|get" in r.execute_command("ACL", "CAT", "dangerous")
    with pytest.raises(redis.ResponseError, match="not allowed from script"):
        r.eval("return redis.call('hotkeys', 'get')", 0)
    assert b"START METRICS" in hotkeys("help")[1]
    assert server.is_running()
