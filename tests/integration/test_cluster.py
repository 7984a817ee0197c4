# SPDX-License-Identifier: BSD-3-Clause
"""A server as a node of a Redis Cluster whose topology a controller sets (CLUSTERX): redirections, slots, migration."""

import contextlib
import threading

import pytest
import redis
from harness import Server
from redis.cluster import ClusterNode, RedisCluster
from redis.crc import key_slot
from waiting import wait_until

IDS = [c * 40 for c in "abcd"]
THIRDS = ["0-5460", "5461-10922", "10923-16383"]


def lines(servers, replica_of_first=None):
    """The nodes for SETNODES: three masters and perhaps a replica of the first."""
    text = [f"{IDS[i]} 127.0.0.1 {server.port} master - {THIRDS[i]}" for i, server in enumerate(servers[:3])]
    if replica_of_first is not None:
        text.append(f"{IDS[3]} 127.0.0.1 {replica_of_first.port} slave {IDS[0]}")
    return "\n".join(text)


def set_nodes(servers, text, version):
    """Sends a topology to all nodes."""
    for server in servers:
        assert server.client().execute_command("CLUSTERX", "SETNODES", text, version) == b"OK"


@contextlib.contextmanager
def cluster(count=3, **directives):
    """Nodes with a topology of three masters, and a replica of the first if there are four."""
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(Server(cluster_enabled=True, **directives)) for _ in range(count)]
        for server, node_id in zip(servers, IDS):
            server.client().execute_command("CLUSTERX", "SETNODEID", node_id)
        set_nodes(servers, lines(servers, servers[3] if count > 3 else None), 1)
        yield servers


@pytest.fixture(scope="module")
def nodes():
    """Three masters."""
    with cluster() as servers:
        yield servers


def clients(servers):
    """A client of each node; responses of CLUSTER as the server sends them."""
    result = [server.client() for server in servers]
    for client in result:
        for command in ("CLUSTER SLOTS", "CLUSTER NODES", "CLUSTER SHARDS", "CLUSTER INFO", "CLUSTER SETSLOT",
                        "CLUSTER GETKEYSINSLOT", "CLUSTER COUNTKEYSINSLOT", "CLUSTER REPLICAS", "CLUSTER MYID"):
            client.response_callbacks.pop(command, None)
    return result


def error(client, *command):
    """The text of the error that the command gets."""
    with pytest.raises(redis.exceptions.ResponseError) as caught:
        client.execute_command(*command)
    return str(caught.value)


def key_of(server_index, name="k"):
    """A key in a slot of this master: slots of "foo" 12182, "bar" 5061, "hello" 866."""
    return {0: "{hello}", 1: "{somekey}", 2: "{foo}"}[server_index] + name


def test_a_cluster_client_works(nodes):
    """redis-py finds all nodes from one, and each key at its owner."""
    with RedisCluster(startup_nodes=[ClusterNode("127.0.0.1", nodes[0].port)]) as client:
        for i in range(300):
            assert client.set(f"key:{i}", i)
        assert [int(client.get(f"key:{i}")) for i in range(300)] == list(range(300))
        pipe = client.pipeline()
        for i in range(300):
            pipe.incr(f"key:{i}")
        assert pipe.execute() == [i + 1 for i in range(300)]
        assert client.dbsize(target_nodes=RedisCluster.ALL_NODES) == 300
        assert all(server.client().dbsize() > 50 for server in nodes)
        client.flushall(target_nodes=RedisCluster.ALL_NODES)


def test_commands_are_redirected(nodes):
    """MOVED names the slot and the owner; keys in several slots are refused; a command without keys is served."""
    first = clients(nodes)[0]
    assert error(first, "GET", "foo") == f"MOVED 12182 127.0.0.1:{nodes[2].port}"
    assert error(first, "CLUSTER", "KEYSLOT") .startswith("wrong number of arguments")
    assert first.execute_command("CLUSTER", "KEYSLOT", "foo") == 12182
    assert error(first, "MGET", key_of(0), "bar") == "CROSSSLOT Keys in request don't hash to the same slot"
    assert first.execute_command("MSET", key_of(0, "a"), 1, key_of(0, "b"), 2)
    assert error(first, "SSUBSCRIBE", "foo") == f"MOVED 12182 127.0.0.1:{nodes[2].port}"
    assert error(first, "SPUBLISH", "foo", "x").startswith("MOVED 12182 ")
    assert first.ping()
    assert first.execute_command("PUBLISH", "foo", "x") == 0
    first.delete(key_of(0, "a"), key_of(0, "b"))


