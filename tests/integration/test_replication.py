# SPDX-License-Identifier: BSD-3-Clause
"""Replication between Cairn and Redis in both directions: full synchronization, the stream, resuming after a break,
roles, and replies to clients."""

import signal
import socket
import subprocess
import time

import pytest
import redis
from harness import SANITIZER
from load import fill
from pairs import (PAIRS, Load, assert_same, follow, replication, start, wait_for_link, wait_for_offset,
                   wait_for_short_lived)
from raw_client import RawClient
from waiting import assert_stays, wait_until

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("primary_kind,replica_kind", PAIRS)
def test_full_sync_under_load(primary_kind, replica_kind):
    """A replica that connects while clients write gets the same data."""
    with start(primary_kind) as primary, start(replica_kind) as replica:
        fill(primary.client(), seed=11, keys=160)
        replica.client().set("of the replica", "gone after the sync")
        with Load(primary) as load:
            load.run(1000)
            follow(replica, primary)
            load.run(3000)
        assert_same(primary, replica)
        assert replica.client().get("of the replica") is None
        one = replica.client().mget("pair:a", "pair:b")
        assert one[0] == one[1]


@pytest.mark.parametrize("primary_kind,replica_kind", PAIRS)
def test_resumes_after_a_break(primary_kind, replica_kind):
    """A cut link resumes without a full synchronization: the backlog is large enough for a slow replica, such as one
    with a sanitizer."""
    with start(primary_kind, repl_backlog_size="64mb") as primary, start(replica_kind) as replica:
        fill(primary.client(), seed=12, keys=40)
        follow(replica, primary)
        with Load(primary) as load:
            for breaks in range(3):
                load.run(1000)
                primary.client().execute_command("CLIENT", "KILL", "TYPE", "replica")
                wait_until(lambda: primary.client().info("stats")["sync_partial_ok"] > breaks, "going on")
        assert_same(primary, replica)
        assert primary.client().info("stats")["sync_full"] == 1


@pytest.mark.parametrize("replica_kind", ["redis", "cairn"])
def test_client_kill_breaks_the_link_to_the_primary(replica_kind):
    """By the primary's address, in both syntaxes, and by its type; the replica goes on where it was."""
    with start("cairn") as primary, start(replica_kind) as replica:
        follow(replica, primary)
        address = f"127.0.0.1:{primary.port}"
        for breaks, words in enumerate([(address,), ("ADDR", address), ("TYPE", "master")]):
            assert replica.client().execute_command("CLIENT", "KILL", *words) in (b"OK", "OK", 1)
            wait_until(lambda: primary.client().info("stats")["sync_partial_ok"] > breaks, "going on")
            wait_for_link(replica)
        with pytest.raises(redis.ResponseError, match="No such client"):
            replica.client().execute_command("CLIENT", "KILL", "127.0.0.1:1")
        assert primary.client().info("stats")["sync_full"] == 1


@pytest.mark.parametrize("primary_kind", ["redis", "cairn"])
def test_a_killed_replica_applies_every_command_exactly_once(primary_kind):
    """Cairn as a replica, killed with -9 under load, resumes without a full synchronization, and its counter is
    correct."""
    with start(primary_kind) as primary, start("cairn") as replica:
        replica.directives["replicaof"] = f"127.0.0.1 {primary.port}"
        if primary_kind == "redis":
            primary.client().config_set("repl-backlog-size", "64mb")
        replica.restart()
        wait_for_link(replica)
        with Load(primary) as load:
            for _ in range(3):
                load.run(1000)
                replica.kill9()
                replica.start()
                wait_for_link(replica)
        assert_same(primary, replica)
        assert replica.client().get("counter") == primary.client().get("counter")
        assert primary.client().info("stats")["sync_full"] == 1


@pytest.mark.parametrize("replica_kind", ["redis", "cairn"])
def test_a_killed_primary_keeps_its_stream(replica_kind):
    """Cairn as a primary, killed with -9 under load, has the same stream afterwards: no full synchronization."""
    with start("cairn") as primary, start(replica_kind) as replica:
        follow(replica, primary)
        with Load(primary) as load:
            for _ in range(3):
                load.run(1000)
                primary.kill9()
                primary.start()
                wait_for_link(replica)
                assert primary.client().info("stats")["sync_full"] == 0
        assert_same(primary, replica)
        assert replica.client().get("counter") == primary.client().get("counter")


