# SPDX-License-Identifier: BSD-3-Clause
"""TLS: which clients are accepted, the errors of bad settings, and complete transfers.

Acceptance is compared with redis-server's `tls-port`. The openssl command creates the certificates, for 127.0.0.1 and
for the duration of the tests.
"""

import contextlib
import hashlib
import shutil
import socket
import ssl
import subprocess
import time

import pytest
import redis
from certificates import PASSWORD, Certificates, openssl
from harness import Server, free_port, start_redis
from pairs import PAIRS, follow, start, wait_for_offset
from waiting import assert_stays, wait_until

pytestmark = [pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed"), pytest.mark.slow]

BAD = "Unable to update TLS configuration. Check server logs."


@pytest.fixture(scope="module")
def certs(tmp_path_factory):
    """The certificates of this module."""
    return Certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def tls_server(certs):
    """A server with a TLS port beside its plain one."""
    with Server(**certs.directives(io_threads=2)) as server:
        yield server


@pytest.fixture
def port(tls_server):
    """The TLS port of a running, empty server."""
    tls_server.client().flushall()
    return tls_server.directives["tls_port"]


def connect(certs, port, name="client", **options):
    """A TLS socket."""
    plain = socket.create_connection(("127.0.0.1", port), 30)
    return certs.context(name).wrap_socket(plain, server_hostname="127.0.0.1", **options)


def says_pong(certs, port, name, change=lambda context: None):
    """Whether a client with this certificate is served."""
    context = certs.context(name)
    change(context)
    try:
        with socket.create_connection(("127.0.0.1", port), 30) as plain:
            with context.wrap_socket(plain, server_hostname="127.0.0.1") as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(16) == b"+PONG\r\n"
    except OSError:
        return False


# ---- bytes


# A record holds at most 16 KB: values and replies of many sizes cross all limits of records and buffers.
def test_values_of_every_size_are_returned_completely(certs, port):
    client = certs.client(port)
    for size in (0, 1, 100, 16300, 16383, 16384, 16385, 40000, 1 << 20, 30 << 20):
        value = hashlib.shake_128(str(size).encode()).digest(size)
        client.set("k", value)
        assert client.get("k") == value
    assert client.client_list()[0]["addr"].startswith("127.0.0.1:")


# Bytes in TLS's own buffers do not make the socket readable.
def test_a_whole_pipeline_gets_its_replies(certs, port):
    client = certs.client(port)
    for count, size in ((20000, 3), (300, 20000), (1000, 100)):
        pipe = client.pipeline(transaction=False)
        for i in range(count):
            pipe.set(f"k{i}", b"%d" % i + b"x" * size)
            pipe.strlen(f"k{i}")
        assert pipe.execute()[1::2] == [len(b"%d" % i) + size for i in range(count)]


def test_replies_wait_for_a_slow_reader(certs, port):
    client = certs.client(port)
    value = hashlib.shake_128(b"slow").digest(8 << 20)
    client.set("k", value)
    with connect(certs, port) as slow:
        slow.sendall(b"GET k\r\n" * 3 + b"ECHO end\r\n")
        assert_stays(client.ping, 0.3, "the answer to others")
        whole = b"$%d\r\n%s\r\n" % (len(value), value) * 3 + b"$3\r\nend\r\n"
        got = bytearray()
        while len(got) < len(whole):
            got += slow.recv(100000)
            if len(got) < 1 << 20:
                time.sleep(0.001)  # a slow reader
        assert got == whole


# Records arrive in pieces of any size, also those of the handshake.
@pytest.mark.parametrize("piece", [1, 7, 1000])
def test_bytes_that_arrive_slowly(certs, port, piece):
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    machine = certs.context().wrap_bio(incoming, outgoing, server_hostname="127.0.0.1")
    with socket.create_connection(("127.0.0.1", port), 30) as plain:
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

        def push():
            rest = outgoing.read()
            for at in range(0, len(rest), piece):
                plain.sendall(rest[at:at + piece])

        def pump(step):
            while True:
                try:
                    result = step()
                    push()
                    return result
                except ssl.SSLWantReadError:
                    push()
                    incoming.write(plain.recv(piece))

        pump(machine.do_handshake)
        machine.write(b"SET k " + b"v" * 3000 + b"\r\nSTRLEN k\r\n")
        push()
        got = b""
        while len(got) < len(b"+OK\r\n:3000\r\n"):
            got += pump(lambda: machine.read(100))
        assert got == b"+OK\r\n:3000\r\n"


# A parked client's bytes are received but not parsed; afterwards all of them are.
def test_blocked_and_subscribed_clients_get_their_replies(certs, port):
    client = certs.client(port)
    with connect(certs, port) as parked:
        stream = parked.makefile("rb")
        parked.sendall(b"BLPOP l 0\r\n")
        wait_until(lambda: client.info("clients")["blocked_clients"] == 1)
        parked.sendall(b"".join(b"APPEND s %s\r\n" % (b"y" * 9000) for _ in range(20)) + b"STRLEN s\r\n")
        time.sleep(0.2)  # the server receives bytes that it does not parse yet
        client.rpush("l", "v")
        assert [stream.readline() for _ in range(5)] == [b"*2\r\n", b"$1\r\n", b"l\r\n", b"$1\r\n", b"v\r\n"]
        assert [stream.readline() for _ in range(21)][-1] == b":180000\r\n"
        parked.sendall(b"SUBSCRIBE news\r\n")
        assert [stream.readline() for _ in range(6)][-1] == b":1\r\n"
        client.publish("news", b"z" * 50000)
        assert b"z" * 50000 in stream.read(50000 + 37)


def send_last(certs, port, requests):
    """Sends requests and TLS's close notification at the same time; returns when the server has closed the connection.
    The TCP stream stays open."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    machine = certs.context().wrap_bio(incoming, outgoing, server_hostname="127.0.0.1")
    with socket.create_connection(("127.0.0.1", port), 30) as plain:
        while True:
            try:
                machine.do_handshake()
                break
            except ssl.SSLWantReadError:
                plain.sendall(outgoing.read())
                incoming.write(plain.recv(1 << 14))
        plain.sendall(outgoing.read())
        machine.write(requests)
        with contextlib.suppress(ssl.SSLWantReadError):
            machine.unwrap()
        plain.sendall(outgoing.read())
        while plain.recv(1 << 20):
            pass


def test_requests_before_the_close_notification_are_run(certs, port):
    """The first push ends a tick, because it wakes another client."""
    client = certs.client(port)
    with connect(certs, port) as blocked:
        blocked.sendall(b"BLPOP q 0\r\n")
        wait_until(lambda: client.info("clients")["blocked_clients"] == 1)
        send_last(certs, port, b"RPUSH q 1\r\nRPUSH q 2\r\nRPUSH q 3\r\n")
        wait_until(lambda: client.lrange("q", 0, -1) == [b"2", b"3"])


def test_requests_before_the_close_notification_wait_for_a_reader(certs, port):
    client = certs.client(port)
    client.set("large", b"x" * (1 << 20))
    send_last(certs, port, b"GET large\r\n" * 40 + b"SET after 1\r\n")
    assert client.get("after") == b"1"


# A command that must read the disk moves to the slow lane, and its connection comes back.
def test_commands_of_the_slow_lane(certs, port):
    with connect(certs, port) as connection:
        connection.sendall(b"DEBUG SLEEP 0.05\r\n" + b"KEYS *\r\n" * 3 + b"SET a b\r\nKEYS *\r\nPING\r\n")
        stream = connection.makefile("rb")
        assert [stream.readline() for _ in range(9)] == [
            b"+OK\r\n", b"*0\r\n", b"*0\r\n", b"*0\r\n", b"+OK\r\n", b"*1\r\n", b"$1\r\n", b"a\r\n", b"+PONG\r\n"]


def test_quit_and_client_kill_close_the_connection(certs, port):
    with connect(certs, port) as connection:
        connection.sendall(b"QUIT\r\n")
        assert connection.recv(100) == b"+OK\r\n"
        assert connection.recv(100) == b""  # with TLS's close notify, otherwise Python raises
    with connect(certs, port) as connection:
        connection.sendall(b"CLIENT ID\r\n")
        number = int(connection.recv(100)[1:])
        certs.client(port).client_kill_filter(_id=number)
        assert connection.recv(100) == b""


# ---- accepted clients


CLIENTS = [None, "client", "foreign"]


@pytest.mark.parametrize("wanted", ["yes", "no", "optional"])
def test_the_same_clients_are_accepted_as_in_redis(certs, wanted):
    with Server(**certs.directives(tls_auth_clients=wanted)) as ours, \
            start_redis(**certs.directives(tls_auth_clients=wanted)) as theirs:
        for name in CLIENTS:
            assert says_pong(certs, ours.directives["tls_port"], name) == \
                says_pong(certs, theirs.directives["tls_port"], name), name


def test_a_change_of_tls_auth_clients_applies_to_new_connections(certs):
    with Server(**certs.directives()) as server:
        port = server.directives["tls_port"]
        with connect(certs, port) as old:
            server.client().config_set("tls-auth-clients", "no")
            assert says_pong(certs, port, None)
            server.client().config_set("tls-auth-clients", "yes")
            assert not says_pong(certs, port, None)
            old.sendall(b"PING\r\n")
            assert old.recv(16) == b"+PONG\r\n"


def agreed(certs, server):
    """For TLS 1.2 and 1.3: the cipher and whether the session was reused, for two connections one after the other."""
    seen = []
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        context = certs.context()
        context.minimum_version = context.maximum_version = version
        session, reused = None, []
        for _ in range(2):
            try:
                plain = socket.create_connection(("127.0.0.1", server.directives["tls_port"]), 30)
                with context.wrap_socket(plain, server_hostname="127.0.0.1", session=session) as connection:
                    connection.sendall(b"PING\r\n")
                    connection.recv(16)
                    session = connection.session
                    reused.append((connection.cipher()[:2], connection.session_reused))
            except OSError:
                reused.append(None)
        seen.append(reused)
    return seen


@pytest.mark.parametrize("settings", [
    {}, {"tls_protocols": "TLSv1.2"}, {"tls_protocols": "tlsv1.3"}, {"tls_ciphers": "ECDHE-RSA-AES128-GCM-SHA256"},
    {"tls_ciphersuites": "TLS_AES_128_GCM_SHA256"},
    {"tls_prefer_server_ciphers": "yes", "tls_session_cache_size": 5, "tls_session_cache_timeout": 60}],
    ids=lambda settings: " ".join(settings) or "defaults")
def test_versions_and_ciphers_are_as_in_redis(certs, settings):
    with Server(**certs.directives(**settings)) as ours, start_redis(**certs.directives(**settings)) as theirs:
        assert agreed(certs, ours) == agreed(certs, theirs)


# Redis disconnects a client that presents a session all the same.
def test_without_caching_no_session_is_resumed(certs):
    with Server(**certs.directives(tls_session_caching="no")) as server:
        assert [[reused for _, reused in version] for version in agreed(certs, server)] == [[False, False]] * 2


# An attacker may send any bytes before the handshake; other clients must not notice.
def test_garbage_on_the_port_does_no_harm(certs, tls_server, port):
    client = certs.client(port)
    before = client.info("clients")["connected_clients"]
    hello = bytes.fromhex("1603010200010001fc0303")
    for bytes_sent in (b"PING\r\n", b"*1\r\n$4\r\nPING\r\n", b"\0" * 5000, hello + b"\xff" * 600, hello, b"\x16"):
        with socket.create_connection(("127.0.0.1", port), 30) as plain:
            plain.sendall(bytes_sent)
            plain.shutdown(socket.SHUT_WR)
            while plain.recv(1000):
                pass
        assert client.ping()
    wait_until(lambda: client.info("clients")["connected_clients"] <= before)
    assert "Error accepting a client connection: error:" in tls_server.log_tail()


def test_a_connection_cut_during_a_record_does_no_harm(certs, port):
    client = certs.client(port)
    for _ in range(5):
        connection = connect(certs, port)
        connection.sendall(b"SET k " + b"x" * 20000)
        plain = socket.socket(fileno=connection.detach())
        plain.sendall(b"\x17\x03\x03\x40")  # the header of a record that never comes
        plain.close()
    assert client.get("k") is None


# TLS 1.2 allows a client to request new keys on a connection; this server refuses.
def test_renegotiation_is_refused(certs, port, tmp_path):
    command = ["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-tls1_2", "-cert", certs.cert("client"),
               "-key", certs.key("client"), "-CAfile", certs.cert("ca")]
    transcript = tmp_path / "transcript"
    with open(transcript, "wb") as output, subprocess.Popen(
            command, bufsize=0, stdin=subprocess.PIPE, stdout=output, stderr=output) as process:
        for line in (b"PING\n", b"R\n"):
            time.sleep(0.5)  # s_client recognizes a command only at the start of a read
            process.stdin.write(line)
        wait_until(lambda: b"no renegotiation" in transcript.read_bytes(), "the refusal")
        process.kill()
    assert b"+PONG" in transcript.read_bytes()
    assert certs.client(port).ping()


# ---- settings


def test_config_get_and_set_reply_as_redis(pair):
    for name in ("tls-cert-file", "tls-key-file", "tls-ca-cert-file", "tls-ca-cert-dir", "tls-protocols",
                 "tls-ciphers", "tls-ciphersuites", "tls-auth-clients", "tls-session-caching", "tls-replication",
                 "tls-session-cache-size", "tls-session-cache-timeout", "tls-prefer-server-ciphers", "tls-port",
                 "tls-key-file-pass", "tls-client-cert-file", "tls-client-key-file", "tls-client-key-file-pass",
                 "tls-dh-params-file"):
        pair("config", "get", name)
    for words in (("tls-auth-clients", "maybe"), ("tls-session-cache-size", "x"), ("tls-session-cache-size", "-1"),
                  ("tls-session-caching", "1"), ("tls-replication", "yes"), ("tls-cert-file", "/missing"),
                  ("tls-cert-file", ""), ("tls-protocols", "SSLv2"), ("tls-protocols", "")):
        pair("config", "set", *words)


def test_a_bad_setting_is_refused_and_changes_nothing(certs):
    with Server(**certs.directives()) as ours, start_redis(**certs.directives()) as theirs:
        for settings in ({"tls-cert-file": "/missing"}, {"tls-key-file": certs.key("client")},
                         {"tls-protocols": "SSLv2"}, {"tls-ciphers": "none of these"}, {"tls-ca-cert-file": ""},
                         {"tls-ca-cert-file": "/missing"}, {"tls-cert-file": ""}, {"tls-dh-params-file": "/missing"},
                         {"tls-ciphersuites": "nonsense"}, {"tls-key-file": certs.key("locked")}):
            words = [word for item in settings.items() for word in item]
            texts = []
            for server in (ours, theirs):
                with pytest.raises(redis.ResponseError, match=BAD) as refused:
                    server.client().execute_command("CONFIG", "SET", *words)
                texts.append(str(refused.value))
            assert texts[0] == texts[1]
            assert says_pong(certs, ours.directives["tls_port"], "client")
        assert "TLS: cannot load the certificate /missing: error:" in ours.log_tail(100)


def test_a_renewed_certificate_applies_to_new_connections(certs):
    def common_name(connection):
        return dict(part[0] for part in connection.getpeercert()["subject"])["commonName"]

    with Server(**certs.directives()) as server:
        port = server.directives["tls_port"]
        with connect(certs, port) as old:
            server.client().execute_command("CONFIG", "SET", "tls-cert-file", certs.cert("renewed"),
                                            "tls-key-file", certs.key("renewed"))
            with connect(certs, port) as new:
                assert (common_name(old), common_name(new)) == ("server", "renewed")
            old.sendall(b"PING\r\n")
            assert old.recv(16) == b"+PONG\r\n"


def test_a_key_may_have_a_password(certs):
    locked = certs.directives(tls_key_file=certs.key("locked"))
    with Server(**locked, tls_key_file_pass=PASSWORD) as server:
        assert says_pong(certs, locked["tls_port"], "client")
        assert PASSWORD not in server.log_tail()
    with pytest.raises(RuntimeError, match="cannot load the private key"):
        Server(**locked, tls_key_file_pass="wrong")


def test_cas_can_be_in_a_directory(certs, tmp_path):
    shutil.copy(certs.cert("ca"), tmp_path / "ca.pem")
    openssl("rehash", tmp_path)
    with Server(**certs.directives(tls_ca_cert_file="", tls_ca_cert_dir=tmp_path)) as server:
        port = server.directives["tls_port"]
        assert [says_pong(certs, port, name) for name in CLIENTS] == [False, True, False]


@pytest.mark.parametrize("lacking", [{"tls_cert_file": ""}, {"tls_key_file": ""}, {"tls_ca_cert_file": ""},
                                     {"tls_cert_file": "/missing"}], ids=str)
def test_a_server_without_valid_tls_settings_does_not_start(certs, lacking):
    with pytest.raises(RuntimeError, match="TLS: "):
        Server(**certs.directives(**lacking))


def test_every_listener_can_use_tls(certs, tmp_path):
    path = tmp_path / "tls.sock"
    plain, read_only = free_port(), free_port()
    directives = certs.directives()
    del directives["tls_port"]
    with Server(**directives, listen=[f"127.0.0.1:{read_only} readonly tls", f"127.0.0.1:{plain}",
                                      f"unix:{path} tls"]) as server:
        server.client().set("k", "v")
        client = certs.client(read_only)
        assert client.get("k") == b"v"
        with pytest.raises(redis.ResponseError):
            client.set("k", "w")
        assert redis.Redis("127.0.0.1", plain).get("k") == b"v"
        with socket.socket(socket.AF_UNIX) as end:
            end.connect(str(path))
            with certs.context().wrap_socket(end, server_hostname="127.0.0.1") as connection:
                connection.sendall(b"GET k\r\n")
                assert connection.recv(100) == b"$1\r\nv\r\n"


# ---- third-party programs


def tool(certs, *command):
    """Runs redis-cli or redis-benchmark with a certificate; returns its output."""
    files = ["--tls", "--cert", certs.cert("client"), "--key", certs.key("client"), "--cacert", certs.cert("ca")]
    done = subprocess.run([command[0], *map(str, files), *map(str, command[1:])], capture_output=True, timeout=120,
                          check=True, text=True)
    return done.stdout + done.stderr


@pytest.mark.skipif(shutil.which("redis-cli") is None, reason="redis-cli is not installed")
def test_redis_cli_and_redis_benchmark(certs, port):
    assert tool(certs, "redis-cli", "-p", port, "set", "a", "b") == "OK\n"
    assert tool(certs, "redis-cli", "-p", port, "info", "server").count(f"tcp_port:{port}") == 0
    output = tool(certs, "redis-benchmark", "-p", port, "-n", 4000, "-c", 20, "-P", 8, "-q", "-t", "set,get,lpush")
    assert output.count("requests per second") == 3
    assert "rror" not in output


# ---- replication


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_replication_over_tls(certs, kinds):
    settings = {"tls_replication": "yes", "tls_auth_clients": "yes"}
    with start(kinds[0], **certs.directives(**settings)) as primary, \
            start(kinds[1], **certs.directives(**settings)) as replica:
        source = primary.client()
        value = hashlib.shake_128(b"replication").digest(3 << 20)
        source.set("large", value)
        source.rpush("l", *range(5000))
        replica.client().execute_command("REPLICAOF", "127.0.0.1", primary.directives["tls_port"])
        wait_until(lambda: replica.client().info("replication")["master_link_status"] == "up", "the link")
        for i in range(2000):
            source.set(f"k{i}", i)
        wait_for_offset(primary, replica)
        copy = replica.client()
        assert copy.get("large") == value
        assert copy.lrange("l", 0, -1) == source.lrange("l", 0, -1)
        assert copy.dbsize() == source.dbsize()
        assert source.info("replication")["slave0"]["port"] == replica.directives["tls_port"]


def test_a_link_needs_a_trusted_certificate(certs):
    stranger = certs.directives(tls_cert_file=certs.cert("foreign"), tls_key_file=certs.key("foreign"),
                                tls_auth_clients="no")
    with Server(**stranger) as primary, Server(**certs.directives(tls_replication="yes")) as replica:
        replica.client().execute_command("REPLICAOF", "127.0.0.1", stranger["tls_port"])
        wait_until(lambda: "certificate verify failed" in replica.log_tail(), "the refusal")
        assert replica.client().info("replication")["master_link_status"] == "down"
        assert primary.client().info("replication")["connected_slaves"] == 0


def test_turning_tls_replication_on_needs_certificates(certs):
    with Server() as primary, Server() as replica:
        with pytest.raises(redis.ResponseError, match=BAD):
            replica.client().config_set("tls-replication", "yes")
        follow(replica, primary)
        replica.client().execute_command(
            "CONFIG", "SET", "tls-cert-file", certs.cert("server"), "tls-key-file", certs.key("server"),
            "tls-ca-cert-file", certs.cert("ca"), "tls-replication", "yes")
        assert replica.client().info("replication")["master_link_status"] == "up"  # the existing link stays
