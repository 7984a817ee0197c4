# SPDX-License-Identifier: BSD-3-Clause
"""Replication with peers that are slow, unusual or broken, and with a clock that moves on."""

import os
import signal
import socket
import subprocess
import threading
import time

import pytest
from fake_peers import EMPTY_RDB, FIRST_ID, FIRST_OFFSET, FakePrimary, FakeReplica, encode, give_everything
from pairs import Load, assert_same, follow, replication, start, wait_for_link
from raw_client import RawClient
from waiting import assert_stays, let_pass, wait_until

pytestmark = pytest.mark.slow

OTHER_ID = b"b" * 40


def has_ipv6():
    """Whether this machine has ::1."""
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


@pytest.mark.parametrize("marked", [True, False])
def test_a_replica_that_cannot_read_a_type_is_named(marked):
    """Redis refuses a file with a JSON value; only the primary knows which key it was."""
    with start("cairn") as server:
        server.client().set("text", "x")
        with FakeReplica(server.port, marked=marked):
            assert "only Cairn can read" not in server.log_path.read_text()
        server.client().execute_command("JSON.SET", "document", "$", "1")
        with FakeReplica(server.port, marked=marked):
            wait_until(lambda: "has 1 keys that only Cairn can read (JSON values, filters or sketches), the first of "
                               "them document" in server.log_path.read_text(), "the warning")


@pytest.mark.parametrize("diskless", ["yes", "no"])
def test_a_replica_that_loads_sends_keepalives(diskless):
    """It sends newlines during the load, so the primary does not time out while it waits for an acknowledgement."""
    with start("cairn", repl_timeout=2, repl_diskless_sync=diskless) as server:
        with FakeReplica(server.port) as replica:
            for _ in range(10):
                replica.socket.sendall(b"\n")
                replica.read(0.5)
            assert replication(server)["connected_slaves"] == 1
            wait_until(lambda: replication(server)["connected_slaves"] == 0, "giving a silent one up")


def test_a_command_larger_than_the_output_limit():
    """The limit is at least the backlog's size; otherwise a replica would reconnect for the same bytes again and
    again."""
    with start("cairn", repl_backlog_size="64mb") as server, FakeReplica(server.port) as replica:
        replica.acknowledge()
        server.client().config_set("client-output-buffer-limit", "replica 1mb 0 0")
        server.client().set("large", "x" * 3000000)
        wait_until(lambda: replica.read(0.2) is not None and len(replica.stream) > 3000000, "the command")
        assert replication(server)["connected_slaves"] == 1


@pytest.mark.parametrize("kind", ["redis", "cairn"])
def test_a_first_transfer_larger_than_the_output_limit(kind):
    """The limit applies to unread bytes, not to the size of a piece."""
    with start(kind, repl_backlog_size=16384) as primary, start("cairn") as replica:
        primary.client().config_set("client-output-buffer-limit", "replica 16384 0 0")
        for number in range(200):
            primary.client().set(f"k{number}", os.urandom(6000))
        follow(replica, primary)
        assert replica.client().dbsize() == 200
        assert primary.client().info("stats")["sync_full"] == 1


def test_a_first_transfer_that_takes_longer_than_the_soft_limit():
    """A replica that reads 1 MB every 80 ms does not leave more than 1 MB unread for a second."""
    with start("cairn", enable_debug_command="yes", rdbcompression="no") as server, RawClient(server.port) as replica:
        server.client().config_set("client-output-buffer-limit", "replica 0 1mb 1")
        server.client().execute_command("DEBUG", "POPULATE", 40, "p", 1000000)
        replica.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        replica("replconf", "capa", "eof")
        replica.send("psync", "?", "-1")
        size = 0
        while size < 40000000:
            piece = replica.socket.recv(1 << 18)
            assert piece, f"cut off after {size} bytes"
            size += len(piece)
            time.sleep(0.08 * len(piece) / (1 << 20))  # the rate of the claim


def test_client_pause_does_not_apply_to_a_replica():
    """CLIENT PAUSE applies to clients: a replica still acknowledges, and does not time out."""
    with start("cairn", repl_timeout=2, repl_ping_replica_period=1) as primary, start("cairn") as replica:
        follow(replica, primary)
        wait_until(lambda: replication(primary)["slave0"]["state"] == "online")
        client = primary.client()
        client.execute_command("CLIENT", "PAUSE", 60000, "ALL")
        time.sleep(5)  # longer than repl-timeout, without any other command
        client.execute_command("CLIENT", "UNPAUSE")
        assert "Disconnecting timedout replica" not in primary.log_tail()
        assert replication(primary)["connected_slaves"] == 1


