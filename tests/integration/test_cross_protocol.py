# SPDX-License-Identifier: BSD-3-Clause
"""Browsers that are tricked into talking to the port: the connection ends before a command of the request's body runs.

A page may POST a form whose body contains commands to any address. The header lines of the request are invalid
commands. One of them begins with POST or Host:, and there the server closes the connection.
"""

import socket

import pytest
from harness import Server, start_redis
from waiting import wait_until

REQUESTS = [
    b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nSET k v\r\n",
    b"GET / HTTP/1.1\r\nUser-Agent: x\r\nHOST: 127.0.0.1:6380\r\n\r\nSET k v\r\n",
    b"post\r\nSET k v\r\n",
    b"*1\r\n$5\r\nHost:\r\n*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n",
    b"MULTI\r\nPOST /\r\nSET k v\r\nEXEC\r\n",
    b"POSTED /\r\nHost\r\nECHO on\r\nQUIT\r\n",
]


def answer(server, request):
    """All bytes until the connection ends."""
    with socket.create_connection(("127.0.0.1", server.port), 30) as connection:
        connection.sendall(request)
        connection.settimeout(60)
        got = b""
        try:
            while piece := connection.recv(1000):
                got += piece
        except ConnectionResetError:
            pass
        return got


@pytest.mark.parametrize("request_bytes", REQUESTS, ids=lambda request: request.split(b"\r")[0].decode())
def test_a_request_over_http_ends_as_in_redis(server, redis_server, request_bytes):
    assert answer(server, request_bytes) == answer(redis_server, request_bytes)
    assert server.client().exists("k") == redis_server.client().exists("k") == 0
    assert server.client().ping()


WARNING = "Possible SECURITY ATTACK detected"


# Once a minute: a thousand requests a second must not fill the disk with log lines.
def test_the_log_reports_it_once():
    with Server() as ours, start_redis() as theirs:
        for server in (ours, theirs):
            for request in REQUESTS[:5] * 3:
                answer(server, request)
            wait_until(lambda server=server: WARNING in server.log_tail(1000), "the warning")
            assert server.log_tail(1000).count(WARNING) == 1


def test_clients_that_have_not_authenticated_are_disconnected_too():
    with Server(requirepass="secret") as server:
        assert answer(server, REQUESTS[0]) == b""
