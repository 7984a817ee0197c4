# SPDX-License-Identifier: BSD-3-Clause
"""Commands that run while a primary becomes a replica: PUBLISH, commands that are about to block, and others.

tests/faults/test_held_commits.py has the commands that wait for a commit meanwhile.
"""

import contextlib
import threading
import time

import pytest
import redis
from pairs import follow, replication, send_and_see, start, wait_for_link
from raw_client import RawClient
from waiting import wait_for_blocked, wait_until

pytestmark = pytest.mark.slow

class Repeating:
    """A client that sends the commands again and again, and reads their replies, until the block ends."""

    def __init__(self, port, *commands, together=1):
        self.port = port
        self.commands = commands * together
        self.rounds = 0
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._run)

    def _run(self):
        with RawClient(self.port) as client:
            while not self.ended.is_set():
                client.send_together(*self.commands)
                for _ in self.commands:
                    client.read()
                self.rounds += 1

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()

    def wait_for_rounds(self, count):
        """Waits until it has read the replies of this many more rounds."""
        goal = self.rounds + count
        wait_until(lambda: self.rounds >= goal, "the client that repeats its commands")


def wait_for_equal_offsets(first, second):
    """Waits until the primary and the replica have the same offset."""
    wait_until(lambda: replication(first)["master_repl_offset"] == replication(second)["slave_repl_offset"],
               "the same offset")


def test_concurrent_messages_are_in_the_stream_or_not():
    """PUBLISH uses no key. Both the primary and the replica count its bytes of the stream, or neither does."""
    with start("cairn") as first, start("cairn") as second:
        follow(second, first)
        with contextlib.ExitStack() as publishers:
            for _ in range(3):
                publisher = Repeating(first.port, ("publish", "news", "x" * 50), together=50)
                publishers.enter_context(publisher)
            for _ in range(30):
                publisher.wait_for_rounds(3)
                first.client().execute_command("REPLICAOF", "127.0.0.1", 1)
                publisher.wait_for_rounds(3)
                first.client().execute_command("REPLICAOF", "NO", "ONE")
                wait_for_link(second)
        wait_for_link(second)
        first.client().set("a", 1)
        wait_until(lambda: second.client().get("a") == b"1", "the last write")
        wait_for_equal_offsets(first, second)


def test_a_transaction_publishes_around_a_demotion():
    """Its messages up to the demotion are in no stream, because their stream has ended."""
    with start("cairn") as first, start("cairn") as second:
        follow(second, first)
        client = RawClient(first.port)
        for _ in range(4):
            for words in (("multi",), ("publish", "q", 1), ("replicaof", "127.0.0.1", 1), ("publish", "q", 2)):
                client(*words)
            assert client("exec")[1][1] == (b"+", b"OK")
            wait_until(lambda: replication(second)["master_link_status"] == "down", "the end of the link")
            client("replicaof", "no", "one")
            wait_for_link(second)
            client("incr", "n")
            n = client("get", "n")[1]
            wait_until(lambda n=n: second.client().get("n") == n, "the last write")
            wait_for_equal_offsets(first, second)


def send_blpop(server):
    """A client whose BLPOP of many keys the server has started."""
    client = RawClient(server.port)
    send_and_see(server, client, "blpop", *(f"k{number}" for number in range(150000)), 0, shown="blpop")
    return client


def test_a_client_that_is_about_to_block_is_unblocked():
    """BLPOP of so many keys that the role changes while it reads them; it gets a reply in any case."""
    with start("cairn") as server:
        with send_blpop(server):
            began = time.monotonic()
            wait_for_blocked(server, 1, pause_s=0)
            looks_for_s = time.monotonic() - began
        wait_for_blocked(server, 0)
        for part in (0, 0.3, 0.6, 1):
            with send_blpop(server) as client:
                time.sleep(part * looks_for_s)  # a moment while it reads the keys
                server.client().execute_command("REPLICAOF", "127.0.0.1", 1)
                kind, text = client.read()
                assert kind == b"-" and text.split()[0] in (b"UNBLOCKED", b"READONLY"), text
                wait_for_blocked(server, 0)
            server.client().execute_command("REPLICAOF", "NO", "ONE")


def test_change_repl_id_is_refused_in_transactions_with_keys():
    """It would wait for a concurrent REPLICAOF, which waits for the transaction's keys."""
    with start("cairn") as server:
        with Repeating(server.port, ("multi",), ("get", "a"), ("debug", "change-repl-id"), ("exec",)):
            for _ in range(20):
                server.client().execute_command("REPLICAOF", "127.0.0.1", 1)
                server.client().execute_command("REPLICAOF", "NO", "ONE")
        client = RawClient(server.port)
        for words in (("multi",), ("get", "a"), ("debug", "change-repl-id")):
            client(*words)
        kind, text = client("exec")[1][1]
        assert kind == b"-" and text == b"ERR a transaction that uses keys can't change the server's role"


def test_commands_with_side_effects_run_once():
    """A concurrent SWAPDB makes no BGSAVE and no REPLICAOF run twice."""
    with start("cairn") as server, server.client() as client, contextlib.ExitStack() as swappers:
        for _ in range(3):
            swappers.enter_context(Repeating(server.port, ("swapdb", 0, 1)))
        for _ in range(25):
            assert client.execute_command("REPLICAOF", "127.0.0.1", 1) == b"OK"
            assert client.execute_command("REPLICAOF", "NO", "ONE") == b"OK"
            assert client.execute_command("BGSAVE")
            wait_until(lambda: client.info("persistence")["rdb_bgsave_in_progress"] == 0, "BGSAVE")
            with pytest.raises(redis.ResponseError, match="No failover in progress"):
                client.execute_command("FAILOVER", "ABORT")
