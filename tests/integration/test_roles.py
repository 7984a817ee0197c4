# SPDX-License-Identifier: BSD-3-Clause
"""Changes of the role: effects on running writes, on blocked clients, and on replicas that lack a part of the
stream."""

import socket
import time

import pytest
import redis
from fake_peers import FIRST_ID, FakePrimary, FakeReplica, encode, give_everything
from pairs import assert_same, follow, replication, send_and_see, start, wait_for_link, wait_for_offset
from raw_client import RawClient
from waiting import assert_stays, wait_until

pytestmark = pytest.mark.slow

LONG_SCRIPT = "redis.call('SET', KEYS[1], 'written'); local x = 0; for i = 1, ARGV[1] do x = x + i end; return 'done'"
LONG = 60000000


def test_a_stream_is_the_same_when_read_from_before_a_fork():
    """A replica that lacks the end of the old stream gets the same bytes as one that starts at the fork."""
    with start("cairn") as server, server.client() as client:
        with FakeReplica(server.port) as first:
            first.acknowledge()
            client.set("a", 1)
            first.read()
            client.incr("n")
        client.execute_command("REPLICAOF", "127.0.0.1", 1)
        client.execute_command("REPLICAOF", "NO", "ONE")
        for _ in range(3):
            client.incr("n")
        with FakeReplica(server.port, resume=first) as again:
            assert not again.is_full
            stream = again.read()
            assert stream.count(b"INCR") + stream.count(b"incr") == 4
            assert again.offset == replication(server)["master_repl_offset"]
            again.acknowledge()
            client.incr("n")
            again.read()
            again.acknowledge()
            assert client.wait(1, 1000) == 1


def test_a_failover_includes_running_writes():
    """A script that has begun to write ends as on a primary, and the promoted replica has its writes."""
    with start("cairn", busy_reply_threshold=60000) as first, start("cairn") as second:
        follow(second, first)
        script = RawClient(first.port)
        send_and_see(first, script, "eval", LONG_SCRIPT, 1, "k", LONG, shown="eval")
        first.client().execute_command("FAILOVER")
        assert script.read() == (b"$", b"done")
        wait_until(lambda: replication(second)["role"] == "master", "the failover")
        wait_for_link(first)
        assert second.client().get("k") == b"written"
        assert second.client().info("stats")["sync_full"] == 0


