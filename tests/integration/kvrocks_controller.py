# SPDX-License-Identifier: BSD-3-Clause
"""Speaks to nodes as kvrocks-controller does: the commands that it sends, and the fields that it reads.

Source: the behaviour of kvrocks-controller, commit 7ca006b. It keeps the topology with a version, sends all of it to
each node (CLUSTERX SETNODEID and SETNODES), probes the nodes with CLUSTER INFO, promotes the replica with the largest
offset in INFO, and moves a slot with CLUSTERX MIGRATE, whose end it reads from CLUSTER INFO.
"""

import redis
from cluster_nodes import call
from waiting import wait_until

MASTER, SLAVE = "master", "slave"


class Shard:
    """Servers, the master first, and the ranges of slots."""

    def __init__(self, servers, ranges):
        self.servers = list(servers)
        self.ranges = list(ranges)


def info_fields(text):
    """The lines name:value, without spaces around the value."""
    pairs = (line.split(":") for line in text.split("\n"))
    return {pair[0].strip(): pair[1].strip() for pair in pairs if len(pair) == 2}


def parse_nodes(text):
    """CLUSTER NODES as an import of an existing cluster reads it: (version, {master's id: (first range, replicas)})."""
    version, masters, replicas = None, {}, {}
    for line in text.rstrip("\n").split("\n"):
        fields = line.split(" ")
        assert len(fields) >= 7, line
        role = fields[2].split(",")[1] if "," in fields[2] else fields[2]
        version = int(fields[6])
        if role == MASTER:
            assert len(fields) >= 9, line
            masters[fields[0]] = fields[8]
        else:
            assert role == SLAVE, line
            replicas.setdefault(fields[3], []).append(fields[0])
    return version, {node: (slots, replicas.get(node, [])) for node, slots in masters.items()}


class Controller:
    """The topology, and what the controller does with it."""

    def __init__(self, shards):
        self.shards = shards
        self.version = 0
        # Its ids are of letters and digits beyond hexadecimal ones.
        self.ids = {server.port: f"z{server.port}".ljust(40, "q") for server in self.servers()}

    def servers(self):
        """All of them."""
        return [server for shard in self.shards for server in shard.servers]

    def text(self):
        """The nodes as CLUSTERX SETNODES gets them."""
        lines = []
        for shard in self.shards:
            master = self.ids[shard.servers[0].port]
            for server in shard.servers:
                slots = " ".join(f"{first}-{last}" if first != last else f"{first}" for first, last in shard.ranges)
                role = f"{MASTER} - {slots}" if server is shard.servers[0] else f"{SLAVE} {master}"
                lines.append(f"{self.ids[server.port]} 127.0.0.1 {server.port} {role}\n")
        return "".join(lines)

    def send(self, server):
        """The topology, to one node."""
        assert call(server, "CLUSTERX", "setnodeid", self.ids[server.port]) == "OK"
        assert call(server, "CLUSTERX", "setnodes", self.text(), self.version) == "OK"

    def create(self):
        """A new cluster, of nodes that are in none."""
        for server in self.servers():
            assert self.info(server)["cluster_current_epoch"] == "0"
        self.version = 1
        self.probe()

    @staticmethod
    def info(server):
        """CLUSTER INFO."""
        return info_fields(call(server, "CLUSTER", "INFO"))

    def probe(self):
        """Sends the topology to each node that has an older version; returns the servers that do not answer."""
        failed = []
        for server in self.servers():
            try:
                call(server, "PING")
                fields = self.info(server)
                # A larger one would make the controller take the node's topology for the newest.
                assert int(fields["cluster_my_epoch"]) <= self.version
                if int(fields["cluster_current_epoch"]) < self.version:
                    self.send(server)
            except redis.ConnectionError:
                failed.append(server)
        return failed

    def fail_over(self, shard):
        """The replica with the largest offset becomes the master."""
        offsets = []
        for server in shard.servers[1:]:
            fields = info_fields(call(server, "INFO"))
            assert fields["role"] == SLAVE
            offsets.append((int(fields["slave_repl_offset"]), server))
        best = max(offsets, key=lambda pair: pair[0])[1]
        old = shard.servers[0]
        shard.servers = [best, *[server for server in shard.servers if server not in (best, old)], old]
        self.version += 1
        self.probe()
        return best

    def migrate(self, slot, source, target):
        """Begins to move a slot."""
        return call(source.servers[0], "CLUSTERX", "migrate", slot, self.ids[target.servers[0].port])

    def await_migration(self, slot, source, target):
        """The result, once it is no longer `start`."""
        def state():
            fields = self.info(source.servers[0])
            assert fields["migrating_slot"] == fields["migrating_slot(s)"] == str(slot)
            assert fields["destination_node"] == self.ids[target.servers[0].port]
            assert fields["migrating_state"] in ("start", "success", "fail")
            return fields["migrating_state"] != "start" and fields["migrating_state"]
        return wait_until(state, "the migration", source.servers[0])

    def move(self, slots, source, target):
        """The owner of the slots changes in the next version."""
        first, last = slots
        kept = []
        for begin, end in source.ranges:
            kept += [(begin, min(end, first - 1)), (max(begin, last + 1), end)]
        source.ranges = [(begin, end) for begin, end in kept if begin <= end]
        target.ranges.append(slots)
        self.version += 1
        self.probe()
