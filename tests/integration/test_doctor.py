# SPDX-License-Identifier: BSD-3-Clause
"""cairn-doctor: a healthy server, a sick one, one that it may not ask, and none."""

import contextlib
import json
import os
import socket
import subprocess

from harness import Server, free_port, tool_path
from raw_client import RawClient
from waiting import wait_until


def examine(place, *options, password=None):
    """(exit status, standard output, standard error) of the tool."""
    environment = dict(os.environ, **({"REDISCLI_AUTH": password} if password else {}))
    command = [str(tool_path("cairn-doctor")), *options, place]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120,
                          env=environment, check=False)
    return done.returncode, done.stdout, done.stderr


def findings(place, **options):
    """rule -> severity of what the tool finds with --json, without the rules about this machine's kernel and disk."""
    status, out, _ = examine(place, "--json", **options)
    found = json.loads(out)
    assert found["saw_machine"] and all(one["problem"] and one["action"] for one in found["findings"])
    severities = {"notice": 0, "warning": 1, "critical": 2}
    assert status == max((severities[one["severity"]] for one in found["findings"]), default=0)
    of_machine = ("kernel", "syncs", "disk-room", "memory-limits")
    return {one["rule"]: one["severity"] for one in found["findings"] if one["rule"] not in of_machine}


def test_a_healthy_server_has_no_findings():
    with Server(requirepass="secret", enable_debug_command="local") as server:
        server.client(password="secret").set("k", "v")
        assert not findings(f"127.0.0.1:{server.port}", password="secret")


def test_a_sick_server_has_every_finding_and_sentences():
    """Too many clients, no password on all addresses, a hot key, slow commands, a dead primary, a latency event."""
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(Server(
            bind="127.0.0.1 -127.0.0.2 -192.0.2.1", protected_mode=False, maxclients=20, slowlog_log_slower_than=0,
            latency_monitor_threshold=1, replicaof=f"127.0.0.1 {free_port()}", replica_read_only=False,
            enable_debug_command="local"))
        client = server.client()
        client.execute_command("HOTKEYS", "START", "METRICS", 1, "CPU")
        client.rpush("hot", *range(10000))
        for _ in range(20):
            client.lrange("hot", 0, -1)
        client.execute_command("DEBUG", "SLEEP", 0.05)
        for _ in range(16):
            stack.enter_context(socket.create_connection(("127.0.0.1", server.port)))
        wait_until(lambda: client.info("clients")["connected_clients"] > 16, "the clients")
        place = f"127.0.0.1:{server.port}"
        found = findings(place)
        assert found == {"replicas": "critical", "exposure": "critical", "clients": "warning", "hot-keys": "warning",
                         "latency": "warning", "slow-log": "notice"}
        status, out, _ = examine(place)
        assert status == 2
        assert "critical (replicas): The link to the primary 127.0.0.1:" in out
        assert "The key hot takes " in out and "CLIENT TRACKING" in out


def test_a_replica_that_refuses_reads_without_its_primary_is_reported_as_exposed():
    """It answers PING with MASTERDOWN, which does not mean that a client needs a password."""
    with Server(bind="127.0.0.1 -127.0.0.2 -192.0.2.1", protected_mode=False, replica_serve_stale_data=False,
                enable_debug_command="local") as server:
        server.client().replicaof("127.0.0.1", free_port())
        found = findings(f"127.0.0.1:{server.port}")
        assert found == {"replicas": "critical", "exposure": "critical"}


def test_a_hot_key_is_found_in_a_sample():
    """The sums of keys count one command of five, the whole counts all."""
    with Server() as server:
        client = server.client()
        client.execute_command("HOTKEYS", "START", "METRICS", 1, "CPU", "SAMPLE", 5)
        client.rpush("hot", *range(1000))
        pipe = client.pipeline(transaction=False)
        for _ in range(1000):
            pipe.lrange("hot", 0, -1)
        pipe.execute()
        assert findings(f"127.0.0.1:{server.port}")["hot-keys"] == "warning"


def test_a_server_that_does_not_let_it_in_and_none_are_told_apart():
    with Server(requirepass="secret") as server:
        status, _, error = examine(f"127.0.0.1:{server.port}")
        assert status == 3 and "NOAUTH" in error
        status, _, error = examine(f"127.0.0.1:{server.port}", password="wrong")
        assert status == 3 and "WRONGPASS" in error
    with Server(maxclients=1) as server, RawClient(server.port) as only:
        assert only("PING") == (b"+", b"PONG")
        status, _, error = examine(f"127.0.0.1:{server.port}")
        assert status == 3 and "max number of clients reached" in error
    status, _, error = examine(f"127.0.0.1:{free_port()}")
    assert status == 3 and "refused" in error.lower()
    assert examine("127.0.0.1:99999")[0] == 3


def test_the_doctor_changes_nothing():
    with Server() as server:
        client = server.client()
        before = {path.name for path in server.data_dir.iterdir()}
        changes = client.info("persistence")["rdb_changes_since_last_save"]
        examine(f"127.0.0.1:{server.port}")
        assert client.info("persistence")["rdb_changes_since_last_save"] == changes
        assert {path.name for path in server.data_dir.iterdir()} == before
