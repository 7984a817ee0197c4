# SPDX-License-Identifier: BSD-3-Clause
"""The addresses of a running server: CONFIG SET of bind, port, tls-port and bind-source-addr."""

import contextlib
import pathlib
import socket
import threading

import pytest
import redis
from harness import Server, default_command, free_port, start_redis
from pairs import follow
from raw_client import RawClient
from test_tls import Certificates
from waiting import wait_until

ADDRESSES = ("127.0.0.1", "127.0.0.2")


@pytest.fixture(params=["cairn", "redis"])
def server(request):
    """A server of each kind: the tests hold for redis-server too."""
    start = Server if request.param == "cairn" else start_redis
    with start() as running:
        yield running


def may_connect(host, port):
    """Whether a server listens on this address."""
    try:
        socket.create_connection((host, port), 5).close()
    except OSError:
        return False
    return True


def test_a_port_is_changed_and_clients_stay_connected(server):
    """Connected clients stay connected; new clients can use the new port and not the old one."""
    client = server.client(single_connection_client=True)
    new = free_port()
    assert client.config_set("port", new) is True
    assert not may_connect(server.host, server.port) and may_connect(server.host, new)
    assert client.ping() and client.config_get("port") == {"port": str(new)}
    assert client.info("server")["tcp_port"] == new
    with redis.Redis(port=new) as other:
        assert other.ping()
        assert other.config_set("port", server.port) is True


def seconds_to_probe(server, client):
    """The time until the server's end of the connection sends a keepalive probe; None: it never does."""
    ends = f"{server.port:04X}", f"{client.socket.getsockname()[1]:04X}"
    for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, local, remote, _, _, timer = line.split()[:6]
        if (local.split(":")[1], remote.split(":")[1]) == ends:
            kind, left = timer.split(":")
            return int(left, 16) / 100 if kind == "02" else None
    return None


def test_a_change_of_tcp_keepalive_applies_to_new_connections(server):
    with server.client() as admin:
        admin.config_set("tcp-keepalive", 0)
        with RawClient(server.port) as before:
            assert before("ping") == (b"+", b"PONG")
            admin.config_set("tcp-keepalive", 1000)
            with RawClient(server.port) as after:
                assert after("ping") == (b"+", b"PONG")
                assert 900 < wait_until(lambda: seconds_to_probe(server, after), "a timer of keepalive") <= 1000
            assert seconds_to_probe(server, before) is None


def test_a_port_in_use_changes_nothing(server):
    """The error is Redis's, the old port stays open, and the other settings of the call are reverted."""
    client = server.client(single_connection_client=True)
    with socket.create_server((server.host, 0)) as taken:
        with pytest.raises(redis.ResponseError) as error:
            client.execute_command("CONFIG", "SET", "timeout", 77, "port", taken.getsockname()[1])
    assert str(error.value) == ("CONFIG SET failed (possibly related to argument 'port') - "
                                "Unable to listen on this port. Check server logs.")
    assert client.config_get("timeout") == {"timeout": "0"}
    assert client.config_get("port") == {"port": str(server.port)}
    assert may_connect(server.host, server.port)


def test_no_port_at_all(server):
    """Port 0 closes it; the Unix socket and connected clients keep working."""
    client = server.client(single_connection_client=True)
    client.config_set("port", 0)
    assert not may_connect(server.host, server.port)
    assert client.ping() and client.info("server")["tcp_port"] == 0
    client.config_set("port", server.port)
    assert may_connect(server.host, server.port)


@pytest.mark.parametrize("bind", ["* -::*", "127.0.0.1 127.0.0.2", "0.0.0.0", "127.0.0.2 -::1 127.0.0.1",
                                  "127.0.0.1 -203.0.113.7"])
def test_overlapping_addresses_can_be_changed(server, bind):
    """From one address to several or to all and back, on the same port, always with a listener."""
    client = server.client(single_connection_client=True)
    assert client.config_set("bind", bind) is True
    assert client.config_get("bind") == {"bind": bind}
    everywhere = "*" in bind or "0.0.0.0" in bind
    for address in ADDRESSES:
        assert may_connect(address, server.port) == (everywhere or address in bind.split()), address
    assert client.config_set("bind", "127.0.0.2") is True
    assert not may_connect("127.0.0.1", server.port) and may_connect("127.0.0.2", server.port)
    assert client.config_set("bind", "127.0.0.1") is True
    assert may_connect("127.0.0.1", server.port) and not may_connect("127.0.0.2", server.port)


@pytest.mark.parametrize("bind", ["203.0.113.7", "127.0.0.1 203.0.113.7", "999.999.999.999", "127.0.0.1 127.0.0.1",
                                  "127.0.0.1 *", " ".join(["127.0.0.1"] * 17)])