def test_what_a_cluster_does_not_have_is_refused(nodes):
    """With Redis's words."""
    first = clients(nodes)[0]
    assert error(first, "SELECT", 1) == "SELECT is not allowed in cluster mode"
    assert first.execute_command("SELECT", 0)
    assert error(first, "SWAPDB", 0, 1) == "SWAPDB is not allowed in cluster mode"
    assert error(first, "MOVE", key_of(0), 1) == "MOVE is not allowed in cluster mode"
    assert error(first, "REPLICAOF", "127.0.0.1", 1) == "REPLICAOF not allowed in cluster mode."
    assert error(first, "COPY", key_of(0), key_of(0, "x"), "DB", 1) == (
        "Copying to another database is not allowed in cluster mode")
    assert error(first, "SORT", key_of(0), "BY", "weight_*").startswith("BY option of SORT denied in cluster mode")
    first.rpush(key_of(0, "list"), 2, 1)
    first.mset({"{hello}w1": 2, "{hello}w2": 1})
    assert first.sort(key_of(0, "list"), by="{hello}w*") == [b"2", b"1"]
    first.flushall()
    info = first.info()
    assert (info["cluster_enabled"], info["redis_mode"]) == (1, "cluster")


def test_transactions_stay_in_one_slot(nodes):
    """A queued command of another slot is refused and aborts; EXEC of two slots of this node is refused."""
    first = clients(nodes)[0]
    with first.client() as one:
        one.execute_command("MULTI")
        assert error(one, "SET", "foo", 1).startswith("MOVED 12182 ")
        assert error(one, "EXEC").startswith("Transaction discarded because of previous errors")
        one.execute_command("MULTI")
        one.execute_command("SET", "{hello}a", 1)
        one.execute_command("SET", "{bar}a", 1)
        assert error(one, "EXEC") == "CROSSSLOT Keys in request don't hash to the same slot"
        one.execute_command("MULTI")
        one.execute_command("SET", "{hello}a", 1)
        one.execute_command("INCR", "{hello}a")
        assert one.execute_command("EXEC") == [b"OK", 2]
    first.flushall()


def test_a_transaction_that_holds_keys_sets_directives_of_the_cluster(nodes):
    """CONFIG SET does not wait for the holders of keys, of which EXEC is one. Redirections follow it."""
    first = clients(nodes)[0]

    def await_redirection(host):
        wait_until(lambda: error(first, "GET", "foo") == f"MOVED 12182 {host}:{nodes[2].port}", "the redirection")

    for name, value in (("cluster-require-full-coverage", "no"), ("cluster-announce-hostname", "host.example"),
                        ("cluster-preferred-endpoint-type", "hostname")):
        assert first.pipeline().set(key_of(0), 1).config_set(name, value).execute() == [True, True]
    await_redirection("?")
    with first.pipeline() as watching:
        watching.watch(key_of(0))
        watching.multi()
        assert watching.config_set("cluster-preferred-endpoint-type", "ip").execute() == [True]
    await_redirection("127.0.0.1")
    first.config_set("cluster-announce-hostname", "")
    first.config_set("cluster-require-full-coverage", "yes")
    first.flushall()


def test_config_set_waits_for_no_transaction_that_waits_for_it(nodes):
    """One client sets a directive of the cluster, another holds a key and waits for its turn of CONFIG SET."""
    def set_names():
        for i in range(30):
            assert nodes[0].client().config_set("cluster-announce-human-nodename", f"name{i}")
    naming = threading.Thread(target=set_names)
    naming.start()
    first = clients(nodes)[0]
    for i in range(30):
        assert first.pipeline().set(key_of(0), i).config_set("slowlog-max-len", i + 1).execute() == [True, True]
    naming.join()
    first.config_set("cluster-announce-human-nodename", "")
    first.flushall()


