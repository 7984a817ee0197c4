# SPDX-License-Identifier: BSD-3-Clause
"""What is under way when a primary becomes a replica: messages, libraries of functions, and who is about to wait."""

import contextlib
import threading
import time

import pytest
import redis
from pairs import follow, replication, start, wait_for_link, wait_until
from raw_client import RawClient

SLOW_LIBRARY = """#!lua name=slow
local x = 0
for i = 1, 20000000 do x = x + i end
redis.register_function('slow', function() return x end)"""
FAST_LIBRARY = """#!lua name=fast
redis.register_function('fast', function() return 1 end)"""


@contextlib.contextmanager
def repeating(port, *commands, together=1):
    """A client that says the commands again and again, and reads what it is answered, until the block ends."""
    ended = threading.Event()

    def run():
        with RawClient(port) as client:
            while not ended.is_set():
                client.send_together(*commands * together)
                for _ in range(len(commands) * together):
                    client.read()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def test_messages_under_way_are_in_the_stream_or_not():
    """PUBLISH uses no key; what it adds to the stream is counted by the primary and by the replica, or by none."""
    with start("cairn") as first, start("cairn") as second:
        follow(second, first)
        with contextlib.ExitStack() as publishers:
            for _ in range(3):
                publishers.enter_context(repeating(first.port, ("publish", "news", "x" * 50), together=50))
            for _ in range(30):
                time.sleep(0.03)
                first.client().execute_command("REPLICAOF", "127.0.0.1", 1)
                time.sleep(0.1)
                first.client().execute_command("REPLICAOF", "NO", "ONE")
                wait_for_link(second)
        wait_for_link(second)
        first.client().set("a", 1)
        wait_until(lambda: second.client().get("a") == b"1", what="the last write")
        time.sleep(0.1)
        assert replication(first)["master_repl_offset"] == replication(second)["slave_repl_offset"]


def test_a_transaction_publishes_around_a_demotion():
    """What it has published by then is in no stream: the one it was for has ended."""
    with start("cairn") as first, start("cairn") as second:
        follow(second, first)
        client = RawClient(first.port)
        for _ in range(4):
            for words in (("multi",), ("publish", "q", 1), ("replicaof", "127.0.0.1", 1), ("publish", "q", 2)):
                client(*words)
            assert client("exec")[1][1] == (b"+", b"OK")
            time.sleep(0.2)
            client("replicaof", "no", "one")
            wait_for_link(second)
            client("incr", "n")
            n = client("get", "n")[1]
            wait_until(lambda n=n: second.client().get("n") == n, what="the last write")
            assert replication(first)["master_repl_offset"] == replication(second)["slave_repl_offset"]


def test_a_library_that_waited_is_refused():
    """FUNCTION LOAD that waits for another one is not carried out on a server that is a replica by then."""
    with start("cairn") as server:
        for _ in range(3):
            clients = [RawClient(server.port) for _ in range(2)]
            for client, library in zip(clients, (SLOW_LIBRARY, FAST_LIBRARY)):
                client.send("function", "load", "replace", library)
                time.sleep(0.03)
            server.client().execute_command("REPLICAOF", "127.0.0.1", 1)
            answers = [client.read() for client in clients]
            names = {library[1] for library in server.client().execute_command("FUNCTION", "LIST")}
            assert answers[0] == (b"$", b"slow")
            assert answers[1][0] == b"-" and answers[1][1].startswith(b"READONLY"), answers[1]
            assert names == {b"slow"}
            server.client().execute_command("REPLICAOF", "NO", "ONE")
            server.client().execute_command("FUNCTION", "FLUSH")
            for client in clients:
                client.close()


def test_who_is_about_to_wait_is_let_go():
    """A BLPOP of so many keys that the role changes while it looks for them is answered, one way or another."""
    with start("cairn") as server:
        for pause in (0.05, 0.1, 0.2, 0.3):
            client = RawClient(server.port)
            client.send("blpop", *(f"k{number}" for number in range(150000)), 0)
            time.sleep(pause)
            server.client().execute_command("REPLICAOF", "127.0.0.1", 1)
            kind, text = client.read()
            assert kind == b"-" and text.split()[0] in (b"UNBLOCKED", b"READONLY"), text
            assert server.client().info("clients")["blocked_clients"] == 0
            server.client().execute_command("REPLICAOF", "NO", "ONE")
            client.close()


def test_a_new_id_is_not_for_transactions_with_keys():
    """DEBUG CHANGE-REPL-ID beside REPLICAOF would wait for it with the keys that it waits for."""
    with start("cairn") as server:
        with repeating(server.port, ("multi",), ("get", "a"), ("debug", "change-repl-id"), ("exec",)):
            for _ in range(20):
                server.client().execute_command("REPLICAOF", "127.0.0.1", 1)
                server.client().execute_command("REPLICAOF", "NO", "ONE")
        client = RawClient(server.port)
        for words in (("multi",), ("get", "a"), ("debug", "change-repl-id")):
            client(*words)
        kind, text = client("exec")[1][1]
        assert kind == b"-" and text == b"ERR a transaction that uses keys can't change the server's role"


def test_commands_with_consequences_run_once():
    """Databases that change places meanwhile are no reason to begin a BGSAVE or a REPLICAOF twice."""
    with start("cairn") as server, server.client() as client, contextlib.ExitStack() as swappers:
        for _ in range(3):
            swappers.enter_context(repeating(server.port, ("swapdb", 0, 1)))
        for _ in range(25):
            assert client.execute_command("REPLICAOF", "127.0.0.1", 1) == b"OK"
            assert client.execute_command("REPLICAOF", "NO", "ONE") == b"OK"
            assert client.execute_command("BGSAVE")
            wait_until(lambda: client.info("persistence")["rdb_bgsave_in_progress"] == 0, what="BGSAVE")
            with pytest.raises(redis.ResponseError, match="No failover in progress"):
                client.execute_command("FAILOVER", "ABORT")
