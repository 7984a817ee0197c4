# SPDX-License-Identifier: BSD-3-Clause
"""A live cluster of redis-servers becomes one of Cairns without a break for its clients, and the other way round: a
node of the other kind joins each shard as a replica, takes over by CLUSTER FAILOVER, and the old nodes leave."""

import contextlib

import pytest
from cluster_nodes import (address, await_ok, call, cluster, info, logs, node_id, nodes_of, redis_cli, start_node)
from cluster_load import Client, prepared_programs
from pairs import wait_for_link, wait_for_offset
from stalls import Stalls
from waiting import wait_until

MOST_PAUSE_S = 2


def go_on(clients, commands=400):
    """Waits until each client has run some more commands, and no client has seen an error."""
    before = [client.at for client in clients]
    wait_until(lambda: all(client.at >= at + commands or client.errors or client.process.poll() is not None
                           for client, at in zip(clients, before)), "the clients' progress")
    for client in clients:
        assert not client.errors, (client.name, client.errors[:5])
        assert client.process.poll() is None, f"{client.name} ended"


def masters_of(servers):
    """The nodes that own slots."""
    return [server for server in servers if len(nodes_of(servers[0])[node_id(server)]) > 8]


def replace_nodes(stack, servers, kind, clients):
    """Replaces all nodes by three of another kind; returns these."""
    everyone, successors = list(servers), []
    for master in masters_of(servers):
        new = start_node(stack, kind)
        redis_cli("add-node", address(new), address(master), "--cluster-slave", "--cluster-master-id", node_id(master))
        everyone.append(new)
        successors.append(new)
    wait_until(lambda: all(len(nodes_of(server)) == len(everyone) for server in everyone), "all to know all")
    await_ok(everyone)
    for new in successors:
        wait_for_link(new)
    go_on(clients)
    for new in successors:
        assert call(new, "CLUSTER", "FAILOVER") == "OK"
        wait_until(lambda new=new: call(new, "ROLE")[0] == "master", "the failover:\n" + logs(everyone), new)
        await_ok(everyone)
        go_on(clients)
    for old in sorted(servers, key=lambda server: call(server, "ROLE")[0] == "master"):
        redis_cli("del-node", address(successors[0]), node_id(old))
        old.close()
        go_on(clients, 100)
    wait_until(lambda: all(len(nodes_of(server)) == 3 for server in successors), "the end of the old nodes")
    await_ok(successors)
    return successors


def add_replicas(stack, masters, kind):
    """Gives each master a replica; returns these."""
    replicas = []
    for master in masters:
        new = start_node(stack, kind)
        redis_cli("add-node", address(new), address(master), "--cluster-slave", "--cluster-master-id", node_id(master))
        replicas.append(new)
    everyone = [*masters, *replicas]
    wait_until(lambda: all(len(nodes_of(server)) == len(everyone) for server in everyone), "all to know all")
    await_ok(everyone)
    return replicas


@pytest.mark.slow
@pytest.mark.parametrize(("old", "new"), [("redis", "cairn"), ("cairn", "redis")])
def test_a_live_cluster_changes_its_servers(old, new, seed):
    """No client sees an error or a long pause, and the data are exactly what the clients wrote."""
    programs = prepared_programs()
    with contextlib.ExitStack() as stack:
        servers = stack.enter_context(cluster(*[old] * 6, replicas=1))
        stalls = stack.enter_context(Stalls())
        clients = [stack.enter_context(Client(program, seed + i, servers)) for i, program in enumerate(programs)]
        go_on(clients, 1000)
        successors = replace_nodes(stack, servers, new, clients)
        go_on(clients, 1000)
        replicas = add_replicas(stack, successors, new)
        go_on(clients)
        for client in clients:
            client.end()
        for client in clients:
            print(f"{old} to {new}: {client.name} ran {client.commands} commands, the longest took {client.longest_ms} "
                  f"ms; this machine stood still for {stalls.total_s:.1f} s")
            assert not client.errors, (client.name, client.errors[:5])
            assert client.longest_ms <= 1000 * (MOST_PAUSE_S + stalls.total_s), client.name
        owners = masters_of(successors)
        assert len(owners) == 3 and all(info(server)["cluster_state"] == "ok" for server in owners)
        for client in clients:
            assert client.found(owners) == client.expected(), client.name
        for master in owners:
            replica = next(server for server in replicas
                           if nodes_of(master)[node_id(server)][3] == node_id(master))
            wait_for_link(replica)
            wait_for_offset(master, replica)
            assert replica.client().dbsize() == master.client().dbsize()
