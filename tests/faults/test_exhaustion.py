# SPDX-License-Identifier: BSD-3-Clause
"""A server without memory or threads, or with clients that do not read or vanish: the cause gets an error, others are
served.

The limit on open files is in tests/integration/test_descriptors.py.
"""

import os
import random
import resource
import shutil
import socket
import sys

import pytest
import redis

from harness import Server, by_size, default_command
from raw_client import RawClient
from waiting import wait_until

MB = 1 << 20
UNUSED_UID = 64713  # the limit on threads is per user, and root has none
# Runs the server as a user that has no other process, with a limit on the number of its threads.
FEW_THREADS = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_NPROC, (int(sys.argv[1]),) * 2)
os.setgroups([]), os.setgid(int(sys.argv[2])), os.setuid(int(sys.argv[2]))
os.execvp(sys.argv[3], sys.argv[3:])
"""
TCP_REPAIR = 19
NEEDS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can do this")


def open_files(server):
    """The number of the server's descriptors."""
    return len(os.listdir(f"/proc/{server.pid}/fd"))


def limit_memory(server, room):
    """Leaves the process so many bytes of address space."""
    with open(f"/proc/{server.pid}/statm", encoding="ascii") as statm:
        used = int(statm.read().split()[0]) * resource.getpagesize()
    resource.prlimit(server.pid, resource.RLIMIT_AS, (used + room, resource.RLIM_INFINITY))


# Before, std::bad_alloc ended the server.
def test_a_command_that_gets_no_memory_fails_alone():
    with Server(proto_max_bulk_len="2gb") as server, RawClient(server.port) as client:
        for key in "ab":
            client("set", key, os.urandom(22000))
        client("set", "k", "v")
        limit_memory(server, 30 * MB)
        for _ in range(2):
            _, error = client("lcs", "a", "b", "idx")  # a table of 60 MB
            assert error == b"ERR out of memory: the server cannot allocate what the command needs"
        client("multi")
        client("set", "k", "w")
        client("lcs", "a", "b", "idx")
        client("incr", "n")
        kind, replies = client("exec")
        assert (kind, replies[0], replies[1][0], replies[2]) == (b"*", (b"+", b"OK"), b"-", (b":", b"1"))
        with RawClient(server.port) as another:
            assert another("get", "k") == (b"$", b"w")


def test_large_values_without_memory_end_no_server():
    """Reading the request, copying the value and committing it each fail, according to the room that is left."""
    with Server(memory_budget="256mb") as server:
        server.client().set("k", os.urandom(6 * MB))
        for room in (40, 10, 0):
            limit_memory(server, room * MB)
            for words in (["set", "v", bytes(12 * MB)], ["append", "a", bytes(5 * MB)], ["copy", "k", "c"],
                          ["dump", "k"]):
                try:
                    server.client().execute_command(*words)
                except redis.ResponseError as error:
                    assert "out of memory" in str(error)
                except redis.RedisError:
                    pass
                assert server.is_running(), server.log_tail()
        resource.prlimit(server.pid, resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        client = server.client()
        assert client.set("v", bytes(12 * MB))
        assert client.strlen("k") == 6 * MB


@NEEDS_ROOT
def test_a_start_without_threads_says_so():
    server = Server(start=False)
    program = shutil.copy(default_command()[0], server.data_dir)  # the user may not read the original
    server.command = [sys.executable, "-c", FEW_THREADS, "6", str(UNUSED_UID), program]
    os.chown(server.data_dir, UNUSED_UID, UNUSED_UID)
    with pytest.raises(RuntimeError, match="FATAL: a thread cannot be started; raise ulimit -u"):
        server.start()
    assert server.process.returncode == 1
    server.close()


def test_connections_that_come_and_go_leave_nothing_behind():
    count = by_size(200, 500, 5000)
    rng = random.Random(1)
    with Server(memory_budget="128mb") as server:
        client = server.client()
        client.set("k", "v")
        files = open_files(server)

        def connect():
            connection = socket.create_connection((server.host, server.port), 30)
            connection.sendall(rng.choice([b"", b"GET k\r\n", b"*2\r\n$3\r\nGE", b"SUBSCRIBE c\r\n", b"BLPOP l 0\r\n"]))
            return connection

        connections = [connect() for _ in range(count)]
        wait_until(lambda: client.info("clients")["connected_clients"] == count + 1)
        memory = server.resident_bytes()
        for _ in range(4 * count):
            place = rng.randrange(count)
            connections[place].close()
            connections[place] = connect()
        assert client.get("k") == b"v"
        wait_until(lambda: client.info("clients")["connected_clients"] == count + 1)
        assert server.resident_bytes() < memory + 16 * MB
        for connection in connections:
            connection.close()
        wait_until(lambda: open_files(server) <= files, "the close of all connections")


@pytest.mark.parametrize("request_", [b"GET k\r\n", b"PING\r\n"])
def test_a_pipeline_whose_replies_are_not_read_is_bounded(request_):
    with Server(memory_budget="64mb") as server, server.client() as client:
        client.set("k", "v" * 100)
        chunk = request_ * (MB // len(request_))
        with socket.create_connection((server.host, server.port), 60) as greedy:
            with pytest.raises(OSError):  # noqa: PT011
                for _ in range(1024):
                    greedy.sendall(chunk)
                    assert server.resident_bytes() < 128 * MB
                    assert client.get("k")
        assert "Evicting client" in server.log_tail()


@NEEDS_ROOT
def test_a_peer_that_is_gone_without_a_word_is_closed_by_keepalive():
    """Its socket is closed in repair mode, which sends nothing, as if its machine had lost power and started again."""
    with Server(tcp_keepalive=1) as server, server.client() as client:
        client.set("k", "v")
        peer = socket.create_connection((server.host, server.port), 30)
        peer.sendall(b"SUBSCRIBE c\r\n")
        assert peer.recv(100)
        assert client.pubsub_numsub("c") == [(b"c", 1)]
        try:
            peer.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR, 1)
        except PermissionError:
            pytest.skip("TCP_REPAIR is not permitted")
        peer.close()
        wait_until(lambda: client.pubsub_numsub("c") == [(b"c", 0)], "the close of the connection")
