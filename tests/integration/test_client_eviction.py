# SPDX-License-Identifier: BSD-3-Clause
"""maxmemory-clients evicts the clients with the most memory and no others, in Cairn as in redis-server."""

import socket
import threading

import pytest
import redis
from harness import Server, start_redis
from pairs import follow
from waiting import wait_until

MB = 1 << 20


@pytest.fixture(params=["cairn", "redis"])
def server(request):
    """A server of each kind."""
    start = Server if request.param == "cairn" else start_redis
    with start() as running:
        yield running


def client(server, name):
    """A connection with a name."""
    own = server.client(single_connection_client=True)
    own.client_setname(name)
    return own


def control(server):
    """A connection that is never evicted."""
    own = client(server, "control")
    own.client_no_evict("ON")
    return own


def fill(server, name, size):
    """A raw connection with a name that has sent `size` bytes of an unfinished argument."""
    connection = socket.create_connection((server.host, server.port), 30)
    connection.sendall(f"CLIENT SETNAME {name}\r\n".encode())
    assert connection.recv(64) == b"+OK\r\n"
    try:
        connection.sendall(b"*2\r\n$%d\r\n" % size + b"v" * size)
    except OSError:
        pass  # it was evicted meanwhile
    return connection


def names(control_client):
    """The names of the connected clients, sorted."""
    return sorted(one["name"] for one in control_client.client_list())


def memory(control_client, name):
    """The tot-mem of a client."""
    return next(int(one["tot-mem"]) for one in control_client.client_list() if one["name"] == name)


def is_let_in(server):
    """Whether a new client is served."""
    try:
        with server.client(single_connection_client=True) as own:
            return own.ping()
    except redis.ConnectionError:
        return False


def test_the_value_is_bytes_or_percent(server):
    """Accepted values, how they are shown, and the errors of other values."""
    own = server.client()
    for value, shown in (("0", "0"), ("1gb", str(1 << 30)), ("5%", "5%"), ("0%", "0"), ("100%", "100%")):
        own.config_set("maxmemory-clients", value)
        assert own.config_get("maxmemory-clients") == {"maxmemory-clients": shown}
    failed = r"CONFIG SET failed \(possibly related to argument 'maxmemory-clients'\) - "
    for value in ("-1", "-5%", "foo", "1.5%"):
        with pytest.raises(redis.ResponseError, match=failed + "argument must be a memory or percent value"):
            own.config_set("maxmemory-clients", value)
    with pytest.raises(redis.ResponseError, match=failed + "percentage argument must be less or equal to 100"):
        own.config_set("maxmemory-clients", "101%")


