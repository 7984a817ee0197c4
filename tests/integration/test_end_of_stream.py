# SPDX-License-Identifier: BSD-3-Clause
"""A client that closes its side, or its connection, right after its last request: all requests run, as in Redis.

`printf '...' | nc -N` and clients that do not wait for replies do this. Each test makes the server interrupt the
pipeline for another reason, while the end of the stream has already arrived.
"""

import socket

import pytest
from harness import Server, free_port
from raw_client import RawClient
from waiting import wait_for_blocked, wait_until


def send_last(client, *commands):
    """Sends commands and the end of the stream in one TCP segment, so the server receives both at the same time."""
    client.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
    client.send_together(*commands)
    client.socket.shutdown(socket.SHUT_WR)


@pytest.mark.parametrize("reads", [True, False], ids=["reads its replies", "is gone"])
def test_writes_that_wake_blocked_clients_are_all_run(server, r, reads):
    """Each of the first two pushes ends a tick, so the replies are sent in three parts. A client that has closed its
    connection resets it at the first part."""
    with RawClient(server.port) as client, RawClient(server.port) as first, RawClient(server.port) as second:
        for count, blocked in enumerate((first, second), 1):
            blocked.send("blpop", "q", 0)
            wait_for_blocked(server, count)
        send_last(client, *(("rpush", "q", n) for n in range(1, 5)))
        if reads:
            assert client.stream.read().count(b":") == 4
        else:
            client.close()
        wait_until(lambda: r.lrange("q", 0, -1) == [b"3", b"4"])
        assert sorted(blocked.read()[1][1] for blocked in (first, second)) == [(b"$", b"1"), (b"$", b"2")]


def test_requests_after_a_write_of_the_slow_lane_are_run(server, r):
    """KEYS moves the connection to the slow lane, and it returns after the first write."""
    with RawClient(server.port) as client:
        send_last(client, ("keys", "*"), ("set", "a", 1), ("set", "b", 2))
        assert client.stream.read() == b"*0\r\n+OK\r\n+OK\r\n"
    assert r.mget("a", "b") == [b"1", b"2"]


@pytest.mark.parametrize("value_bytes,gets", [(300_000, 4), (1 << 20, 40)], ids=["one turn", "unread replies"])
def test_requests_after_large_replies_are_run(server, r, value_bytes, gets):
    """A connection runs no more requests in this turn, or until its client has read some replies."""
    r.set("large", b"x" * value_bytes)
    with RawClient(server.port) as client:
        send_last(client, *[("get", "large")] * gets, ("set", "after", 1))
        while client.socket.recv(1 << 20):
            pass
    assert r.get("after") == b"1"


def test_requests_above_a_qps_limit_are_run():
    """The limit delays them."""
    port = free_port()
    with Server(listen=f"127.0.0.1:{port} qps-limit 20") as server, RawClient(port) as client:
        send_last(client, *[("incr", "n")] * 24)
        watcher = server.client()
        wait_until(lambda: watcher.get("n") == b"24")