def test_scripts_use_the_keys_of_their_slot(nodes):
    """A key of another node is an error. Without a first line of flags, keys of several slots of this node are not."""
    first = clients(nodes)[0]
    call = "return redis.call('set', KEYS[1], '1')"
    assert first.eval(call, 1, "{hello}a") == b"OK"
    assert error(first, "EVAL", call, 1, "foo").startswith("MOVED 12182 ")
    assert "Script attempted to access a non local key in a cluster node" in error(
        first, "EVAL", "return redis.call('get', 'foo')", 0)
    two = "redis.call('set', '{hello}a', '1') return redis.call('set', '{bar}b', '1')"
    assert first.eval(two, 0) == b"OK"
    assert "Script attempted to access keys that do not hash to the same slot" in error(
        first, "EVAL", "#!lua\n" + two, 1, "{hello}a")
    assert first.eval("#!lua flags=allow-cross-slot-keys\n" + two, 1, "{hello}a") == b"OK"
    assert error(first, "EVAL", "#!lua flags=no-cluster\nreturn 1", 0) == (
        "Can not run script on cluster, 'no-cluster' flag is set.")
    first.flushall()


def test_the_topology_is_shown(nodes):
    """By CLUSTER SLOTS, SHARDS, NODES and INFO."""
    second = clients(nodes)[1]
    slots = second.execute_command("CLUSTER", "SLOTS")
    assert [(entry[0], entry[1], entry[2][1], entry[2][2]) for entry in slots] == [
        (0, 5460, nodes[0].port, IDS[0].encode()), (5461, 10922, nodes[1].port, IDS[1].encode()),
        (10923, 16383, nodes[2].port, IDS[2].encode())]
    shards = second.execute_command("CLUSTER", "SHARDS")
    assert sorted(shard[1][0] for shard in shards) == [0, 5461, 10923]
    text = second.execute_command("CLUSTER", "NODES").decode()
    address = f"127.0.0.1:{nodes[1].port}@{min(nodes[1].port + 10000, 65535)}"
    assert f"{IDS[1]} {address} myself,master" in text
    info = dict(line.split(":") for line in second.execute_command("CLUSTER", "INFO").decode().split())
    assert (info["cluster_state"], info["cluster_known_nodes"], info["cluster_size"]) == ("ok", "3", "3")
    assert second.execute_command("CLUSTER", "MYID") == IDS[1].encode()
    assert second.execute_command("CLUSTERX", "MYID") == IDS[1].encode()
    assert second.execute_command("CLUSTERX", "VERSION") == 1
    assert second.execute_command("CLUSTER", "SLAVES", IDS[0]) == []


def test_a_topology_survives_a_restart_and_an_old_one_is_refused():
    """nodes.conf has it; SETNODES with a lower version is an error unless it is forced."""
    with cluster() as servers:
        before = servers[0].client().execute_command("CLUSTER", "NODES")
        servers[0].restart("kill9")
        assert servers[0].client().execute_command("CLUSTER", "NODES") == before
        set_nodes(servers, lines(servers), 5)
        assert error(servers[0].client(), "CLUSTERX", "SETNODES", lines(servers), 4) == "Invalid cluster version"
        assert servers[0].client().execute_command("CLUSTERX", "SETNODES", lines(servers), 4, "FORCE") == b"OK"
        assert servers[0].client().execute_command("CLUSTERX", "SETSLOT", "5-7 9", "NODE", IDS[1], 5) == b"OK"
        assert error(servers[0].client(), "CLUSTERX", "SETSLOT", "5", "NODE", IDS[1], 7) == "Invalid version of cluster"
        assert "5-7 9 5461-10922" in servers[0].client().execute_command("CLUSTER", "NODES").decode()
        servers[0].client().execute_command("CLUSTERX", "SETNODES", lines(servers), 4, "FORCE")
        broken = lines(servers).replace(THIRDS[1], "5460-10922")
        assert "a slot is there twice" in error(servers[0].client(), "CLUSTERX", "SETNODES", broken, 6)
        assert servers[0].client().execute_command("CLUSTERX", "VERSION") == 4


