# SPDX-License-Identifier: BSD-3-Clause
"""scripts/cluster: from a clone to a cluster of six nodes, and back."""

import os
import pathlib
import random
import socket
import subprocess

import pytest
from cluster_nodes import redis_cli
from harness import REPOSITORY, SANITIZER, default_command
from redis.cluster import ClusterNode, RedisCluster

NODES = 6


def is_free(port):
    """Whether no process listens on a port of 127.0.0.1."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


def free_ports():
    """The first of six ports in a row that are free, with those of their buses. Linux takes the ports of outgoing
    connections from 32768 on; one of these could take a higher port before its node does."""
    while True:
        first = random.SystemRandom().randrange(10000, 22000)
        if all(is_free(port + bus) for port in range(first, first + NODES) for bus in (0, 10000)):
            return first


def run(action, folder, *arguments, ok=True):
    """The output of scripts/cluster."""
    done = subprocess.run([REPOSITORY / "scripts" / "cluster", action, "--dir", folder, *map(str, arguments)],
                          env={**os.environ, "CAIRN_SERVER": default_command()[0]}, capture_output=True, text=True,
                          timeout=900, check=False)
    assert (done.returncode == 0) == ok, done.stdout + done.stderr
    return done.stdout + done.stderr


def processes(folder):
    """The process ids that the script has noted."""
    return [int(path.read_text().split()[0]) for path in folder.glob("node-*/process")]


def is_running(pid):
    """Whether a process exists and is no zombie."""
    status = pathlib.Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().rsplit(")", 1)[1].split()[0] != "Z"


@pytest.mark.slow
@pytest.mark.skipif(SANITIZER is not None, reason="its servers are not those of the harness")
def test_the_script_makes_a_cluster_that_survives_a_restart(tmp_path):
    """start joins six nodes; after stop, start serves the same data; clean leaves nothing."""
    folder = tmp_path / "nodes"
    first = free_ports()
    try:
        assert "the cluster serves" in run("start", folder, "--port", first)
        text = redis_cli("check", f"127.0.0.1:{first}")
        assert "[OK] All nodes agree about slots configuration." in text
        assert "[OK] All 16384 slots covered." in text
        assert text.count("M: ") == text.count("S: ") == 3
        with RedisCluster(startup_nodes=[ClusterNode("127.0.0.1", first)]) as client:
            client.mset_nonatomic({f"key:{i}": i for i in range(100)})
        # A second start finds the nodes running.
        assert run("start", folder).count("runs already") == NODES
        run("stop", folder)
        assert not any(map(is_running, processes(folder)))
        assert "no node" in run("status", folder, ok=False)
        run("start", folder)
        assert "[OK] All 16384 slots covered." in run("status", folder)
        with RedisCluster(startup_nodes=[ClusterNode("127.0.0.1", first)]) as client:
            assert client.mget_nonatomic(f"key:{i}" for i in range(100)) == [b"%d" % i for i in range(100)]
    finally:
        ended = processes(folder)
        run("clean", folder)
    assert not any(map(is_running, ended))
    assert list(folder.iterdir()) == []


@pytest.mark.slow
@pytest.mark.skipif(SANITIZER is not None, reason="its servers are not those of the harness")
def test_the_script_ends_no_process_that_it_has_not_started(tmp_path):
    """The id in the folder of a node may belong to another process by now."""
    folder = tmp_path / "node-7001"
    folder.mkdir()
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as other:
        (folder / "process").write_text(f"{other.pid} 1\n")
        run("clean", tmp_path)
        assert other.poll() is None
        other.stdin.close()
    assert not folder.exists()
