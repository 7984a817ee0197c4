# SPDX-License-Identifier: BSD-3-Clause
"""cairn-copy and cairn-doctor reach servers by TLS: the certificates that they show and the authorities they trust."""

import os
import subprocess

import pytest
from certificates import Certificates
from harness import Server, tool_path


@pytest.fixture(scope="module", name="certs")
def fixture_certs(tmp_path_factory):
    """The certificates of this module; those of servers are for 127.0.0.1."""
    return Certificates(tmp_path_factory.mktemp("certificates"))


def run(tool, *arguments, **environment):
    """(exit status, all output) of a tool."""
    done = subprocess.run([str(tool_path(tool)), *arguments], text=True, timeout=120, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, **environment})
    return done.returncode, done.stdout


def identity(certs):
    """The flags of a client that has a certificate."""
    return "--cacert", certs.cert("ca"), "--cert", certs.cert("client"), "--key", certs.key("client")


def place(server, host="127.0.0.1"):
    """The address of a server's TLS port."""
    return f"{host}:{server.directives['tls_port']}"


def test_keys_are_copied_between_servers_with_tls(certs):
    with Server(**certs.directives()) as source, Server(**certs.directives()) as target:
        source.client().set("key", "value" * 100000)
        status, shown = run("cairn-copy", "--tls", "--into_tls", *identity(certs), place(source), place(target))
        assert status == 0, shown
        assert target.client().get("key") == b"value" * 100000


@pytest.mark.parametrize("flag", ["--tls", "--into_tls"])
def test_one_of_the_servers_may_have_no_tls(certs, flag):
    with Server(**certs.directives()) as secure, Server() as plain:
        places = [place(secure), f"127.0.0.1:{plain.port}"]
        source, target = (secure, plain) if flag == "--tls" else (plain, secure)
        source.client().set("key", "value")
        status, shown = run("cairn-copy", flag, *identity(certs), *(places if flag == "--tls" else places[::-1]))
        assert status == 0, shown
        assert target.client().get("key") == b"value"


def test_the_doctor_looks_through_tls(certs):
    with Server(**certs.directives(requirepass="secret")) as server:
        status, shown = run("cairn-doctor", "--tls", *identity(certs), place(server), REDISCLI_AUTH="secret")
        assert status < 3, shown
        status, shown = run("cairn-doctor", place(server))
        assert status == 3, "without TLS"


def test_the_server_wants_a_certificate(certs):
    with Server(**certs.directives()) as server:
        status, shown = run("cairn-doctor", "--tls", "--cacert", certs.cert("ca"), place(server))
        assert status == 3 and place(server) in shown
        status, shown = run("cairn-doctor", "--tls", "--cert", certs.cert("client"), place(server))
        assert status == 3 and "--cert and --key belong together" in shown


def test_only_servers_of_the_given_authorities_are_trusted(certs):
    with Server(**certs.directives(tls_auth_clients="no")) as server:
        for host in "127.0.0.1", "localhost":
            assert run("cairn-doctor", "--tls", "--cacert", certs.cert("ca"), place(server, host))[0] < 3, "any name"
        status, shown = run("cairn-doctor", "--tls", "--cacert", certs.cert("foreign-ca"), place(server))
        assert status == 3 and "certificate verify failed" in shown
        status, shown = run("cairn-doctor", "--tls", "--cacert", "/nowhere", place(server))
        assert status == 3 and "/nowhere" in shown


def test_of_the_systems_authorities_the_name_counts(certs):
    """SSL_CERT_FILE stands for the system's authorities."""
    with Server(**certs.directives(tls_auth_clients="no")) as server:
        status, shown = run("cairn-doctor", "--tls", place(server))
        assert status == 3 and "certificate verify failed" in shown
        assert run("cairn-doctor", "--tls", place(server), SSL_CERT_FILE=certs.cert("ca"))[0] < 3
        status, shown = run("cairn-doctor", "--tls", place(server, "localhost"), SSL_CERT_FILE=certs.cert("ca"))
        assert status == 3 and "certificate verify failed" in shown


@pytest.mark.parametrize("text", ["127.0.0.1", ":6379", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:x", ""])
def test_addresses_of_cairn_copy_need_a_port(text):
    status, shown = run("cairn-copy", text, "127.0.0.1:1")
    assert status == 1 and f"'{text}' is not <host>:<port>" in shown