def test_a_damaged_nodes_conf_ends_the_start():
    """With the line; an empty topology would accept writes of other nodes' slots."""
    with Server(cluster_enabled=True) as server:
        path = server.data_dir / "nodes.conf"
        text = path.read_text()
        server.shutdown()
        path.write_text(text.replace("master", "mast"))
        with pytest.raises(RuntimeError, match="nodes.conf.*line 1"):
            server.start()
        path.write_text(text)
        server.start()


def test_a_node_without_all_slots_is_down():
    """Unless cluster-require-full-coverage is no; ADDSLOTS and DELSLOTS change that."""
    with Server(cluster_enabled=True) as server:
        client = clients([server])[0]
        assert error(client, "GET", "foo") == "CLUSTERDOWN Hash slot not served"
        assert client.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16382)
        assert error(client, "GET", "foo") == "CLUSTERDOWN The cluster is down"
        assert error(client, "CLUSTER", "ADDSLOTS", 1) == "Slot 1 is already busy"
        assert error(client, "CLUSTER", "ADDSLOTS", 16384) == "Invalid or out of range slot"
        client.config_set("cluster-allow-reads-when-down", "yes")
        assert client.get("foo") is None
        assert error(client, "SET", "foo", 1) == "CLUSTERDOWN The cluster is down and only accepts read commands"
        client.config_set("cluster-require-full-coverage", "no")
        assert client.set("foo", 1)
        assert client.execute_command("CLUSTER", "ADDSLOTS", 16383)
        assert client.execute_command("CLUSTER", "COUNTKEYSINSLOT", 12182) == 1
        assert client.execute_command("CLUSTER", "GETKEYSINSLOT", 12182, 10) == [b"foo"]
        # Slot 0 begins at position 0, which is also the end of a SCAN.
        in_slot_0 = next(f"k{i}" for i in range(10**6) if key_slot(b"k%d" % i) == 0)
        assert client.set(in_slot_0, 1)
        assert client.execute_command("CLUSTER", "COUNTKEYSINSLOT", 0) == 1
        assert client.execute_command("CLUSTER", "GETKEYSINSLOT", 0, 10) == [in_slot_0.encode()]
        assert client.execute_command("CLUSTER", "DELSLOTS", 12182)
        assert error(client, "GET", "foo") == "CLUSTERDOWN Hash slot not served"
        assert error(client, "CLUSTER", "RESET") == "CLUSTER RESET can't be called with master nodes containing keys"
        client.flushall()
        old = client.execute_command("CLUSTER", "MYID")
        assert client.execute_command("CLUSTER", "RESET", "HARD")
        assert client.execute_command("CLUSTER", "MYID") != old


def test_getkeysinslot_shows_each_key_to_a_caller_that_deletes_them():
    """It continues where it found the first key the last time; keys before that must not be forgotten."""
    with Server(cluster_enabled=True) as server:
        client = clients([server])[0]
        client.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        names = {b"{foo}:%d" % i for i in range(1000)}
        client.mset(dict.fromkeys(names, 1))

        def keys(count):
            return client.execute_command("CLUSTER", "GETKEYSINSLOT", key_slot(b"foo"), count)

        left = set(names)
        while len(left) >= 100:
            some = keys(100)
            assert len(some) == 100 and left.issuperset(some)
            assert client.delete(*some[:70]) == 70
            left.difference_update(some[:70])
        assert set(keys(1000)) == left
        client.mset(dict.fromkeys(names, 2))  # most of them lie before the first one
        assert keys(10) and sorted(keys(10_000)) == sorted(names)
        client.flushall()
        assert keys(10) == []