@pytest.mark.parametrize("stream", [
    b"*2\r\n$3\r\nSET\r\n$9223372036854775807\r\nabc",
    b"*2\r\n$3\r\nSET\r\n$1000000000000\r\nabc",
])
def test_a_primary_that_announces_huge_sizes(stream):
    """The replica allocates memory for received bytes, not for announced ones."""
    def serve(connection, _):
        give_everything(connection)
        connection.sendall(stream)

    with start("cairn") as server, FakePrimary(serve) as primary:
        server.client().execute_command("REPLICAOF", "127.0.0.1", primary.port)
        wait_for_link(server)
        assert_stays(server.client().ping, 0.5, "the answer to others")
        server.client().execute_command("REPLICAOF", "NO", "ONE")
        assert server.resident_bytes() < 1 << 30


def test_a_primary_that_announces_a_huge_content_of_files():
    """The same for a transfer of files."""
    before_content = threading.Event()

    def serve(connection, _):
        connection.sendall(b"+FULLRESYNC %s %d\r\n" % (FIRST_ID, FIRST_OFFSET))
        connection.sendall(b"$CAIRN-FILES 1 %s 256 16777216 0 0\r\n" % FIRST_ID)
        connection.sendall(b"END 1073741824 0123456789abcdef 0\r\nabc")
        before_content.set()

    with start("cairn") as server, FakePrimary(serve) as primary:
        limit = server.resident_bytes() + (64 << 20)
        server.client().execute_command("REPLICAOF", "127.0.0.1", primary.port)
        assert before_content.wait(60)
        assert_stays(lambda: server.resident_bytes() < limit, 2, "the memory")
        server.client().execute_command("REPLICAOF", "NO", "ONE")


@pytest.mark.parametrize("words", [
    ("monitor",), ("psync", "?", "-1"), ("client", "tracking", "on"), ("subscribe", "x"), ("replicaof", "no", "one"),
    ("debug", "reload"), ("hello", "3"), ("wait", "1", "0"), ("shutdown",), ("config", "set", "port", "1"),
], ids=" ".join)
def test_a_primary_that_sends_commands_that_replicas_must_not_run(words):
    """The command is skipped and logged; the stream continues."""
    def serve(connection, _):
        give_everything(connection)
        connection.sendall(encode(*words) + encode("set", "after", "1"))

    with start("cairn", enable_debug_command="yes") as server, FakePrimary(serve) as primary:
        server.client().execute_command("REPLICAOF", "127.0.0.1", primary.port)
        wait_until(lambda: server.client().get("after") == b"1", "the command after it")
        assert "== CRITICAL ==" in server.log_tail()
        server.client().execute_command("REPLICAOF", "NO", "ONE")


def acknowledged(primary):
    """The offsets that the replica of a FakePrimary has acknowledged."""
    return [int(words[2]) for words in list(primary.commands) if words[:2] == [b"REPLCONF", b"ACK"]]


@pytest.mark.parametrize("stream", [
    encode("select", 20) + encode("set", "a", "wrong"),
    encode("multi") + encode("select", 20) + encode("set", "a", "wrong") + encode("exec"),
    encode("swapdb", 0, 20), encode("move", "a", 20), encode("copy", "a", "b", "db", 20),
], ids=["select", "multi", "swapdb", "move", "copy"])
def test_a_primary_that_uses_a_database_that_the_replica_lacks(stream):
    """The replica neither changes another database nor acknowledges the command, and asks for a full transfer."""
    rounds = []
    first = encode("set", "a", "right")

    def serve(connection, words):
        rounds.append((connection, words[1:3]))
        if len(rounds) == 1:
            give_everything(connection)
            connection.sendall(first)

    with start("cairn", databases=16) as server, FakePrimary(serve) as primary:
        client = server.client()
        client.execute_command("REPLICAOF", "127.0.0.1", primary.port)
        wait_until(lambda: client.get("a") == b"right", "the first command")
        rounds[0][0].sendall(stream)
        wait_until(lambda: len(rounds) == 2, "the second PSYNC")
        assert rounds[1][1] == [b"?", b"-1"]
        assert max(acknowledged(primary)) <= FIRST_OFFSET + len(first)
        assert "raise `databases`" in server.log_tail()
        assert client.get("a") == b"right" and client.dbsize() == 1
        client.execute_command("REPLICAOF", "NO", "ONE")