def test_unavailable_addresses_change_nothing(server, bind):
    """All addresses are bound or none, with Redis's error text."""
    client = server.client(single_connection_client=True)
    with pytest.raises(redis.ResponseError) as error:
        client.config_set("bind", bind)
    reason = "Too many bind addresses specified." if len(bind) > 99 else "Failed to bind to specified addresses."
    assert str(error.value) == f"CONFIG SET failed (possibly related to argument 'bind') - {reason}"
    assert client.config_get("bind") == {"bind": "127.0.0.1"}
    assert may_connect("127.0.0.1", server.port) and not may_connect("127.0.0.2", server.port)


def test_both_at_once(server):
    """Port and addresses in one CONFIG SET."""
    client = server.client(single_connection_client=True)
    new = free_port()
    client.execute_command("CONFIG", "SET", "bind", "127.0.0.2", "port", new)
    assert may_connect("127.0.0.2", new)
    assert not may_connect("127.0.0.1", new) and not may_connect("127.0.0.1", server.port)


def test_the_rewritten_file_has_what_was_set(tmp_path):
    """CONFIG REWRITE omits the default and keeps an empty `bind`."""
    path = tmp_path / "cairn.conf"
    path.write_text("timeout 0\n", "utf-8")
    with Server(command=[*default_command(), str(path)]) as server:
        client = server.client(single_connection_client=True)
        client.config_set("bind", "* -::*")
        client.config_rewrite()
        assert "bind" not in path.read_text("utf-8").split()
        assert may_connect("127.0.0.2", server.port)
        client.config_set("bind", "")
        assert not may_connect(server.host, server.port)
        client.config_rewrite()
        assert 'bind ""' in path.read_text("utf-8").splitlines()


@pytest.mark.slow
def test_the_tls_port_can_be_opened_and_closed(tmp_path):
    """Only with valid certificates; otherwise the previous listener stays."""
    certs = Certificates(tmp_path)
    with Server() as server:
        client = server.client(single_connection_client=True)
        port = free_port()
        with pytest.raises(redis.ResponseError, match="Unable to update TLS configuration. Check server logs."):
            client.config_set("tls-port", port)
        for name, value in certs.directives().items():
            if name not in ("tls_port", "port"):
                client.config_set(name.replace("_", "-"), str(value))
        client.config_set("tls-port", port)
        over_tls = certs.client(port, single_connection_client=True)
        assert over_tls.ping()
        with socket.create_server((server.host, 0)) as taken:
            with pytest.raises(redis.ResponseError, match="Unable to listen on this port. Check server logs."):
                client.config_set("tls-port", taken.getsockname()[1])
        assert may_connect(server.host, port)
        client.config_set("tls-port", 0)
        assert not may_connect(server.host, port) and over_tls.ping()
        client.config_set("tls-port", port)
        assert certs.client(port).ping()


def test_a_link_comes_from_the_source_address():
    """A replica connects from bind-source-addr; an unavailable address is ignored."""
    with Server(protected_mode=False) as primary, Server() as replica:
        for source, seen in (("127.0.0.3", "127.0.0.3"), ("203.0.113.7", "127.0.0.1")):
            replica.client().config_set("bind-source-addr", source)
            follow(replica, primary)
            wait_until(lambda: replica.client().info("replication").get("master_link_status") == "up")
            wait_until(lambda: primary.client().info("replication")["slave0"]["ip"] == seen)
            replica.client().execute_command("REPLICAOF", "NO", "ONE")
            wait_until(lambda: primary.client().info("replication")["connected_slaves"] == 0)


def test_clients_connect_while_ports_change():
    """Connected clients notice nothing, and only connections made at the moment of a change may fail."""
    with Server(io_threads=3) as server:
        ports = [server.port, free_port()]
        stop = threading.Event()
        answered = [0, 0, 0]

        def stay(slot):
            with redis.Redis(port=ports[0], single_connection_client=True) as client:
                while not stop.is_set():
                    client.incr("n")
                    answered[slot] += 1

        def knock():
            while not stop.is_set():
                for port in ports:
                    with contextlib.suppress(redis.ConnectionError), redis.Redis(port=port) as client:
                        client.ping()
                        answered[2] += 1

        threads = [threading.Thread(target=stay, args=(slot,)) for slot in range(2)]
        threads.append(threading.Thread(target=knock))
        client = server.client(single_connection_client=True)
        for thread in threads:
            thread.start()
        wait_until(lambda: all(answered))
        for turn in range(200):
            client.config_set("port", ports[(turn + 1) % 2])
            client.config_set("bind", "*" if turn % 2 else "127.0.0.1 -::1")
        stop.set()
        for thread in threads:
            thread.join()
        assert int(client.get("n")) == answered[0] + answered[1]