def test_a_replica_serves_reads_that_ask_for_it():
    """READONLY; writes and reads without it are redirected. The role follows the topology."""
    with cluster(4) as servers:
        primary, replica = servers[0].client(), servers[3].client()
        primary.set("{hello}a", 1)
        wait_until(lambda: replica.info("replication").get("master_link_status") == "up", "the link", servers[3])
        moved = f"MOVED 866 127.0.0.1:{servers[0].port}"
        with replica.client() as one:
            assert error(one, "GET", "{hello}a") == moved
            one.execute_command("READONLY")
            wait_until(lambda: one.execute_command("GET", "{hello}a") == b"1", "the value")
            assert error(one, "SET", "{hello}a", 2) == moved
            assert error(one, "GET", "foo").startswith("MOVED 12182 ")
            one.execute_command("READWRITE")
            assert error(one, "GET", "{hello}a") == moved
        slots = clients(servers)[1].execute_command("CLUSTER", "SLOTS")
        assert [node[1] for node in slots[0][2:]] == [servers[0].port, servers[3].port]
        # The controller promotes the replica.
        text = lines([servers[3], *servers[1:3]]).replace(IDS[0], IDS[3])
        text += f"\n{IDS[0]} 127.0.0.1 {servers[0].port} slave {IDS[3]}"
        set_nodes(servers, text, 2)
        assert replica.set("{hello}a", 2)
        assert error(primary, "GET", "{hello}a") == f"MOVED 866 127.0.0.1:{servers[3].port}"
        with primary.client() as one:
            one.execute_command("READONLY")
            wait_until(lambda: one.execute_command("GET", "{hello}a") == b"2", "the replication")


def test_a_slot_migrates_key_by_key(nodes):
    """As redis-cli --cluster reshard does it: ASK for keys that have left, TRYAGAIN for several, MIGRATE, then NODE."""
    source, _, target = clients(nodes)
    slot = 866
    source.mset({f"{{hello}}{i}": i for i in range(100)})
    assert error(target, "CLUSTER", "SETSLOT", slot, "MIGRATING", IDS[0]) == f"I'm not the owner of hash slot {slot}"
    assert error(source, "CLUSTER", "SETSLOT", slot, "IMPORTING", IDS[2]) == (
        f"I'm already the owner of hash slot {slot}")
    assert error(source, "CLUSTER", "SETSLOT", slot, "MIGRATING", "f" * 40) == f"I don't know about node {'f' * 40}"
    assert target.execute_command("CLUSTER", "SETSLOT", slot, "IMPORTING", IDS[0])
    assert source.execute_command("CLUSTER", "SETSLOT", slot, "MIGRATING", IDS[2])
    assert "{}->-" not in source.execute_command("CLUSTER", "NODES").decode()
    assert f"[{slot}->-{IDS[2]}]" in source.execute_command("CLUSTER", "NODES").decode()
    keys = [f"{{hello}}{i}" for i in range(50)]
    source.execute_command("MIGRATE", "127.0.0.1", nodes[2].port, "", 0, 5000, "KEYS", *keys)
    ask = f"ASK {slot} 127.0.0.1:{nodes[2].port}"
    assert error(source, "GET", "{hello}1") == ask
    assert source.get("{hello}99") == b"99"
    assert error(source, "MGET", "{hello}1", "{hello}99").startswith("TRYAGAIN ")
    assert error(source, "SET", "{hello}new", 1) == ask
    assert error(target, "GET", "{hello}1").startswith(f"MOVED {slot} ")
    with target.client() as one:
        one.execute_command("ASKING")
        assert one.execute_command("GET", "{hello}1") == b"1"
        assert error(one, "GET", "{hello}1").startswith("MOVED ")
        one.execute_command("ASKING")
        assert error(one, "MGET", "{hello}1", "{hello}99").startswith("TRYAGAIN ")
        one.execute_command("ASKING")
        assert error(one, "NOSUCHCOMMAND").startswith("unknown command")
        assert error(one, "GET", "{hello}1").startswith("MOVED ")
    assert "while I still hold keys" in error(source, "CLUSTER", "SETSLOT", slot, "NODE", IDS[2])
    rest = source.execute_command("CLUSTER", "GETKEYSINSLOT", slot, 1000)
    assert len(rest) == 50
    source.execute_command("MIGRATE", "127.0.0.1", nodes[2].port, "", 0, 5000, "KEYS", *rest)
    for client in (target, source, clients(nodes)[1]):
        assert client.execute_command("CLUSTER", "SETSLOT", slot, "NODE", IDS[2])
    assert error(source, "GET", "{hello}1") == f"MOVED {slot} 127.0.0.1:{nodes[2].port}"
    assert target.execute_command("CLUSTER", "COUNTKEYSINSLOT", slot) == 100
    assert target.mget("{hello}1", "{hello}99") == [b"1", b"99"]
    target.flushall()
    set_nodes(nodes, lines(nodes), 10)