@pytest.mark.parametrize("kind", ["redis", "cairn"])
def test_a_replica_with_fewer_databases_follows_again_when_it_has_more(kind):
    with start(kind, databases=32) as primary:
        with start("cairn", databases=16, replicaof=f"127.0.0.1 {primary.port}") as replica:
            wait_for_link(replica)
            primary.client().set("a", "right")
            primary.client(db=20).set("a", "high")
            wait_until(lambda: "it has keys in database 20; raise `databases` to load it" in replica.log_tail(),
                       "the refused transfer")
            assert replica.client().get("a") in (b"right", None)
            replica.directives["databases"] = 32
            replica.restart()
            wait_until(lambda: replica.client(db=20).get("a") == b"high", "the stream")
            assert replica.client().get("a") == b"right"


def test_a_first_transfer_whose_stream_is_in_a_database_that_the_replica_lacks():
    """Commands without a SELECT follow: they change that database."""
    transfers = []

    def serve(connection, _):
        transfers.append(connection)
        place = EMPTY_RDB.index(b"\xff")
        give_everything(connection, file=EMPTY_RDB[:place] + b"\xfa\x0erepl-stream-db\x0220" + EMPTY_RDB[place:])
        connection.sendall(encode("set", "a", "wrong"))

    with start("cairn", databases=16) as server, FakePrimary(serve) as primary:
        server.client().execute_command("REPLICAOF", "127.0.0.1", primary.port)
        wait_until(lambda: len(transfers) == 2, "the second transfer")
        assert "the stream is in database 20; raise `databases` to follow it" in server.log_tail()
        assert server.client().get("a") is None
        server.client().execute_command("REPLICAOF", "NO", "ONE")


SLOW_SCRIPT = "local began = os.clock() while os.clock() < began + 0.3 do end redis.call('incr', 'n')"
SLOW_COMMAND = encode("eval", SLOW_SCRIPT, 0)


def serve_slow_commands(count):
    """A FakePrimary's `serve`: so many commands of 0.3 s in one segment, then PINGs for twice the time."""
    def serve(connection, _):
        give_everything(connection)
        connection.sendall(SLOW_COMMAND * count)
        try:
            for _ in range(count):
                time.sleep(0.6)  # the pace of the PINGs
                connection.sendall(encode("ping"))
        except OSError:
            pass  # the replica has left

    return serve


def test_a_replica_acknowledges_while_it_applies_what_it_has_read():
    """A few KB of stream may take long to apply. The primary must not take the replica for dead, nor the replica the
    primary."""
    with start("cairn", repl_timeout=2) as server, FakePrimary(serve_slow_commands(14)) as primary:
        server.client().execute_command("REPLICAOF", "127.0.0.1", primary.port)
        wait_until(lambda: server.client().get("n") == b"14", "the last command")
        end = FIRST_OFFSET + 14 * len(SLOW_COMMAND)
        wait_until(lambda: max(acknowledged(primary)) >= end, "its acknowledgement")
        assert len({offset for offset in acknowledged(primary) if FIRST_OFFSET < offset < end}) >= 2
        assert sum(words[0].lower() == b"psync" for words in primary.commands) == 1
        server.client().execute_command("REPLICAOF", "NO", "ONE")


def test_a_replica_that_is_promoted_does_not_apply_the_rest_of_what_it_has_read():
    with start("cairn") as server, FakePrimary(serve_slow_commands(60)) as primary:
        client = server.client()
        client.execute_command("REPLICAOF", "127.0.0.1", primary.port)
        wait_until(lambda: client.get("n"), "the first command")
        client.execute_command("REPLICAOF", "NO", "ONE")
        assert int(client.get("n")) < 40


