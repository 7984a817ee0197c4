# SPDX-License-Identifier: BSD-3-Clause
"""Nodes of a Redis Cluster that find each other by the cluster bus: Cairns, and real servers of Redis and Valkey among
them."""

import contextlib
import subprocess

from harness import Server, start_redis, start_redis8, start_valkey
from waiting import wait_until

TIMEOUT_MS = 2000
STARTERS = {"cairn": Server, "redis": start_redis, "redis8": start_redis8, "valkey": start_valkey}


def start_node(stack, kind="cairn", **directives):
    """A node without slots; `kind` is one of STARTERS."""
    common = {"cluster_enabled": True, "cluster_node_timeout": TIMEOUT_MS, **directives}
    return stack.enter_context(STARTERS[kind](**common))


def redis_cli(*arguments, ok=True):
    """The output of redis-cli --cluster."""
    done = subprocess.run(["redis-cli", "--cluster", *map(str, arguments)], capture_output=True, text=True, timeout=240,
                          check=False)
    assert (done.returncode == 0) == ok, done.stdout + done.stderr
    return done.stdout


def address(server):
    """host:port for redis-cli."""
    return f"{server.host}:{server.port}"


def call(server, *command):
    """The response of a command as the server sends it."""
    with contextlib.closing(server.client(decode_responses=True)) as client:
        client.response_callbacks.clear()
        return client.execute_command(*command)


def info(server):
    """CLUSTER INFO as a dictionary."""
    return dict(line.split(":") for line in call(server, "CLUSTER", "INFO").split())


def nodes_of(server):
    """CLUSTER NODES: id -> the fields of the line."""
    return {line.split()[0]: line.split() for line in call(server, "CLUSTER", "NODES").splitlines()}


def node_id(server):
    """CLUSTER MYID."""
    return call(server, "CLUSTER", "MYID")


def flags_of(server, node):
    """The flags that a server shows of a node."""
    return nodes_of(server)[node][2].split(",")


def logs(servers):
    """The ends of the logs, for a failed wait."""
    return "\n".join(f"--- {server.port}\n{server.log_tail(15)}" for server in servers)


def await_ok(servers):
    """Waits until all nodes serve, and agree about masters and slots: nodes vote for replicas that they know."""
    def agree():
        views = [sorted([entry[0], entry[3], *entry[8:]] for entry in nodes_of(server).values()) for server in servers]
        return all(info(server)["cluster_state"] == "ok" for server in servers) and all(v == views[0] for v in views)
    wait_until(agree, "the cluster to be ok", timeout_s=60)


def give_slots_away(server, first, last, port=1):
    """Kills a node that has all slots and starts it with a nodes.conf in which another node, which does not run, owns
    these slots; `port` is that node's port for clients. Returns the id of that node."""
    other = "b" * 40
    server.kill9()
    path = server.data_dir / "nodes.conf"
    text = path.read_text()
    assert " connected 0-16383\n" in text, text
    rest = text.replace(" 0-16383\n", f" 0-{first - 1} {last + 1}-16383\n")
    path.write_text(f"{other} 127.0.0.1:{port}@10001 master - 0 0 9 connected {first}-{last}\n{rest}")
    server.start()
    return other


def make_cluster(servers, replicas=0):
    """redis-cli --cluster create."""
    redis_cli("create", *map(address, servers), "--cluster-replicas", replicas, "--cluster-yes")
    await_ok(servers)


@contextlib.contextmanager
def cluster(*kinds, replicas=0, **directives):
    """A cluster of nodes of these kinds."""
    with contextlib.ExitStack() as stack:
        servers = [start_node(stack, kind, **directives) for kind in kinds]
        make_cluster(servers, replicas)
        yield servers