def test_a_blocked_client_is_redirected_when_its_slot_leaves(nodes):
    """It would wait for a push that goes to another node."""
    source = nodes[0].client()
    replies = []

    def wait():
        try:
            replies.append(nodes[0].client().blpop("{hello}list", 20))
        except redis.exceptions.ResponseError as moved:
            replies.append(str(moved))

    thread = threading.Thread(target=wait)
    thread.start()
    wait_until(lambda: source.info("clients")["blocked_clients"] == 1, "the client")
    text = lines(nodes).replace("0-5460", "0-865 867-5460").replace("10923-16383", "10923-16383 866")
    set_nodes(nodes, text, 11)
    thread.join(10)
    assert replies == [f"MOVED 866 127.0.0.1:{nodes[2].port}"]
    set_nodes(nodes, lines(nodes), 12)


def test_without_a_cluster_the_commands_say_so():
    """As Redis does."""
    with Server() as server:
        for command in (("CLUSTER", "NODES"), ("CLUSTER", "SETSLOT", 1, "STABLE"), ("ASKING",), ("READONLY",),
                        ("CLUSTERX", "VERSION")):
            assert error(server.client(), *command) == "This instance has cluster support disabled"


def test_a_node_changes_what_it_knows():
    """Epochs, a node that is forgotten, slots that are given up, and the words of what is refused."""
    with cluster() as servers:
        client, second, _ = clients(servers)
        # The controller's version is the epoch of all nodes.
        assert client.execute_command("CLUSTER", "BUMPEPOCH") == b"STILL 1"
        assert "The user can assign a config epoch only when" in error(client, "CLUSTER", "SET-CONFIG-EPOCH", 3)
        assert client.execute_command("CLUSTER", "COUNT-FAILURE-REPORTS", IDS[1]) == 0
        assert client.execute_command("CLUSTER", "LINKS") == []
        assert client.execute_command("CLUSTER", "SAVECONFIG")
        assert client.execute_command("CLUSTER", "MYSHARDID") == IDS[0].encode()
        assert client.execute_command("CLUSTER", "REPLICAS", IDS[1]) == []
        assert error(client, "CLUSTER", "FORGET", "f" * 40) == f"Unknown node {'f' * 40}"
        assert error(client, "CLUSTER", "FORGET", IDS[0]) == "I tried hard but I can't forget myself..."
        assert error(client, "CLUSTER", "REPLICATE", IDS[0]) == "Can't replicate myself"
        assert "must be empty and without assigned slots" in error(client, "CLUSTER", "REPLICATE", IDS[1])
        assert "A controller sets the nodes" in error(client, "CLUSTER", "MEET", "127.0.0.1", 1)
        assert "A controller sets the roles" in error(client, "CLUSTER", "FAILOVER")
        assert client.execute_command("CLUSTER", "DELSLOTSRANGE", 0, 100)
        assert error(client, "CLUSTER", "DELSLOTSRANGE", 0, 100) == "Slot 0 is already unassigned"
        assert error(client, "CLUSTER", "ADDSLOTSRANGE", 2, 1) == (
            "start slot number 2 is greater than end slot number 1")
        assert client.execute_command("CLUSTER", "FLUSHSLOTS")
        assert client.execute_command("CLUSTER", "REPLICATE", IDS[1])
        wait_until(lambda: servers[0].client().info("replication").get("master_link_status") == "up", "the link")
        assert error(client, "CLUSTER", "FORGET", IDS[1]) == "Can't forget my master!"
        assert second.execute_command("CLUSTER", "FORGET", IDS[2])
        assert IDS[2] not in second.execute_command("CLUSTER", "NODES").decode()
        assert b"SETSLOT" in b" ".join(client.execute_command("CLUSTER", "HELP"))
    with Server(cluster_enabled=True) as alone:
        assert alone.client().execute_command("CLUSTER", "BUMPEPOCH") == b"BUMPED 1"
        assert alone.client().execute_command("CLUSTER", "BUMPEPOCH") == b"STILL 1"
    with Server(cluster_enabled=True) as alone:
        assert alone.client().execute_command("CLUSTER", "SET-CONFIG-EPOCH", 7)
        assert error(alone.client(), "CLUSTER", "SET-CONFIG-EPOCH", 8) == "Node config epoch is already non-zero"