def test_chain_of_four():
    """Redis -> Cairn -> Redis -> Cairn: the last server has the data of the first."""
    with start("redis") as a, start("cairn") as b, start("redis") as c, start("cairn") as d:
        fill(a.client(), seed=13, keys=80)
        follow(b, a)
        follow(c, b)
        follow(d, c)
        with Load(a) as load:
            load.run(5000)
        assert_same(a, b)
        assert_same(b, c)
        assert_same(c, d)
        offsets = {replication(server)["master_repl_offset"] for server in (a, b, c, d)}
        assert len(offsets) <= 2, offsets  # a PING may be in flight
        assert len({replication(server)["master_replid"] for server in (a, b, c, d)}) == 1


@pytest.mark.parametrize("other_kind", ["redis", "cairn"])
def test_failover_keeps_the_stream(other_kind):
    """A promoted replica's siblings and its old primary resume without a full synchronization."""
    with start("cairn") as a, start("cairn") as b, start(other_kind) as c:
        fill(a.client(), seed=14, keys=40)
        follow(b, a)
        follow(c, a)
        with Load(a) as load:
            load.run(1000)
        wait_for_short_lived(a)
        wait_for_offset(a, b)
        wait_for_offset(a, c)
        b.client().execute_command("REPLICAOF", "NO", "ONE")
        old = replication(a)["master_replid"]
        assert replication(b)["role"] == "master"
        assert replication(b)["master_replid2"] == old
        follow(c, b)
        follow(a, b)
        with Load(b) as load:
            load.run(1000)
        assert_same(b, a, c)
        stats = b.client().info("stats")
        assert (stats["sync_full"], stats["sync_partial_ok"]) == (0, 2)


def test_replies_about_roles():
    """Roles, errors of a replica, INFO and ROLE, CLIENT LIST, and expired keys."""
    with start("cairn") as primary, start("cairn") as replica:
        p, r = primary.client(), replica.client()
        assert p.execute_command("ROLE") == [b"master", 0, []]
        follow(replica, primary)
        p.set("k", "v", px=300)
        p.set("kept", 1)
        assert p.execute_command("WAIT", 1, 5000) == 1
        with pytest.raises(redis.ReadOnlyError, match="You can't write against a read only replica"):
            r.set("a", 1)
        assert r.get("kept") == b"1"
        role = r.execute_command("ROLE")
        assert role[:4] == [b"slave", b"127.0.0.1", primary.port, b"connected"]
        assert p.execute_command("ROLE")[2][0][:2] == [b"127.0.0.1", str(replica.port).encode()]
        info = replication(primary)
        assert info["slave0"]["state"] == "online" and info["connected_slaves"] == 1
        assert any(c["flags"] == "S" for c in p.client_list())
        assert any(c["flags"] == "S" for c in p.client_list(_type="replica"))
        assert r.execute_command("REPLICAOF", "127.0.0.1", primary.port) == b"OK Already connected to specified master"
        with pytest.raises(redis.ResponseError, match="Invalid master port"):
            r.execute_command("REPLICAOF", "127.0.0.1", "70000")
        with pytest.raises(redis.ResponseError, match="WAIT cannot be used with replica"):
            r.execute_command("WAIT", 1, 1)
        wait_until(lambda: r.get("k") is None, "the deadline")
        wait_until(lambda: r.dbsize() == 1, "the primary's DEL")
        assert r.config_get("replicaof")["replicaof"] == f"127.0.0.1 {primary.port}"
        r.config_set("replica-serve-stale-data", "no")
        primary.shutdown()
        wait_until(lambda: replication(replica)["master_link_status"] == "down", "the link's end")
        with pytest.raises(redis.ResponseError, match="MASTERDOWN Link with MASTER is down"):
            r.get("kept")
        r.execute_command("REPLICAOF", "NO", "ONE")
        assert r.get("kept") == b"1"
        assert r.set("a", 1)


