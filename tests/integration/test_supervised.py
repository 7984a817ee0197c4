# SPDX-License-Identifier: BSD-3-Clause
"""Messages to systemd: a unit of Type=notify depends on them, because systemctl waits for READY=1."""

import contextlib
import socket

import pytest

from harness import Server

WAIT_S = 60


@contextlib.contextmanager
def supervisor(monkeypatch, address):
    """The receiver of messages, at the socket that NOTIFY_SOCKET names."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind(address)
        receiver.settimeout(WAIT_S)
        monkeypatch.setenv("NOTIFY_SOCKET", address.replace("\0", "@"))
        yield receiver


def lines(receiver):
    """The lines of the next message."""
    return receiver.recv(4096).decode().splitlines()


@pytest.mark.parametrize("supervised", ["systemd", "auto"])
@pytest.mark.parametrize("is_abstract", [False, True])
def test_systemd_hears_of_the_start_and_of_the_shutdown(tmp_path, monkeypatch, supervised, is_abstract):
    address = f"\0{tmp_path}" if is_abstract else str(tmp_path / "notify")
    with supervisor(monkeypatch, address) as receiver, Server(supervised=supervised, daemonize="yes") as server:
        assert "READY=1" in lines(receiver)
        assert server.client().info("server")["process_supervised"] == "systemd"
        server.shutdown()
        assert "STOPPING=1" in lines(receiver)


def test_an_unsupervised_server_sends_nothing(tmp_path, monkeypatch):
    with supervisor(monkeypatch, str(tmp_path / "notify")) as receiver, Server() as server:
        assert server.client().info("server")["process_supervised"] == "no"
        server.shutdown()
        receiver.setblocking(False)
        with pytest.raises(BlockingIOError):
            receiver.recv(4096)


def test_a_missing_supervisor_is_logged_and_the_server_serves(monkeypatch, tmp_path):
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    log = tmp_path / "log"
    with Server(supervised="systemd", logfile=str(log)) as server:
        assert server.client().ping()
        assert server.client().info("server")["process_supervised"] == "no"
        assert "NOTIFY_SOCKET is not set" in log.read_text()
