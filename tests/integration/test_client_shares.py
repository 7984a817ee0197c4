# SPDX-License-Identifier: BSD-3-Clause
"""The memory of clients is limited by default, and clients that have not authenticated have a small limit of their
own."""

import contextlib
import socket
import time

import pytest
from harness import Server, free_port
from waiting import assert_stays, wait_until

MB = 1 << 20
PASSWORD = "open-sesame"


@pytest.fixture(name="server", scope="module")
def fixture_server():
    """A server without a password."""
    with Server(memory_budget="128mb") as running:
        yield running


@pytest.fixture(name="locked", scope="module")
def fixture_locked():
    """A server with a password."""
    with Server(memory_budget="128mb", requirepass=PASSWORD) as running:
        yield running


def connect(server, data=b""):
    """A raw connection that has sent some bytes."""
    connection = socket.create_connection((server.host, server.port), 10)
    with contextlib.suppress(OSError):
        connection.sendall(data)
    return connection


def is_closed(connection):
    """Whether the server has closed the connection."""
    connection.setblocking(False)
    try:
        return connection.recv(1, socket.MSG_PEEK) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def line_of(own, **wanted):
    """The client in CLIENT LIST with these fields."""
    return next(one for one in own.client_list() if all(one[k] == v for k, v in wanted.items()))


def test_the_default_is_a_share_of_the_budget(server):
    """maxmemory does not matter: it limits the data on disk."""
    own = server.client()
    assert own.config_get("maxmemory-clients") == {"maxmemory-clients": "16%"}
    own.config_set("maxmemory", "100gb")
    with connect(server, b"*2\r\n$3\r\nGET\r\n$40000000\r\n" + b"x" * (30 * MB)) as large:
        wait_until(lambda: is_closed(large))
    own.config_set("maxmemory", "0")


@pytest.mark.measures("memory")
def test_half_sent_requests_are_bounded_together(server):
    """Many connections with half a request each use no more memory than all clients may."""
    own = server.client()
    own.client_no_evict("ON")
    before = server.resident_bytes()
    with contextlib.ExitStack() as stack:
        for _ in range(600):
            stack.enter_context(connect(server, b"*2\r\n$3\r\nGET\r\n$200000\r\n" + b"x" * 100000))
        wait_until(lambda: own.info("stats")["evicted_clients"] > 100)
        wait_until(lambda: own.info("memory")["mem_clients_normal"] < 22 * MB)
        assert server.resident_bytes() - before < 40 * MB
        assert own.ping()


@pytest.mark.slow
@pytest.mark.measures("memory")
def test_unauthenticated_clients_have_a_small_share(locked):
    """Their half requests use at most 4 MB of 128. Clients that send nothing are kept, and those that authenticate are
    served."""
    before = locked.resident_bytes()
    with contextlib.ExitStack() as stack:
        idle = [stack.enter_context(connect(locked)) for _ in range(50)]
        for _ in range(1500):
            stack.enter_context(connect(locked, b"*2\r\n$4\r\nAUTH\r\n$16000\r\n" + b"x" * 15000))
        own = locked.client(password=PASSWORD)
        assert own.ping()
        assert own.info("stats")["evicted_clients"] > 1000
        assert own.info("memory")["mem_clients_normal"] < 10 * MB
        assert locked.resident_bytes() - before < 20 * MB
        assert not any(map(is_closed, idle))
    assert "clients that have not authenticated" in locked.log_tail()


@pytest.mark.slow
def test_unread_refusals_are_limited(locked):
    """A client that has not authenticated and does not read gets only a few errors at a time."""
    with connect(locked) as lazy:
        lazy.setblocking(False)
        sent = 0
        with contextlib.suppress(BlockingIOError):
            while sent < 30 * MB:
                sent += lazy.send(b"GET something\r\n" * 1000)
        own = locked.client(password=PASSWORD)
        assert_stays(lambda: int(line_of(own, user="default", cmd="get")["tot-mem"]) < 64 * 1024, 0.2, "the bound")
        lazy.setblocking(True)
        received = b""
        begun = time.monotonic()
        while received.count(b"\r\n") < 40:  # it continues with 16 requests a second
            received += lazy.recv(65536)
        assert time.monotonic() - begun > 1
        assert set(received.split(b"\r\n")[:-1]) <= {b"-NOAUTH Authentication required."}


def test_idle_clients_have_no_buffers(server):
    """Buffers belong to the thread: a client without half a request and unsent bytes uses only its own object."""
    own = server.client()
    own.set("medium", b"x" * 20000)
    with contextlib.ExitStack() as stack:
        some = [stack.enter_context(connect(server)) for _ in range(200)]
        for one in some:
            one.sendall(b"GET medium\r\n")
            got = b""
            while not got.endswith(b"x\r\n"):
                got += one.recv(65536)
        lines = [one for one in own.client_list() if one["cmd"] == "get"]
        assert len(lines) == 200
        assert max(int(one["tot-mem"]) for one in lines) < 4096