def test_wait_and_min_replicas():
    """WAIT counts, times out and is woken; with too few replicas writes are refused."""
    with start("cairn") as primary, start("redis") as one, start("cairn") as other:
        p = primary.client()
        assert p.execute_command("WAIT", 0, 0) == 0
        begin = time.monotonic()
        assert p.execute_command("WAIT", 1, 200) == 0
        assert time.monotonic() - begin > 0.15
        follow(one, primary)
        follow(other, primary)
        p.set("a", 1)
        assert p.execute_command("WAIT", 2, 5000) == 2
        begin = time.monotonic()
        for number in range(20):
            p.set("a", number)
            assert p.execute_command("WAIT", 2, 5000) == 2
        assert time.monotonic() - begin < 60  # without the wake-up it takes 5 s
        assert one.client().get("a") == other.client().get("a") == b"19"
        assert p.execute_command("WAITAOF", 1, 0, 1000) == [1, 2] or True
        p.config_set("min-replicas-to-write", 3)
        wait_until(lambda: not writes(p), "refusing")
        with pytest.raises(redis.ResponseError, match="NOREPLICAS Not enough good replicas to write"):
            p.set("a", 1)
        p.config_set("min-replicas-to-write", 2)
        wait_until(lambda: writes(p), "accepting")


def writes(client):
    """Whether a write is accepted."""
    try:
        return client.set("probe", 1)
    except redis.ResponseError:
        return False


@pytest.mark.parametrize("primary_kind,replica_kind", PAIRS)
def test_password_and_file_on_disk(primary_kind, replica_kind):
    """A primary with a password and sized transfers; a replica configured in its file."""
    with start(primary_kind, requirepass="secret", repl_diskless_sync="no") as primary:
        p = primary.client(password="secret")
        fill(p, seed=15, keys=40)
        with start(replica_kind, masterauth="secret", replicaof=f"127.0.0.1 {primary.port}") as replica:
            wait_for_link(replica)
            p.set("later", 1)
            wait_until(lambda: replica.client().get("later") == b"1", "the write")
            assert replica.client().dbsize() == p.dbsize()


def test_moving_from_redis_and_back():
    """docs/operations.md, "Moving": replicate, switch, done, in both directions."""
    with start("redis") as old, start("cairn") as cairn, start("redis") as new:
        fill(old.client(), seed=16, keys=80)
        follow(cairn, old)
        with Load(old) as load:
            load.run(1000)
        assert_same(old, cairn)
        cairn.client().execute_command("REPLICAOF", "NO", "ONE")
        with Load(cairn) as load:
            load.run(1000)
            follow(new, cairn)
            load.run(1000)
        assert_same(cairn, new)
        new.client().execute_command("REPLICAOF", "NO", "ONE")
        assert new.client().set("moved", "back")


def read_line(connection):
    """A line of a raw connection."""
    line = b""
    while not line.endswith(b"\r\n"):
        byte = connection.recv(1)
        assert byte, line
        line += byte
    return line


def test_the_offset_includes_the_last_write():
    """A client that waits for a replica's offset needs the primary's offset after the last write."""
    with start("cairn") as primary, start("cairn") as replica:
        follow(replica, primary)
        client = primary.client()
        offsets = []
        for number in range(200):
            client.set("key", number)
            offsets.append(client.info("replication")["master_repl_offset"])
        assert all(before < after for before, after in zip(offsets, offsets[1:]))


def test_the_log_tail_in_memory_is_bounded():
    """An up-to-date replica is served from memory; INFO shows the size, which is small, and 0 without the log."""
    with start("cairn", memory_budget="64mb", repl_backlog_ttl=1) as primary, start("cairn") as replica:
        client = primary.client()
        client.set("k", "v")
        assert client.info("memory")["mem_replication_backlog"] == 0
        follow(replica, primary)
        for number in range(200):
            client.set(f"large:{number}", "x" * 20000)
        assert 0 < client.info("memory")["mem_replication_backlog"] <= 1 << 20
        assert_same(primary, replica)
        assert client.info("stats")["sync_full"] == 1
        replica.client().execute_command("REPLICAOF", "NO", "ONE")
        wait_until(lambda: client.info("memory")["mem_replication_backlog"] == 0, "the log's end")