def test_a_replica_does_not_acknowledge_a_sync_of_an_earlier_stream():
    """FACK: a synced offset of the previous stream means nothing in the next one."""
    rounds = []

    def serve(connection, _):
        rounds.append(connection)
        if len(rounds) == 1:
            give_everything(connection)
            connection.sendall(encode("set", "large", "x" * 100000))
            time.sleep(2.5)  # the replica syncs it and reports that with its next ACK
            connection.shutdown(socket.SHUT_RDWR)
            return
        primary.commands.clear()
        give_everything(connection, OTHER_ID, 10)
        for number in range(5):
            connection.sendall(encode("set", "k", number) + encode("replconf", "getack", "*"))

    with start("cairn") as server, FakePrimary(serve) as primary:
        server.client().execute_command("REPLICAOF", "127.0.0.1", primary.port)
        wait_until(lambda: len(rounds) == 2 and server.client().get("k") == b"4", "the second stream")
        acks = wait_until(lambda: [words for words in primary.commands if words[:2] == [b"REPLCONF", b"ACK"]], "an ACK")
        assert all(int(words[4]) <= int(words[2]) for words in acks)
        assert min(int(words[4]) for words in acks) < 10


def test_a_message_is_published_once():
    """Also if the link breaks within the following transaction, which the stream sends again."""
    published = encode("publish", "ch", "m") + encode("multi") + encode("set", "a", 1)
    rounds = []

    def serve(connection, words):
        rounds.append(connection)
        if len(rounds) == 1:
            give_everything(connection)
            connection.sendall(published)
            time.sleep(0.5)  # until the replica has received it
            connection.shutdown(socket.SHUT_RDWR)
        else:
            rest = (published + encode("exec") + encode("publish", "ch", "last"))[int(words[2]) - FIRST_OFFSET - 1:]
            connection.sendall(b"+CONTINUE\r\n" + rest)

    with start("cairn") as server, FakePrimary(serve) as primary:
        listener = RawClient(server.port)
        listener("subscribe", "ch")
        server.client().execute_command("REPLICAOF", "127.0.0.1", primary.port)
        assert [listener.read()[1][2][1] for _ in range(2)] == [b"m", b"last"]


def test_commands_before_an_open_transaction_are_applied():
    """Their keys were locked until the EXEC, which may come much later."""
    def serve(connection, _):
        give_everything(connection)
        connection.sendall(encode("set", "k", "v") + encode("multi") + encode("set", "a", 1))

    with start("cairn") as server, FakePrimary(serve) as primary:
        client = server.client()
        client.execute_command("REPLICAOF", "127.0.0.1", primary.port)
        wait_until(lambda: client.get("k") == b"v", "the first command")
        assert client.get("a") is None
        first = FIRST_OFFSET + len(encode("set", "k", "v"))
        wait_until(lambda: first in acknowledged(primary), "its acknowledgement")


@pytest.mark.skipif(not has_ipv6(), reason="no ::1 on this machine")
def test_ipv6_replicas_have_plain_addresses():
    """They have the format of Redis, which FAILOVER accepts."""
    with start("cairn", bind="127.0.0.1 ::1") as server, FakeReplica(server.port, host="::1") as replica:
        replica.acknowledge()
        wait_until(lambda: replication(server)["slave0"]["state"] == "online")
        assert replication(server)["slave0"]["ip"] == "::1"
        assert server.client().execute_command("ROLE")[2][0][0] == b"::1"
        assert server.client().execute_command("FAILOVER", "TO", "::1", 1, "TIMEOUT", 10) == b"OK"


@pytest.mark.parametrize("primary_kind", ["redis", "cairn"])
def test_a_replica_leaves_expiry_to_its_primary(primary_kind):
    """It runs commands later than the primary: a key whose expiry was extended in time must not expire by the replica's
    clock."""
    with start(primary_kind) as primary, start("cairn") as replica:
        client = primary.client()
        client.set("k", "v")
        client.set("payload", "v")
        follow(replica, primary)
        assert client.wait(1, 5000) == 1
        replica.process.send_signal(signal.SIGSTOP)
        client.pexpire("k", 300)
        client.restore("r", 300, client.dump("payload"))
        client.set("s", "v", px=300)
        if primary_kind == "cairn":
            client.hset("h", mapping={"f": 1, "g": 2})
            client.execute_command("HPEXPIRE", "h", 300, "FIELDS", 1, "f")
        time.sleep(0.1)  # a part of their time to live
        client.pexpire("k", 100000)
        client.persist("r")
        client.persist("s")
        if primary_kind == "cairn":
            client.execute_command("HPERSIST", "h", "FIELDS", 1, "f")
        let_pass(300)
        replica.process.send_signal(signal.SIGCONT)
        assert_same(primary, replica)
        assert replica.client().mget("k", "r", "s") == [b"v"] * 3
        assert primary_kind == "redis" or replica.client().hlen("h") == 2


