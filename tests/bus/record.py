# SPDX-License-Identifier: BSD-3-Clause
"""Records a real cluster: the messages on its bus, its nodes.conf files and its replies to CLUSTER NODES.

    tests/bus/record.py FOLDER                              with Debian's redis-server
    tests/bus/record.py FOLDER --server PATH --module PATH

Five nodes announce the bus ports of relays, so each message between two of them passes a relay, which records it.
FOLDER gets a file per message (NUMBER-TYPE, with its bytes), messages.txt with one annotated message per kind, and
per node and moment the file (MOMENT-NODE.conf) and the reply (MOMENT-NODE.txt). tests/bus/golden/ and
tests/topology/golden/ are a selection of them. The module has a command MSG that sends a message to all nodes; without
it no MODULE is recorded.

It is no test: it is run by hand, takes about half a minute and uses the ports from 24001 on.
"""

import argparse
import pathlib
import shutil
import socket
import struct
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
import annotate  # noqa: E402
import harness  # noqa: E402
import waiting  # noqa: E402

NODES = 5
CLIENT_PORT, BUS_PORT, RELAY_PORT = 24001, 25001, 26001  # of the first node
NODE_TIMEOUT_MS = 1500


class Relay:
    """Passes bytes between a node's bus port and its peers, and calls record(message) for each message."""

    def __init__(self, node, record):
        self.target = ("127.0.0.1", BUS_PORT + node)
        self.record = record
        self.listener = socket.create_server(("127.0.0.1", RELAY_PORT + node))
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            peer, _ = self.listener.accept()
            try:
                node = socket.create_connection(self.target, 2)
            except OSError:  # the node is down
                peer.close()
                continue
            for source, sink in ((peer, node), (node, peer)):
                threading.Thread(target=self.copy, args=(source, sink), daemon=True).start()

    def copy(self, source, sink):
        pending = b""
        try:
            while received := source.recv(65536):
                sink.sendall(received)
                pending += received
                while len(pending) >= 8 and len(pending) >= (size := struct.unpack(">I", pending[4:8])[0]):
                    self.record(pending[:size])
                    pending = pending[size:]
        except OSError:
            pass  # one side was killed
        source.close()
        sink.close()


class Recording:
    """The cluster and what was recorded of it."""

    def __init__(self, folder, server, module):
        self.folder = folder
        self.lock = threading.Lock()
        self.messages = []
        self.nodes = []
        self.relays = []
        self.sends_names = b"cluster-announce-human-nodename" in pathlib.Path(shutil.which(server)).read_bytes()
        for node in range(NODES):
            own = {}
            if node == 0:
                own["cluster_announce_hostname"] = "node-0.example.com"
                if self.sends_names:
                    own["cluster_announce_human_nodename"] = "first-node"
            if node == 2 and module:
                own["loadmodule"] = module
            if node == 4:
                own["cluster_replica_no_failover"] = True
            self.relays.append(Relay(node, self.record))
            self.nodes.append(harness.Server(
                command=[server], port=CLIENT_PORT + node, cluster_enabled=True, cluster_port=BUS_PORT + node,
                cluster_announce_bus_port=RELAY_PORT + node, cluster_node_timeout=NODE_TIMEOUT_MS,
                cluster_allow_replica_migration=False, repl_diskless_sync_delay=0, save="", appendonly=False, **own))

    def close(self):
        for node in self.nodes:
            node.close()

    def record(self, message):
        with self.lock:
            self.messages.append(message)
            name = f"{len(self.messages):05d}-{annotate.message_type(message)}"
            (self.folder / name).write_bytes(message)

    def run(self, node, *words):
        """The reply of a node to a command, as redis-cli shows it without a terminal."""
        with socket.create_connection(("127.0.0.1", CLIENT_PORT + node)) as connection:
            connection.sendall(" ".join(map(str, words)).encode() + b"\r\n")
            stream = connection.makefile("rb")
            first = stream.readline().decode().rstrip()
            assert first[0] != "-", first
            return stream.read(int(first[1:])).decode() if first[0] == "$" else first[1:]

    def shown(self, node):
        return self.run(node, "CLUSTER NODES")

    def save(self, moment, *nodes):
        for node in nodes:
            self.run(node, "CLUSTER SAVECONFIG")
            (self.folder / f"{moment}-{node}.txt").write_text(self.shown(node))
            shutil.copy(self.nodes[node].data_dir / "nodes.conf", self.folder / f"{moment}-{node}.conf")

    def wait_for_message(self, kind, count=1):
        waiting.wait_until(lambda: sum(annotate.message_type(m) == kind for m in list(self.messages)) >= count, kind)


def build_cluster(cluster, ids):
    """Three masters with all slots, node 3 as a replica of node 0, node 4 without slots; open slots at node 1."""
    for node in range(1, NODES):
        cluster.run(0, "CLUSTER MEET 127.0.0.1", CLIENT_PORT + node, RELAY_PORT + node)
    cluster.save("handshake", 0)
    waiting.wait_until(lambda: all(cluster.shown(node).count(" connected") == NODES for node in range(NODES)), "links")
    cluster.run(0, "CLUSTER ADDSLOTSRANGE 0 5459")
    cluster.run(1, "CLUSTER ADDSLOTSRANGE 5460 10921 10923 10923 16383 16383")
    cluster.run(2, "CLUSTER ADDSLOTSRANGE 10922 10922 10924 16382")
    waiting.wait_until(lambda: all("cluster_state:ok" in cluster.run(node, "CLUSTER INFO") for node in range(NODES)),
                       "the state ok")
    cluster.run(3, "CLUSTER REPLICATE", ids[0])
    waiting.wait_until(lambda: "state=online" in cluster.run(0, "INFO replication"), "replication")
    waiting.wait_until(lambda: all("slave " in cluster.shown(node) for node in range(NODES)), "the replica")
    cluster.run(1, "CLUSTER SETSLOT 6000 MIGRATING", ids[2])
    cluster.run(1, "CLUSTER SETSLOT 16383 MIGRATING", ids[0])
    cluster.run(1, "CLUSTER SETSLOT 300 IMPORTING", ids[0])
    cluster.run(2, "CLUSTER SETSLOT 6000 IMPORTING", ids[1])
    cluster.save("steady", *range(NODES))