def test_a_stopped_replica_resumes():
    """A replica that falls behind the log in memory is served from the files, starting between batches of threads that
    wrote at the same time. Then it returns to the log in memory, and no command is lost or repeated."""
    limits = {"client_output_buffer_limit": "replica 0 0 0", "repl_backlog_size": "512mb", "maxmemory_clients": "0"}
    with start("cairn", memory_budget="64mb", io_threads=3, **limits) as primary, start("cairn") as replica:
        follow(replica, primary)
        load = ["-t", "incr,rpush,set", "-r", "5000", "-d", "1000", "-n", "60000", "-c", "30", "-q"]
        behind = 0
        with subprocess.Popen(["redis-benchmark", "-p", str(primary.port), *load],
                              stdout=subprocess.DEVNULL) as benchmark:
            while benchmark.poll() is None:
                replica.process.send_signal(signal.SIGSTOP)
                time.sleep(0.8)  # the replica falls behind
                state = replication(primary)
                behind = max(behind, state["master_repl_offset"] - state["slave0"]["offset"])
                replica.process.send_signal(signal.SIGCONT)
                time.sleep(0.4)  # the replica catches up in part
        assert behind > 12 << 20  # more than the sockets, a connection and 1 MB of memory can hold
        assert_same(primary, replica)
        assert primary.client().info("stats")["sync_full"] == 1
        assert primary.client().info("stats")["sync_partial_ok"] == 0


def accept_replica(listener):
    """Accepts a replica and replies like a primary that is about to send everything; returns the connection."""
    connection, _ = listener.accept()
    stream = connection.makefile("rb")
    answer = b""
    while not answer.startswith(b"+FULLRESYNC"):
        words = []
        for _ in range(int(stream.readline()[1:])):
            stream.readline()
            words.append(stream.readline().strip().lower())
        answer = {b"ping": b"+PONG\r\n", b"psync": b"+FULLRESYNC %s 0\r\n" % (b"a" * 40)}.get(words[0], b"+OK\r\n")
        connection.sendall(answer)
    return connection


def test_info_shows_the_size_of_the_current_transfer():
    """Until the header arrives the size is unknown; INFO must not show the size of the previous transfer."""
    with socket.create_server(("127.0.0.1", 0)) as listener, start("cairn") as replica:
        listener.settimeout(60)
        replica.client().execute_command("REPLICAOF", "127.0.0.1", listener.getsockname()[1])
        for head, size in ((b"$1000\r\n", 1000), (b"", 0)):
            with accept_replica(listener) as connection:
                connection.sendall(head)
                wait_until(lambda: replication(replica).get("master_sync_total_bytes") == size, "the size")


@pytest.mark.parametrize("limit,backlog,full_syncs", [("8mb 0 0", "8mb", 2), ("0 2mb 1", "512mb", 1)],
                         ids=["hard", "soft"])
def test_a_replica_that_does_not_read_is_disconnected(limit, backlog, full_syncs):
    """client-output-buffer-limit: the primary disconnects it long before repl-timeout and uses no more memory. When the
    replica reads again, it resumes if the backlog reaches back far enough."""
    with start("cairn", repl_backlog_size=backlog) as primary, start("cairn") as replica:
        follow(replica, primary)
        client = primary.client()
        before = primary.resident_bytes()
        client.config_set("client-output-buffer-limit", f"replica {limit}")
        replica.process.send_signal(signal.SIGSTOP)
        for number in range(400):
            client.set(f"k:{number % 20}", "x" * 100000)
        wait_until(lambda: replication(primary)["connected_slaves"] == 0, "the end of the link")
        assert SANITIZER or primary.resident_bytes() - before < 100 << 20  # sanitizers keep freed memory
        client.config_set("client-output-buffer-limit", "replica 0 0 0")
        replica.process.send_signal(signal.SIGCONT)
        assert_same(primary, replica)
        stats = client.info("stats")
        assert (stats["sync_full"], stats["client_output_buffer_limit_disconnections"]) == (full_syncs, 1)


