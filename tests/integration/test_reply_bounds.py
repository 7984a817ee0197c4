# SPDX-License-Identifier: BSD-3-Clause
"""Replies are limited: unread replies delay the next requests, and a reply over the limit ends the connection.

Memory is measured by the kernel's peak of the process since the start of the load.
"""

import contextlib
import socket

import pytest
from harness import Server
from waiting import assert_stays, wait_until

MB = 1 << 20

@pytest.fixture(name="server", scope="module")
def fixture_server():
    """A server whose clients may use 24 MB together."""
    with Server(memory_budget="128mb", maxmemory_clients="24mb") as running:
        own = running.client()
        own.set("large", b"x" * MB)
        own.sadd("set", "member", "other")
        own.hset("hash", mapping={"field": "value", "other": "value"})
        own.zadd("zset", {"member": 1, "other": 2})
        for _ in range(100):
            own.rpush("list", *[b"x" * 1000 for _ in range(500)])
        yield running

def connect(server, receive_bytes=None):
    """A raw connection, optionally with a small receive buffer in the kernel."""
    connection = socket.socket()
    if receive_bytes:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
    connection.connect((server.host, server.port))
    connection.settimeout(60)
    return connection

def receive(connection, size):
    """Receives exactly this many bytes."""
    received = bytearray()
    while len(received) < size:
        piece = connection.recv(min(MB, size - len(received)))
        assert piece, f"closed after {len(received)} bytes"
        received += piece
    return bytes(received)

@pytest.mark.slow
@pytest.mark.measures("memory")
def test_a_pipeline_waits_until_its_replies_are_read(server):
    """A few kilobytes of requests for large values do not create gigabytes of replies; a slow reader gets all of
    them."""
    count = 600
    one = b"$%d\r\n" % MB + b"x" * MB + b"\r\n"
    before = server.begin_peak()
    with connect(server) as lazy:
        lazy.sendall(b"GET large\r\n" * count + b"ECHO end\r\n")
        assert_stays(server.client().ping, 1, "the answer to others")
        assert server.peak_bytes() - before < 64 * MB
        for _ in range(count):
            assert receive(lazy, len(one)) == one
        assert receive(lazy, 9) == b"$3\r\nend\r\n"
    assert server.peak_bytes() - before < 64 * MB

def test_requests_are_received_while_replies_wait(server):
    """A client that writes a whole long pipeline before it reads is served: its writes do not block forever."""
    with connect(server, 64 * 1024) as writer:
        get = b"GET large\r\n" * 40
        echo = b"*2\r\n$4\r\nECHO\r\n$100000\r\n" + b"e" * 100000 + b"\r\n"
        writer.sendall(get + echo * 50)
        for _ in range(40):
            receive(writer, MB + len(f"${MB}\r\n\r\n"))
        for _ in range(50):
            assert receive(writer, 100000 + len("$100000\r\n\r\n")).startswith(b"$100000\r\ne")

def test_writes_after_unread_replies_run_when_the_client_reads(server):
    """The server pauses between two requests: none is lost and none runs twice."""
    own = server.client()
    own.delete("counter")
    with connect(server) as lazy:
        lazy.sendall((b"GET large\r\n" + b"INCR counter\r\n") * 100)
        assert_stays(lambda: int(own.get("counter") or 0) < 100, 0.3, "the wait")
        for number in range(100):
            receive(lazy, MB + len(f"${MB}\r\n\r\n"))
            expected = b":%d\r\n" % (number + 1)
            assert receive(lazy, len(expected)) == expected
    assert own.get("counter") == b"100"

def is_disconnected(connection):
    """Asserts that the server closes the connection without a complete reply."""
    with contextlib.suppress(ConnectionError):
        received = 0
        while piece := connection.recv(MB):
            received += len(piece)
            assert received < 64 * MB
    return True

MANY = {
    "GET": b"SETBIT sparse 3000000000 1\r\nGET sparse\r\n",
    "SRANDMEMBER": b"SRANDMEMBER set -2147483648\r\n",
    "HRANDFIELD": b"HRANDFIELD hash -2147483648 WITHVALUES\r\n",
    "ZRANDMEMBER": b"ZRANDMEMBER zset -2147483648\r\n",
    "LRANGE": b"LRANGE list 0 -1\r\n",
    "MGET": b"MGET " + b"large " * 200 + b"\r\n",
    "SORT": b"DEL keys\r\nRPUSH keys" + b" a" * 20 + b"\r\nSETRANGE large_a 20000000 x\r\n"
            b"SORT keys BY nosort GET large_*\r\n",
    "EXEC": b"MULTI\r\n" + b"GET large\r\n" * 200 + b"EXEC\r\n",

}

@pytest.mark.parametrize("what", MANY)
@pytest.mark.measures("memory")
def test_a_reply_over_the_limit_ends_the_connection(server, what):
    """All kinds of replies are counted while they are written."""
    before = server.begin_peak()
    evicted = server.client().info("stats")["evicted_clients"]
    with connect(server) as greedy:
        greedy.sendall(MANY[what])
        assert is_disconnected(greedy)
    assert server.client().info("stats")["evicted_clients"] == evicted + 1
    assert server.peak_bytes() - before < 80 * MB
    assert "Evicting client" in server.log_tail()

@pytest.mark.measures("memory")
def test_the_names_of_the_keys_of_a_slot_are_limited():
    """CLUSTER GETKEYSINSLOT writes each name to its reply at once, which is counted."""
    with Server(cluster_enabled="yes", memory_budget="128mb", maxmemory_clients="24mb") as server:
        own = server.client()
        own.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        wait_until(lambda: b"cluster_state:ok" in own.execute_command("CLUSTER", "INFO"), "the node to serve", server)
        for i in range(200):
            own.set(f"{{name}}{i}" + "k" * (MB - 10), "")
        before = server.begin_peak()
        with connect(server) as greedy:
            greedy.sendall(b"CLUSTER GETKEYSINSLOT %d 1000\r\n" % own.cluster("KEYSLOT", "{name}"))
            assert is_disconnected(greedy)
        assert server.peak_bytes() - before < 80 * MB

def test_exec_writes_are_kept_although_its_reply_is_cut(server):
    """As in Redis: the transaction is complete, and its reply is lost with the connection."""
    own = server.client()
    own.delete("before", "after")
    with connect(server) as greedy:
        greedy.sendall(b"MULTI\r\nSET before 1\r\n" + b"GET large\r\n" * 100 + b"SET after 1\r\nEXEC\r\n")
        assert is_disconnected(greedy)
    assert own.mget("before", "after") == [b"1", b"1"]

@pytest.mark.measures("memory")
def test_the_output_limit_ends_a_reply_that_grows_beyond_it():
    """client-output-buffer-limit limits a reply that is being written, even if all clients together have no limit."""
    with Server(memory_budget="128mb", maxmemory_clients="0", client_output_buffer_limit="normal 4mb 0 0") as server:
        server.client().sadd("set", "member", "other")
        before = server.begin_peak()
        with connect(server) as greedy:
            greedy.sendall(MANY["SRANDMEMBER"])
            assert is_disconnected(greedy)
        assert server.peak_bytes() - before < 40 * MB
        wait_until(lambda: "exceed client-output-buffer-limit" in server.log_tail())