def test_a_reload_of_a_replica_loses_no_command_of_the_stream():
    """DEBUG RELOAD while the primary's clients write."""
    with start("cairn", enable_debug_command="yes") as primary, \
            start("cairn", enable_debug_command="yes") as replica:
        primary.client().execute_command("DEBUG", "POPULATE", 5000, "p", 20)
        follow(replica, primary)
        with Load(primary) as load:
            for _ in range(3):
                assert replica.client().execute_command("DEBUG", "RELOAD") == b"OK"
                load.run(500)
        assert_same(primary, replica)


def test_scripts_of_an_old_primary():
    """Redis before 7 may replicate scripts as EVAL; a replica that refuses clients' writes must run them."""
    def serve(connection, _):
        give_everything(connection)
        connection.sendall(encode("eval", "return redis.call('set', KEYS[1], ARGV[1])", 1, "k", "v") +
                           encode("eval", "#!lua\nredis.call('set', KEYS[1], ARGV[1])", 1, "l", "v"))

    with start("cairn") as server, FakePrimary(serve) as primary:
        server.client().execute_command("REPLICAOF", "127.0.0.1", primary.port)
        wait_until(lambda: server.client().mget("k", "l") == [b"v", b"v"], "the scripts' writes")


def take_file(client):
    """The RDB file that SYNC sends, after its size."""
    client.send("sync")
    line = b""
    while not line.strip():
        line = client.stream.readline()
    return client.stream.read(int(line[1:]))


def test_a_filtered_transfer(tmp_path):
    """`REPLCONF rdb-filter-only`, which redis-cli --functions-rdb sends; with rdb-only the stream does not follow the
    file."""
    with start("cairn") as server, start("redis") as other:
        server.client().set("key", "v")
        server.client().execute_command("FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('f', "
                                        "function() return 7 end)")
        with RawClient(server.port) as client:
            assert client("replconf", "rdb-only", 1, "rdb-filter-only", "functions") == (b"+", b"OK")
            assert take_file(client).startswith(b"REDIS")
            assert client.stream.read() == b""
        with RawClient(server.port) as client:
            for words in (("rdb-only", 2), ("rdb-only", "x"), ("rdb-filter-only", "keys"), ("rdb-filter-only", '"a')):
                with RawClient(other.port) as redis:
                    assert client("replconf", *words) == redis("replconf", *words)
        path = tmp_path / "f.rdb"
        subprocess.run(["redis-cli", "-p", str(server.port), "--functions-rdb", path], check=True, timeout=60,
                       capture_output=True)
        content = path.read_bytes()
        assert b"name=lib" in content and b"key" not in content


@pytest.mark.parametrize("damage", [b"SET k v\r\n", b"*2\r\n$3\r\nDEL\r\n!\r\n"], ids=["inline", "no bulk string"])
def test_a_damaged_stream_leads_to_a_full_sync(damage):
    """The bytes after the damage are useless, so the replica requests a full synchronization."""
    asked = []

    def serve(connection, words):
        asked.append(words[1:3])
        give_everything(connection)
        connection.sendall(encode("set", "good", len(asked)) + (damage if len(asked) == 1 else b""))

    with start("cairn") as server, FakePrimary(serve) as primary:
        server.client().execute_command("REPLICAOF", "127.0.0.1", primary.port)
        wait_until(lambda: server.client().get("good") == b"2", "the second transfer")
        assert asked[1] == [b"?", b"-1"]
        assert server.client().exists("k") == 0
        server.client().execute_command("REPLICAOF", "NO", "ONE")


def test_a_replica_restarted_with_fewer_databases_requests_a_full_sync():
    """The database that the stream had selected may not exist any more."""
    with start("cairn") as primary, start("cairn", replicaof=f"127.0.0.1 {primary.port}") as replica:
        wait_for_link(replica)
        primary.client(db=9).set("k", "v")
        wait_until(lambda: replica.client(db=9).get("k") == b"v", "the write")
        primary.client(db=9).delete("k")
        wait_until(lambda: replica.client(db=9).get("k") is None, "the deletion")
        replica.directives["databases"] = 4
        before = primary.client().info("stats")["sync_full"]
        replica.restart()
        wait_for_link(replica)
        assert primary.client().info("stats")["sync_full"] == before + 1
        primary.client(db=3).set("k", "v")
        wait_until(lambda: replica.client(db=3).get("k") == b"v", "the next write")
