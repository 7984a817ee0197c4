# SPDX-License-Identifier: BSD-3-Clause
"""tls-cluster: the links of the cluster bus use TLS, among Cairns and with redis-servers."""

import contextlib
import shutil
import socket
import ssl

import pytest
from certificates import Certificates
from cluster_nodes import await_ok, call, flags_of, info, logs, node_id, nodes_of, redis_cli, start_node
from harness import free_cluster_port
from redis.cluster import ClusterNode, RedisCluster
from waiting import wait_until

pytestmark = [pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed"), pytest.mark.slow]


@pytest.fixture(scope="module", name="certs")
def fixture_certs(tmp_path_factory):
    """The certificates of this module."""
    return Certificates(tmp_path_factory.mktemp("certificates"))


def start(stack, certs, kind="cairn", **directives):
    """A node with a port for TLS, and one without."""
    own = certs.directives(tls_port=free_cluster_port(), tls_cluster=True, tls_replication=True,
                           tls_auth_clients="no", **directives)
    return start_node(stack, kind, **own)


def tls_port(server):
    """The port of a node for TLS, to which the one of its bus belongs."""
    return server.directives["tls_port"]


def tls_cli(certs, *arguments):
    """redis-cli --cluster over TLS: the addresses of nodes are those of their TLS ports."""
    return redis_cli(*arguments, "--tls", "--cacert", certs.cert("ca"))


def address(server):
    """The address of a node for redis-cli --tls."""
    return f"127.0.0.1:{tls_port(server)}"


def fill(certs, server, with_tls, count=200):
    """A client of the cluster follows redirections to the ports of its kind."""
    port = tls_port(server) if with_tls else server.port
    options = {"ssl": True, "ssl_ca_certs": certs.cert("ca")} if with_tls else {}
    with RedisCluster(startup_nodes=[ClusterNode("127.0.0.1", port)], **options) as client:
        for i in range(count):
            assert client.set(f"key:{i}", i)
        assert [int(client.get(f"key:{i}")) for i in range(count)] == list(range(count))


@pytest.mark.parametrize("kinds", [("cairn",) * 4, ("cairn", "redis", "cairn", "redis"),
                                   ("redis", "cairn", "redis", "cairn")])
def test_a_cluster_with_tls_serves_and_replaces_a_master(certs, kinds):
    """Join, reshard by MIGRATE over TLS, redirections on both kinds of ports, replication, a failover."""
    with contextlib.ExitStack() as stack:
        servers = [start(stack, certs, kind) for kind in kinds]
        masters, replica = servers[:3], servers[3]
        tls_cli(certs, "create", *map(address, masters), "--cluster-yes")
        await_ok(masters)
        first = node_id(servers[0])
        tls_cli(certs, "add-node", address(replica), address(servers[1]), "--cluster-slave", "--cluster-master-id",
                first)
        await_ok(servers)
        for with_tls in (False, True):
            fill(certs, servers[1], with_tls)
        tls_cli(certs, "reshard", address(servers[0]), "--cluster-from", node_id(servers[1]), "--cluster-to", first,
                "--cluster-slots", 50, "--cluster-yes")
        await_ok(servers)
        assert "[OK] All 16384 slots covered." in tls_cli(certs, "check", address(servers[2]))
        # The plain port, and the bus port, which belongs to the port with TLS.
        shown = nodes_of(servers[2])[first][1].split(",")[0]
        assert shown == f"127.0.0.1:{servers[0].port}@{tls_port(servers[0]) + 10000}"
        wait_until(lambda: replica.client().info("replication").get("master_link_status") == "up", "the link", replica)
        wait_until(lambda: replica.client().dbsize() == servers[0].client().dbsize(), "the data", replica)
        servers[0].kill9()
        wait_until(lambda: call(replica, "ROLE")[0] == "master", "the promotion:\n" + logs(servers), replica)
        await_ok(servers[1:])
        assert all("fail" in flags_of(server, first) for server in servers[1:])
        fill(certs, replica, True)
        servers[0].start()
        wait_until(lambda: call(servers[0], "ROLE")[0] == "slave", "the old master's demotion", servers[0])
        await_ok(servers)
        fill(certs, servers[1], False)


def test_a_node_without_a_certificate_of_the_authority_is_refused(certs):
    """Also with tls-auth-clients no: the bus has no other protection. Bytes without TLS close the link, too."""
    with contextlib.ExitStack() as stack:
        server = start(stack, certs)
        bus = ("127.0.0.1", tls_port(server) + 10000)
        for name in (None, "foreign"):
            with socket.create_connection(bus) as peer, pytest.raises(OSError):
                # In TLS 1.3 the client hears of the refusal after its handshake.
                with certs.context(name).wrap_socket(peer, server_hostname="127.0.0.1") as stream:
                    stream.sendall(b"RCmb")
                    if not stream.recv(1):
                        raise OSError("closed")
        with socket.create_connection(bus) as peer:
            peer.settimeout(20)
            peer.sendall(b"RCmb" + b"\0" * 3000)
            with contextlib.suppress(ConnectionResetError):
                while peer.recv(100):
                    pass
        with socket.create_connection(bus) as peer:
            with certs.context("client").wrap_socket(peer, server_hostname="127.0.0.1") as stream:
                stream.settimeout(0.5)
                with pytest.raises((TimeoutError, ssl.SSLWantReadError)):
                    stream.recv(1)
        assert server.client().ping()


def test_a_plain_node_does_not_join_one_with_tls(certs):
    """Neither side takes the other for a node, and both go on."""
    with contextlib.ExitStack() as stack:
        server, plain = start(stack, certs), start_node(stack)
        for one, other in ((server, plain.port + 10000), (plain, tls_port(server) + 10000)):
            assert call(one, "CLUSTER", "MEET", "127.0.0.1", 1, other) == "OK"
        for one in (server, plain):
            wait_until(lambda one=one: len(nodes_of(one)) == 1, "the end of the handshake", one)
            assert info(one)["cluster_known_nodes"] == "1"
        assert "no TLS" in server.log_path.read_text()