def test_requests_may_arrive_in_any_pieces(server):
    """Half a request is kept when the buffer is used for another connection, whatever its size."""
    pieces = [1, 2, 3, 700, 4000, 4096, 5000, 16383, 16384, 40000]
    with connect(server) as one, connect(server) as other:
        for size in pieces:
            request = b"*2\r\n$4\r\nECHO\r\n$%d\r\n" % 30000 + bytes(65 + i % 26 for i in range(30000)) + b"\r\n"
            stream = b"PING\r\n" + request + b"PING\r\n" + request
            for begin in range(0, len(stream), size) if size > 100 else (0,):
                one.sendall(stream[begin:begin + size] if size > 100 else stream[:size])
                other.sendall(b"ECHO other\r\n")
                assert other.recv(64) == b"$5\r\nother\r\n"
            if size <= 100:
                one.sendall(stream[size:])
            expected = (b"+PONG\r\n" + request[14:]) * 2
            got = b""
            while len(got) < len(expected):
                got += one.recv(65536)
            assert got == expected


@pytest.mark.slow
def test_a_client_that_does_not_authenticate_in_time_is_disconnected():
    """auth-timeout does not apply to authenticated clients, nor to those that need no password."""
    with Server(requirepass=PASSWORD, auth_timeout=1) as server:
        own = server.client(password=PASSWORD)
        assert own.ping()
        with connect(server) as idle, connect(server, b"*2\r\n$4\r\nAUTH\r\n$100\r\nx") as half:
            wait_until(lambda: is_closed(idle) and is_closed(half))
        assert own.ping()
        own.config_set("requirepass", "")
        with connect(server) as idle:
            assert_stays(lambda: not is_closed(idle), 1.3, "the connection")


def test_tracked_names_are_bounded_by_their_bytes():
    """A 16th of the budget; beyond it clients get invalidations, as beyond tracking-table-max-keys."""
    with Server(memory_budget="64mb") as server:
        own = server.client()
        with connect(server, b"HELLO 3\r\nCLIENT TRACKING ON\r\n") as tracker:
            replies = b""
            while not replies.endswith(b"+OK\r\n"):
                replies += tracker.recv(65536)
            name = b"k" * 20000
            answered = 0
            for i in range(600):
                key = name + b"%d" % i
                tracker.sendall(b"*2\r\n$3\r\nGET\r\n$%d\r\n%s\r\n" % (len(key), key))
                while answered <= i:
                    answered += tracker.recv(1 << 20).count(b"_\r\n")
            kept = own.info("stats")["tracking_total_keys"]
            assert 150 < kept < 4 * MB // 20000
            assert own.info("memory")["mem_clients_normal"] < 2 * MB


@pytest.mark.slow
def test_keys_that_a_client_is_blocked_on_count(server):
    """A blocked client's key names are stored twice."""
    own = server.client()
    keys = b" ".join(b"key:%d" % i for i in range(5000))
    with connect(server, b"CLIENT SETNAME waiter\r\nBLPOP " + keys + b" 0\r\n"):
        wait_until(lambda: int(line_of(own, name="waiter")["tot-mem"]) > 5000 * 200)
        own.lpush("key:77", "x")
        wait_until(lambda: int(line_of(own, name="waiter")["tot-mem"]) < 10000)


def test_logs_keep_no_long_texts(locked):
    """ACL LOG stores texts of clients, also of those that have not authenticated."""
    own = locked.client(password=PASSWORD)
    with connect(locked, b"*3\r\n$4\r\nAUTH\r\n$10000\r\n" + b"u" * 10000 + b"\r\n$1\r\np\r\n") as stranger:
        assert stranger.recv(64).startswith(b"-WRONGPASS")
    entry = own.acl_log()[0]
    assert len(entry["username"]) < 1100
    assert entry["username"].endswith("u...")


@pytest.mark.slow
@pytest.mark.measures("memory")
def test_half_a_tls_hello_takes_no_memory(tmp_path):
    """OpenSSL is not called before the hello is complete; then it works, however the hello was split."""
    import ssl
    import subprocess

    cert, key = tmp_path / "server.crt", tmp_path / "server.key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                    "-keyout", key, "-out", cert], check=True, capture_output=True)
    port = free_port()
    with Server(memory_budget="128mb", tls_port=port, tls_cert_file=cert, tls_key_file=key, tls_auth_clients="no",
                auth_timeout=3) as server:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        stream = context.wrap_bio(incoming, outgoing)
        with contextlib.suppress(ssl.SSLWantReadError):
            stream.do_handshake()
        hello = outgoing.read()
        before = server.resident_bytes()
        with contextlib.ExitStack() as stack:
            for _ in range(300):
                one = stack.enter_context(socket.create_connection((server.host, port)))
                one.sendall(hello[:len(hello) // 2])
            assert_stays(lambda: server.resident_bytes() - before < 300 * 8192, 0.2, "the bound")
            spent = server.client().info("cpu")["used_cpu_user"]
            time.sleep(0.5)  # the server must do nothing meanwhile
            assert server.client().info("cpu")["used_cpu_user"] - spent < 0.3
            slow = stack.enter_context(socket.create_connection((server.host, port), 10))
            for i in range(len(hello)):
                slow.sendall(hello[i:i + 1])
            incoming.write(slow.recv(65536))
            while True:
                try:
                    stream.do_handshake()
                    break
                except ssl.SSLWantReadError:
                    incoming.write(slow.recv(65536))
            slow.sendall(outgoing.read())
            stream.write(b"PING\r\n")
            slow.sendall(outgoing.read())
            while True:
                try:
                    assert stream.read(64) == b"+PONG\r\n"
                    break
                except ssl.SSLWantReadError:
                    incoming.write(slow.recv(65536))
            wait_until(lambda: is_closed(one))
            assert not is_closed(slow)