def test_the_largest_are_evicted_until_the_rest_is_within_the_limit(server):
    """Two sizes: large clients are evicted first, as many as needed, and INFO counts them."""
    own = control(server)
    kept = [fill(server, f"small{i}", MB // 4) for i in range(3)]
    kept += [fill(server, f"large{i}", 2 * MB) for i in range(3)]
    wait_until(lambda: all(memory(own, f"large{i}") > 2 * MB for i in range(3)))
    one = memory(own, "large0")
    own.config_set("maxmemory-clients", one + 2 * MB)
    assert names(own) == ["control", *(n for n in names(own) if n.startswith("large")), "small0", "small1", "small2"]
    assert sum(n.startswith("large") for n in names(own)) == 1
    assert own.info("stats")["evicted_clients"] == 2
    own.config_set("maxmemory-clients", MB + MB // 4)
    assert names(own) == ["control", "small0", "small1", "small2"]
    assert own.info("stats")["evicted_clients"] == 3
    own.config_resetstat()
    assert own.info("stats")["evicted_clients"] == 0
    for connection in kept:
        connection.close()


@pytest.mark.parametrize("what", ["argument", "transaction", "replies", "watch", "subscriptions", "prefixes"])
def test_all_memory_of_a_client_counts(server, what):
    """Requests, queued commands, unread replies, names that are stored for a client."""
    own = control(server)
    own.config_set("maxmemory-clients", 2 * MB if what in ("argument", "transaction", "replies") else 200000)
    with pytest.raises((redis.ConnectionError, OSError)):
        with socket.create_connection((server.host, server.port), 30) as victim:
            victim.sendall(b"CLIENT SETNAME victim\r\n")
            assert victim.recv(64) == b"+OK\r\n"
            if what == "replies":
                with server.client(single_connection_client=True) as other:
                    other.set("large", b"x" * 200000)
            if what == "transaction":
                victim.sendall(b"MULTI\r\n")
            for turn in range(200000):
                victim.sendall({
                    "argument": b"*2\r\n$3000000\r\n" + b"v" * 100000 if turn == 0 else b"v" * 100000,
                    "transaction": b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$100000\r\n" + b"v" * 100000 + b"\r\n",
                    "replies": b"GET large\r\n",
                    "watch": b"WATCH key:%d\r\n" % turn,
                    "subscriptions": b"PSUBSCRIBE p:%d\r\n" % turn,
                    "prefixes": b"CLIENT TRACKING ON BCAST PREFIX p:%012d\r\n" % turn,
                }[what])
                if what in ("watch", "subscriptions", "prefixes", "transaction") and not victim.recv(4096):
                    raise OSError("evicted")
    assert names(own) == ["control"]
    assert own.info("stats")["evicted_clients"] == 1
    assert own.info("memory")["mem_clients_normal"] < 200000


def test_no_evict_protects_a_client(server):
    """NO-EVICT protects a client, whose memory still counts; after NO-EVICT off it is evicted at once."""
    own = control(server)
    own.config_set("maxmemory-clients", MB)
    with socket.create_connection((server.host, server.port), 30) as large:
        large.sendall(b"CLIENT SETNAME large\r\nCLIENT NO-EVICT ON\r\nMULTI\r\n")
        wait_until(lambda: "large" in names(own))
        for _ in range(30):
            large.sendall(b"*2\r\n$4\r\nECHO\r\n$100000\r\n" + b"v" * 100000 + b"\r\n")
        wait_until(lambda: memory(own, "large") > 2 * MB)
        wait_until(lambda: not is_let_in(server))  # only new clients can be evicted
        assert names(own) == ["control", "large"]
        large.sendall(b"DISCARD\r\n")
        wait_until(lambda: is_let_in(server))
        assert "large" in names(own)


def test_a_percentage_is_of_the_limit_of_the_memory(server):
    """That is maxmemory in Redis, and memory-budget in Cairn, whose maxmemory limits the data on disk."""
    own = control(server)
    of_cairn = "memory-budget" in own.config_get("memory-budget")
    limit, most = ("memory-budget", 200 * MB) if of_cairn else ("maxmemory", 20 * MB)
    own.config_set(limit, most)
    own.config_set("maxmemory-clients", "10%")
    stays, goes = fill(server, "stays", most // 40), fill(server, "goes", most // 7)
    wait_until(lambda: names(own) == ["control", "stays"])
    if of_cairn:
        own.config_set("maxmemory", 5 * MB)
        assert names(own) == ["control", "stays"]
    own.config_set(limit, most // 5)
    wait_until(lambda: names(own) == ["control"])
    stays.close()
    goes.close()


def test_a_replica_is_not_evicted():
    """Its buffers belong to replication."""
    with Server() as primary, Server() as replica:
        follow(replica, primary)
        own = control(primary)
        own.config_set("maxmemory-clients", "1")
        for i in range(200):
            own.set(f"k{i}", b"v" * 20000)
        wait_until(lambda: replica.client().dbsize() == 200)
        assert own.info("replication")["connected_slaves"] == 1
        assert own.info("stats")["evicted_clients"] == 0
        assert own.info("memory")["mem_clients_slaves"] > 0


def test_a_subscriber_that_does_not_read_is_evicted():
    """Pushed messages count for the subscriber. It is evicted once, even with many publishers."""
    with Server(io_threads=3, client_output_buffer_limit="pubsub 0 0 0") as server:
        own = control(server)
        own.config_set("maxmemory-clients", 8 * MB)
        lazy = client(server, "lazy")
        lazy.execute_command("SUBSCRIBE", "news")

        def publish():
            sender = client(server, "sender")
            for _ in range(300):
                sender.publish("news", b"x" * 50000)

        threads = [threading.Thread(target=publish) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert "lazy" not in names(own)
        assert own.info("stats")["evicted_clients"] == 1