def publish(cluster, has_module):
    cluster.run(1, "PUBLISH news hello")
    cluster.wait_for_message("publish", NODES - 1)
    channel = next(f"c{i}" for i in range(1000) if int(cluster.run(0, f"CLUSTER KEYSLOT c{i}")) < 5000)
    cluster.run(0, "SPUBLISH", channel, "sharded")
    cluster.wait_for_message("publishshard")
    if has_module:
        cluster.run(2, "MSG")
        cluster.wait_for_message("module", NODES - 1)


def fail_over(cluster):
    """Node 3 replaces node 0 by hand; then it is killed and node 0 replaces it."""
    cluster.run(3, "CLUSTER FAILOVER")
    waiting.wait_until(lambda: "myself,master" in cluster.shown(3), "the manual failover")
    waiting.wait_until(lambda: "master_link_status:up" in cluster.run(0, "INFO replication"), "replication")
    waiting.wait_until(lambda: "slave" in cluster.shown(1), "the new roles")
    cluster.nodes[3].kill9()
    # A node that hears of the failure from others first never shows "fail?".
    waiting.wait_until(lambda: "master,fail" in cluster.shown(1), "the failure", pause_s=0.001)
    cluster.save("possibly-failing", 1)
    waiting.wait_until(lambda: "myself,master" in cluster.shown(0), "the failover")
    waiting.wait_until(lambda: "master,fail " in cluster.shown(1), "the failure")
    waiting.let_pass(1000)  # gossip about the failed node
    cluster.save("failed", 0, 1, 2, 4)


def forget(cluster, ids):
    """Node 1 forgets node 4; from Redis 7.2 on it tells the others."""
    cluster.run(1, "CLUSTER FORGET", ids[4])
    waiting.wait_until(lambda: ids[4] not in cluster.shown(0), "the end of node 4")


def return_with_old_slots(cluster, ids):
    """Node 3 comes back and claims slots that it lost, until a node corrects it before it hears of the new owner."""
    path = cluster.nodes[3].data_dir / "nodes.conf"
    old = path.read_bytes()
    is_corrected = False
    while not is_corrected:
        cluster.nodes[3].kill9()
        path.write_bytes(old)
        cluster.nodes[3].start()
        waiting.wait_until(lambda: any(line.startswith(ids[0]) and " master " in line
                                       for line in cluster.shown(3).splitlines()), "the new master")
        waiting.let_pass(500)  # an answer to the first messages
        is_corrected = "update" in map(annotate.message_type, list(cluster.messages))
    cluster.save("returned", *range(4))


def return_without_file(cluster):
    """Node 4 comes back with another id, so the others do not know an address of the old one."""
    cluster.nodes[4].kill9()
    (cluster.nodes[4].data_dir / "nodes.conf").unlink()
    cluster.nodes[4].start()
    waiting.wait_until(lambda: "noaddr" in cluster.shown(1), "a node without an address")
    cluster.save("no-address", 1)


def kind_of(message):
    """What distinguishes the messages of one type: the sender's role, the flags of the header and of gossip, and which
    extensions there are."""
    meaning = annotate.Annotation(message).meaning
    header = meaning[5].split()
    gossip = [line.split() for line in meaning if line.startswith("gossip")]
    failures = {int(words[-1]) & 0b1100 for words in gossip} - {0}
    extensions = sorted({line.split()[0] for line in meaning[6:]} - {"gossip"})
    return " ".join([meaning[0].split()[1], "replica" if int(header[1]) & 2 else "master",
                     *(name for name, value in zip(header[4::2], header[5::2]) if value == "1"),
                     "with gossip" if gossip else "", *(f"failures {bits}" for bits in sorted(failures)), *extensions])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--server", default="redis-server")
    parser.add_argument("--module")
    options = parser.parse_args()
    options.folder.mkdir(parents=True)
    cluster = Recording(options.folder, options.server, options.module)
    try:
        ids = [cluster.run(node, "CLUSTER MYID") for node in range(NODES)]
        build_cluster(cluster, ids)
        publish(cluster, options.module)
        fail_over(cluster)
        if cluster.sends_names:
            forget(cluster, ids)
        return_with_old_slots(cluster, ids)
        if not cluster.sends_names:
            return_without_file(cluster)
    finally:
        cluster.close()
    kinds = {}
    for message in cluster.messages:
        kinds.setdefault(kind_of(message), message)
    text = "\n".join(annotate.annotated(kind, message) for kind, message in sorted(kinds.items()))
    (options.folder / "messages.txt").write_text(text)
    print(f"{len(cluster.messages)} messages of {len(kinds)} kinds")


if __name__ == "__main__":
    main()