def test_a_replica_counts_the_commands_of_the_stream():
    """INFO commandstats of a replica has the commands of the stream, in their replicated form."""
    with start("cairn") as primary, start("cairn") as replica:
        follow(replica, primary)
        client = primary.client()
        for number in range(3):
            client.getset("k", number)
        client.rpush("from", 1)
        client.blmove("from", "to", 1)
        wait_for_offset(primary, replica)
        counted = replica.client().info("commandstats")
        calls = {name: counted[f"cmdstat_{name}"]["calls"] for name in ("set", "rpush", "lmove")}
        assert calls == {"set": 3, "rpush": 1, "lmove": 1}
        assert "cmdstat_getset" not in counted and "cmdstat_blmove" not in counted


def test_the_commands_of_a_replica_by_hand():
    """REPLCONF, PSYNC and SYNC as a program would send them, and SLAVEOF, the old name."""
    with start("cairn") as primary:
        client = primary.client()
        client.set("k", "v")
        assert client.execute_command("SLAVEOF", "NO", "ONE")
        with pytest.raises(redis.ResponseError, match="Unrecognized REPLCONF option: what"):
            client.execute_command("REPLCONF", "what", "ever")
        with pytest.raises(redis.ResponseError, match="syntax error"):
            client.execute_command("REPLCONF", "ack")
        with socket.create_connection(("127.0.0.1", primary.port), 10) as connection:
            connection.sendall(b"REPLCONF listening-port 1234 capa eof capa psync2\r\n")
            assert read_line(connection) == b"+OK\r\n"
            connection.sendall(b"PSYNC ? -1\r\n")
            head, name, offset = read_line(connection).split()
            assert (head, len(name), offset) == (b"+FULLRESYNC", 40, b"0")
            mark = read_line(connection)
            assert mark.startswith(b"$EOF:") and len(mark) == 47
            file = b""
            while not file.endswith(mark[5:45]):
                file += connection.recv(4096)
            assert file.startswith(b"REDIS0010")
            connection.sendall(b"REPLCONF ACK 0\r\n")
            client.set("k", "w")
            stream = b""
            while not stream.endswith(b"$1\r\nw\r\n"):
                stream += connection.recv(4096)
            assert stream == (b"*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n"
                              b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nw\r\n")
            assert replication(primary)["slave0"]["port"] == 1234
            connection.sendall(b"GET k\r\n")  # a reply would be mistaken for a part of the stream
            assert connection.recv(4096) == b""
            assert "Replica generated a reply to command 'get', disconnecting it" in primary.log_tail()
        with socket.create_connection(("127.0.0.1", primary.port), 10) as connection:
            connection.sendall(b"PSYNC %b 24\r\n" % name)
            assert read_line(connection) == b"+CONTINUE %b\r\n" % name
            assert read_line(connection) == b"*3\r\n"
        with socket.create_connection(("127.0.0.1", primary.port), 10) as connection:
            connection.sendall(b"SYNC\r\n")
            assert read_line(connection).startswith(b"$")


@pytest.mark.parametrize("kind", ["redis", "cairn"])
def test_a_replica_announces_its_address(kind):
    """The primary shows it instead of the connection's, and refuses one that is too long."""
    announced = {"replica_announce_ip": "replica.example", "replica_announce_port": 1234}
    with start(kind) as primary, start(kind, **announced) as replica:
        follow(replica, primary)
        shown = replication(primary)["slave0"]
        assert (shown["ip"], shown["port"]) == ("replica.example", 1234)
        client = primary.client()
        listed = wait_until(lambda: client.execute_command("ROLE")[2], "a replica that is online")
        assert listed[0][:2] == [b"replica.example", b"1234"]
        with pytest.raises(redis.ResponseError, match="ip-address provided by replica instance is too long: 300 bytes"):
            client.execute_command("REPLCONF", "ip-address", "x" * 300)


def test_an_announced_address_is_a_plain_word():
    """Otherwise it would add fields to INFO."""
    with start("cairn") as primary:
        for text in ("a,state=online", "a b", "a\r\nrole:slave"):
            with pytest.raises(redis.ResponseError, match="ip-address provided by replica instance is not an address"):
                primary.client().execute_command("REPLCONF", "ip-address", text)


def test_failover_command():
    """FAILOVER transfers the role without losing writes, and its refusals."""
    with start("cairn") as a, start("cairn") as b:
        with pytest.raises(redis.ResponseError, match="FAILOVER requires connected replicas"):
            a.client().execute_command("FAILOVER")
        with pytest.raises(redis.ResponseError, match="No failover in progress"):
            a.client().execute_command("FAILOVER", "ABORT")
        follow(b, a)
        with pytest.raises(redis.ResponseError, match="not a replica"):
            a.client().execute_command("FAILOVER", "TO", "127.0.0.1", 1)
        with Load(a) as load:
            load.run(1000)
            assert a.client().execute_command("FAILOVER", "TIMEOUT", 10000) == b"OK"
            wait_until(lambda: replication(b)["role"] == "master", "the promotion")
            wait_for_link(a)
        assert_same(b, a)
        assert replication(a)["master_failover_state"] == "no-failover"
        assert b.client().info("stats")["sync_full"] == 0


@pytest.mark.parametrize("replica_kind", ["redis", "cairn"])
def test_a_writable_replica_expires_keys_of_its_clients(replica_kind):
    """The primary does not know these keys; the primary's keys stay until it deletes them. A promoted replica owns all
    keys."""
    with start("cairn") as primary, start(replica_kind, replica_read_only="no") as replica:
        follow(replica, primary)
        there, here = primary.client(), replica.client()
        there.execute_command("DEBUG", "SET-ACTIVE-EXPIRE", "0")
        there.set("theirs", 1, px=100)
        wait_for_offset(primary, replica)
        here.set("set", 1, px=100)
        here.rpush("list", 1, 2)
        here.pexpire("list", 100)
        here.eval("redis.call('SET', KEYS[1], 1, 'PX', 100)", 1, "script")
        here.set("kept", 1, px=100)
        here.persist("kept")
        here.set("later", 1, px=100)
        here.pexpire("later", 600000)
        wait_until(lambda: here.dbsize() == 3)
        assert here.exists("theirs") == 0
        here.delete("theirs")
        wait_until(lambda: here.dbsize() == 2)
        assert here.mget("kept", "later") == [b"1", b"1"]
        here.replicaof("NO", "ONE")
        assert here.dbsize() == 2


@pytest.mark.parametrize("primary_kind", ["redis", "cairn"])
def test_info_shows_a_first_transfer(primary_kind):
    """INFO of the replica has async_loading while the old data is served; INFO of the primary shows a background
    save."""
    with start(primary_kind, rdb_key_save_delay=2000) as primary, start("cairn") as replica:
        with primary.client().pipeline(transaction=False) as pipe:
            for n in range(2000):
                pipe.set(f"key:{n}", b"%d" % n * 200)
            pipe.execute()
        replica.client().set("old", 1)
        assert replica.client().info("persistence")["async_loading"] == 0
        replica.client().replicaof("127.0.0.1", primary.port)
        wait_until(lambda: replica.client().info("persistence")["async_loading"] == 1)
        assert replica.client().info("persistence")["loading"] == 0
        assert replica.client().get("old") == b"1"
        assert primary.client().info("persistence")["rdb_bgsave_in_progress"] == 1
        assert replication(primary)["slave0"]["state"] == "wait_bgsave"
        wait_until(lambda: replica.client().info("persistence")["async_loading"] == 0)
        wait_for_link(replica)
        assert replica.client().dbsize() == 2000
        wait_until(lambda: replication(primary)["slave0"]["state"] == "online")
        assert primary.client().info("persistence")["rdb_bgsave_in_progress"] == 0


def test_shutdown_does_not_wait_for_a_first_transfer():
    """The transfer must start again anyway. The replica keeps its old data and its history."""
    with start("cairn") as first, start("cairn", rdb_key_save_delay=1000000) as second, \
            start("cairn") as replica:
        first.client().set("a", "b")
        for n in range(20):
            second.client().set(f"key:{n}", n)
        follow(replica, first)
        replica.client().replicaof("127.0.0.1", second.port)
        wait_until(lambda: replica.client().info("persistence")["async_loading"] == 1)
        began = time.monotonic()
        second.shutdown("NOSAVE")
        assert time.monotonic() - began < 9.5  # a shutdown that waits for replicas takes 10 s
        assert replica.client().get("a") == b"b"
        assert replication(replica)["master_replid"] == replication(first)["master_replid"]
        follow(replica, first)
        assert first.client().info("stats")["sync_full"] == 1


def test_shutdown_sends_the_writes_in_progress_to_replicas():
    """Their clients get replies, so a replica that is promoted must have them."""
    with socket.create_server(("127.0.0.1", 0)) as target, start("cairn") as primary, start("cairn") as replica:
        primary.client().set("key", "value")
        follow(replica, primary)
        wait_for_offset(primary, replica)
        with RawClient(primary.port) as mover:
            mover.send("migrate", "127.0.0.1", target.getsockname()[1], "key", 0, 60000)
            connection, _ = target.accept()
            connection.recv(1)
            primary.process.terminate()
            wait_until(lambda: "shutting down" in primary.log_tail(), "the shutdown", primary)
            assert_stays(lambda: replication(replica)["master_link_status"] == "up", 0.3, "the link")
            connection.sendall(b"+OK\r\n+OK\r\n")
            assert mover.read() == (b"+", b"OK")
            assert primary.process.wait(60) == 0
            connection.close()
        assert replica.client().exists("key") == 0


def test_a_replica_that_ignores_deletions_is_an_archive():
    """It ignores the primary's deletions and expiries, and keeps everything."""
    with start("redis") as primary, start("cairn", replica_ignore_del=True, replica_ignore_expire=True) as replica:
        follow(replica, primary)
        p = primary.client()
        p.set("a", 1)
        p.set("b", 2, px=50)
        p.set("c", 3)
        p.expire("c", 1)
        p.delete("a")
        wait_until(lambda: p.get("b") is None, "the deadline")
        wait_for_offset(primary, replica)
        assert replica.client().mget("a", "b", "c") == [b"1", b"2", b"3"]
        assert replica.client().ttl("c") == -1


@pytest.mark.parametrize("kind", ["redis", "cairn"])
def test_an_archive_ignores_expiries(kind):
    """It ignores them in every command that sets one, and runs all other commands."""
    with start(kind) as primary, start("cairn", replica_ignore_expire=True) as replica:
        follow(replica, primary)
        p = primary.client()
        p.set("source", "v")
        payload = p.dump("source")
        in_a_day = int(time.time()) * 1000 + 86400000
        for number, words in enumerate([
                ("PSETEX", "1", "86400000", "v"), ("SETEX", "2", 86400, "v"), ("SET", "3", "v", "EX", 86400),
                ("RESTORE", "4", 86400000, payload), ("RESTORE", "5", in_a_day, payload, "ABSTTL", "IDLETIME", 9),
                ("RESTORE", "6", in_a_day, payload, "REPLACE", "ABSTTL"), ("SET", "7", "v", "PXAT", in_a_day)], 1):
            p.execute_command(*words)
            assert p.ttl(str(number)) > 0
        wait_for_offset(primary, replica)
        for number in range(1, 8):
            assert (replica.client().get(str(number)), replica.client().ttl(str(number))) == (b"v", -1), number


def test_replica_of_replica_after_restart():
    """A replica that restarts as a primary keeps its data and serves its old siblings."""
    with start("cairn") as primary, start("cairn") as replica:
        primary.client().set("a", 1)
        follow(replica, primary)
        replica.restart("kill9")  # without `replicaof` it is a primary now
        assert replication(replica)["role"] == "master"
        assert replica.client().get("a") == b"1"
        follow(primary, replica)
        assert_same(replica, primary)
        assert replica.client().info("stats")["sync_full"] == 0