def test_no_command_writes_after_a_demotion():
    """Commands that waited for a script's key when the role changed are refused, or are in the stream."""
    with start("cairn", busy_reply_threshold=60000) as server:
        for attempt in range(6):
            with FakeReplica(server.port) as replica:
                script = RawClient(server.port)
                send_and_see(server, script, "eval", LONG_SCRIPT, 1, "k", LONG // 10, shown="eval")
                writers = [RawClient(server.port) for _ in range(8)]
                for number, writer in enumerate(writers):
                    writer.send_together(("multi",), ("set", "k", number), ("rpush", f"l{attempt}:{number}", "x"),
                                         ("info", "server"), ("exec",))
                server.client().execute_command("REPLICAOF", "127.0.0.1", 1)
                script.read()
                answers = [[writer.read() for _ in range(5)][-1] for writer in writers]
                for number, (kind, content) in enumerate(answers):
                    assert kind == b"*" or content.startswith(b"EXECABORT"), content
                    assert (kind == b"*") == bool(server.client().exists(f"l{attempt}:{number}"))
                server.client().execute_command("REPLICAOF", "NO", "ONE")
                with FakeReplica(server.port, resume=replica) as again:
                    stream = again.read()
                    for number, (kind, _) in enumerate(answers):
                        assert (kind == b"*") == (b"l%d:%d" % (attempt, number) in stream)
                for client in (script, *writers):
                    client.close()


def test_a_transaction_with_keys_does_not_change_the_role():
    """It would wait for itself. Sentinel's transactions have no keys."""
    with start("cairn") as server:
        client = RawClient(server.port)
        for words in (("multi",), ("set", "a", 1), ("replicaof", "127.0.0.1", 1), ("failover", "abort")):
            client(*words)
        kind, replies = client("exec")
        assert kind == b"*" and replies[0] == (b"+", b"OK")
        assert all(reply[0] == b"-" for reply in replies[1:])
        for words in (("multi",), ("replicaof", "127.0.0.1", 1), ("config", "get", "port")):
            client(*words)
        assert client("exec")[1][0] == (b"+", b"OK")
        assert replication(server)["role"] == "slave"
        client.send_together(("get", "a"), ("replicaof", "no", "one"), ("set", "a", 2), ("replicaof", "127.0.0.1", 1))
        assert [client.read()[1] for _ in range(4)] == [b"1", b"OK", b"OK", b"OK"]


def test_a_promoted_replica_keeps_its_backlog():
    """repl-backlog-ttl starts at the promotion, however long the server was a replica without replicas before."""
    def serve(connection, _):
        give_everything(connection)
        for number in range(30):
            time.sleep(0.1)  # the stream lasts longer than repl-backlog-ttl
            connection.sendall(encode("set", "a", number))

    with start("cairn", repl_backlog_ttl=2) as server, FakePrimary(serve) as primary:
        server.client().execute_command("REPLICAOF", "127.0.0.1", primary.port)
        wait_for_link(server)
        wait_until(lambda: server.client().get("a") == b"29", "the end of the stream")
        server.client().execute_command("REPLICAOF", "NO", "ONE")
        assert_stays(lambda: replication(server)["repl_backlog_active"] == 1, 0.7, "the backlog")
        assert replication(server)["master_replid2"] == FIRST_ID.decode()
        wait_until(lambda: replication(server)["repl_backlog_active"] == 0, "the end of the backlog")


def test_a_failover_to_a_silent_server_can_be_aborted():
    """FAILOVER ABORT restores the role of primary; until then REPLICAOF is refused."""
    with socket.create_server(("127.0.0.1", 0)) as silent, start("cairn") as server, server.client() as client:
        port = silent.getsockname()[1]
        with FakeReplica(server.port, listening_port=port) as replica:
            replica.acknowledge()
            wait_until(lambda: replication(server)["slave0"]["state"] == "online")
            client.execute_command("FAILOVER", "TO", "127.0.0.1", port, "FORCE", "TIMEOUT", 300)
            wait_until(lambda: replication(server)["master_failover_state"] == "failover-in-progress")
            for words in (("127.0.0.1", 1), ("127.0.0.1", port), ("NO", "ONE")):
                with pytest.raises(redis.ResponseError, match="REPLICAOF not allowed while failing over."):
                    client.execute_command("REPLICAOF", *words)
            assert client.execute_command("FAILOVER", "ABORT") == b"OK"
            assert client.set("a", 1)
            assert replication(server)["role"] == "master"
            with pytest.raises(redis.ResponseError, match="No failover in progress"):
                client.execute_command("FAILOVER", "ABORT")


def test_client_pause_and_the_pause_of_a_failover_are_independent():
    """CLIENT UNPAUSE does not allow writes during a failover, and the end of a failover does not end CLIENT PAUSE."""
    with start("cairn") as server, FakeReplica(server.port) as replica:
        replica.acknowledge()
        client, writer = server.client(), RawClient(server.port)
        client.set("a", 1)
        client.execute_command("FAILOVER", "TIMEOUT", 1000)
        writer.send("set", "b", 1)
        client.execute_command("CLIENT", "UNPAUSE")
        assert_stays(lambda: client.get("b") is None, 0.3, "the pause")
        assert writer.read() == (b"+", b"OK")  # after the pause has ended
        client.execute_command("CLIENT", "PAUSE", 60000, "WRITE")
        client.execute_command("FAILOVER", "TIMEOUT", 200)
        wait_until(lambda: replication(server)["master_failover_state"] == "no-failover")
        writer.send("set", "c", 1)
        assert_stays(lambda: client.get("c") is None, 0.3, "the pause")
        client.execute_command("CLIENT", "UNPAUSE")
        assert writer.read() == (b"+", b"OK")


@pytest.mark.parametrize("kind", ["redis", "cairn"])
def test_client_pause_all_ends_in_time_during_a_failover(kind):
    """Reads continue when CLIENT PAUSE ALL ends, and writes when the failover ends."""
    with start(kind) as server, FakeReplica(server.port) as replica:
        replica.acknowledge()
        wait_until(lambda: replication(server)["slave0"]["state"] == "online")
        admin, reader, writer = (RawClient(server.port) for _ in range(3))
        admin("set", "a", 1)
        assert admin("failover", "timeout", 200000) == (b"+", b"OK")
        began = time.monotonic()
        admin("client", "pause", 500, "all")
        reader.send("get", "a")
        writer.send("set", "a", 2)
        assert reader.read() == (b"$", b"1")
        assert 0.4 < time.monotonic() - began < 60
        assert admin("failover", "abort") == (b"+", b"OK")
        assert writer.read() == (b"+", b"OK")
        assert time.monotonic() - began < 60


def failover_refusals(kind):
    """The errors of FAILOVER: without replicas, with an online one, during another failover, on a replica, and with a
    replica that is not online."""
    forms = ["", "force", "force timeout 10", "to 127.0.0.1 1 force", "to 127.0.0.1 2", "to 127.0.0.1 x", "timeout 0",
             "timeout x", "timeout -1", "timeout", "to 127.0.0.1", "timeout 1 timeout 2", "abort", "abort force",
             "force force", "to 127.0.0.1 2 force timeout 10"]
    refusals = []

    def ask(client, some):
        refusals.extend((form, client("failover", *form.split())) for form in some)

    with start(kind) as server, RawClient(server.port) as client:
        ask(client, forms)
        with FakeReplica(server.port) as replica:
            replica.acknowledge()
            wait_until(lambda: replication(server)["slave0"]["state"] == "online")
            ask(client, forms[1:])
            client("set", "a", 1)
            ask(client, [""])
            ask(client, [form for form in forms if form != "abort"])
            ask(client, ["abort"])
        client("replicaof", "127.0.0.1", 1)
        ask(client, forms)
    with start(kind, repl_diskless_sync_delay=60) as server, RawClient(server.port) as replica:
        replica("replconf", "listening-port", 1, "capa", "eof")
        replica.send("psync", "?", "-1")
        wait_until(lambda: replication(server)["connected_slaves"] == 1)
        with RawClient(server.port) as client:
            ask(client, ["force", "to 127.0.0.1 1", "to 127.0.0.1 1 force timeout 10"])
    return refusals


def test_failover_is_refused_as_in_redis():
    """The same errors; if two apply, the same one of them."""
    assert failover_refusals("cairn") == failover_refusals("redis")


@pytest.mark.parametrize("kind", ["redis", "cairn"])
def test_blocked_clients_are_disconnected_by_a_demotion(kind):
    """They get an error with the reason, and must find the new primary."""
    with start(kind) as server:
        waiter = RawClient(server.port)
        waiter.send("blpop", "q", 0)
        wait_until(lambda: server.client().info("clients")["blocked_clients"] == 1)
        server.client().execute_command("REPLICAOF", "127.0.0.1", 1)
        assert waiter.read()[1].startswith(b"UNBLOCKED force unblock")
        with pytest.raises(ConnectionError):
            waiter("ping")


def test_wait_is_about_the_last_write():
    """A WAIT that CLIENT UNBLOCK ended does not affect the reply of the next one."""
    with start("cairn") as server, FakeReplica(server.port) as replica:
        replica.acknowledge()
        writer, other = RawClient(server.port), server.client()
        number = writer("client", "id")[1]
        writer("set", "x", 1)
        writer.send("wait", 1, 0)
        wait_until(lambda: other.info("clients")["blocked_clients"] == 1)
        other.execute_command("CLIENT", "UNBLOCK", number, "ERROR")
        assert writer.read()[1].startswith(b"UNBLOCKED")
        replica.read()
        replica.acknowledge()
        writer("set", "y", 1)
        assert writer("wait", 1, 300) == (b":", b"0")
        replica.read()
        replica.acknowledge()
        assert writer("wait", 1, 5000) == (b":", b"1")


def test_the_selected_database_holds_when_a_stream_is_resumed():
    """A replica that was a primary in between, by command or by a start, and wrote nothing, goes on in the database
    that its primary's stream had selected."""
    with start("cairn") as first, start("cairn") as second:
        with first.client(db=5) as writer:
            writer.set("a", 1)
            follow(second, first)
            writer.set("b", 1)
            wait_for_offset(first, second)
            second.client().execute_command("REPLICAOF", "NO", "ONE")
            follow(second, first)
            writer.set("c", 1)
            assert_same(first, second, dbs=(0, 5))
            second.restart()
            follow(second, first)
            writer.set("d", 1)
            assert_same(first, second, dbs=(0, 5))
        assert first.client().info("stats")["sync_full"] == 1
        assert second.client(db=5).mget("a", "b", "c", "d") == [b"1"] * 4
