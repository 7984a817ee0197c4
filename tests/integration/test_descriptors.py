# SPDX-License-Identifier: BSD-3-Clause
"""The limit on open files (ulimit -n): clients of any kind leave enough for RocksDB to continue to write."""

import contextlib
import os
import resource
import socket
import sys

import pytest
from harness import Server, default_command, free_port
from raw_client import RawClient
from waiting import wait_until

FEW = 310  # descriptors: some 70 for tables
TOO_MANY = b"-ERR max number of clients reached\r\n"
# Drops the capability to raise the hard limit (CAP_SYS_RESOURCE), which root has, before it runs the server.
LIMITED = """
import ctypes, os, resource, sys
ctypes.CDLL(None).prctl(24, 24, 0, 0, 0)
resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[1]), int(sys.argv[1])))
os.execvp(sys.argv[2], sys.argv[2:])
"""


@pytest.fixture(autouse=True, scope="module")
def _many_files():
    """Raises this process's limit to its hard limit."""
    old = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (old[1], old[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, old)


def limited_server(limit, **directives):
    """A server under `ulimit -n limit`."""
    return Server([sys.executable, "-c", LIMITED, str(limit), *default_command()], **directives)


def connect(port, count):
    """Opens connections that send nothing."""
    return [socket.create_connection(("127.0.0.1", port), 30) for _ in range(count)]


def is_refused(connection):
    """Whether the server has refused the connection with an error and closed it."""
    connection.setblocking(False)
    try:
        return connection.recv(100) == TOO_MANY
    except BlockingIOError:
        return False


def open_files(server):
    """The server's open files, from /proc."""
    found = []
    for fd in os.listdir(f"/proc/{server.pid}/fd"):
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            found.append(os.readlink(f"/proc/{server.pid}/fd/{fd}"))
    return found


def scrape(port):
    """The status line of the metrics page."""
    with socket.create_connection(("127.0.0.1", port), 30) as connection:
        connection.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
        return connection.makefile("rb").readline().strip()


@pytest.mark.slow
def test_a_flood_of_connections_leaves_descriptors_for_the_log():
    """RocksDB could not begin its next log, so writes were refused until a restart."""
    metrics_port = free_port()
    with limited_server(1024, metrics_port=metrics_port, memory_budget="64mb") as server:
        client = server.client()
        room = client.info("clients")["maxclients"]
        assert 300 < room < 1024 and client.config_get("maxclients") == {"maxclients": str(room)}
        assert f"maxclients is lowered from 10000 to {room}" in server.log_tail()
        idle = connect(server.port, 1200)
        silent = connect(metrics_port, 700)
        refused = 1200 + 1 - room
        wait_until(lambda: client.info("stats")["rejected_connections"] >= refused)
        assert sum(map(is_refused, idle)) == refused
        assert len([name for name in open_files(server) if name.startswith("socket:")]) <= room + 40
        value = os.urandom(1 << 20)
        for i in range(4):
            client.set(f"k{i}", value)
            client.execute_command("COMPACT")
            client.set(f"after{i}", "1")
        assert scrape(metrics_port) == b"HTTP/1.1 200 OK"
        assert client.info("persistence")["aof_last_write_status"] == "ok"
        assert client.info("stats")["rejected_connections"] == refused
        for connection in idle + silent:
            connection.close()
        wait_until(lambda: client.info("clients")["connected_clients"] == 1)
        assert server.client().get("after3") == b"1"


def test_maxclients_cannot_be_set_beyond_the_limit():
    with limited_server(1024) as server, RawClient(server.port) as client:
        room = int(client("config", "get", "maxclients")[1][1][1])
        _, refusal = client("config", "set", "maxclients", 100000)
        assert refusal.decode() == (
            "ERR CONFIG SET failed (possibly related to argument 'maxclients') - The operating system is not able to "
            f"handle the specified number of clients, try with {room}")
        assert client("config", "get", "maxclients")[1][1][1] == str(room).encode()
        assert client("config", "set", "maxclients", 10) == (b"+", b"OK")
        assert client("config", "set", "maxclients", room) == (b"+", b"OK")


def test_a_limit_that_is_too_low_is_reported():
    with pytest.raises(RuntimeError, match="'ulimit -n' of 150 is too low to start, at least [0-9]+ is needed"):
        limited_server(150)


def test_without_descriptors_clients_are_refused_and_accepted_later():
    """accept() failed again at once as long as a client was waiting."""
    with Server() as server, RawClient(server.port) as client:
        client("ping")
        old = resource.prlimit(server.pid, resource.RLIMIT_NOFILE)
        highest = max(map(int, os.listdir(f"/proc/{server.pid}/fd")))
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (highest + 2, old[1]))
        others, refused = [], 0
        while refused < 3 and len(others) < 50:
            others += connect(server.port, 1)
            others[-1].sendall(b"PING\r\n")
            refused += others[-1].recv(100) == TOO_MANY
        assert refused == 3
        assert client("set", "k", "v") == (b"+", b"OK")
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, old)
        with RawClient(server.port) as another:
            assert another("get", "k") == (b"$", b"v")
        assert server.log_tail().count("Accepting a client failed: Too many open files") in (1, 2)


@pytest.mark.slow
def test_more_tables_than_descriptors_can_be_read():
    """All tables were kept open, regardless of the limit."""
    keys = 0
    with limited_server(FEW, memory_budget="64mb", rocksdb_blob_min_size="1gb") as server:  # all in tables
        client = server.client()
        value = os.urandom(60_000)

        def are_too_many():
            """Compactions decide the number of tables, so keys are set until there are enough."""
            nonlocal keys
            pipe = client.pipeline(transaction=False)
            for i in range(keys, keys + 50):
                pipe.set(f"k{i}", i.to_bytes(4, "big") + value)
            pipe.execute()
            keys += 50
            return "tables are kept open now" in server.log_tail()

        wait_until(are_too_many)
        for _ in range(2):
            for i in range(7, keys, 31):
                assert client.get(f"k{i}")[:4] == i.to_bytes(4, "big")
                assert client.exists(f"none{i}") == 0
            assert sum(name.endswith(".sst") for name in open_files(server)) <= 70
            server.restart()
            client = server.client()
