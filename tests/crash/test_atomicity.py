# SPDX-License-Identifier: BSD-3-Clause
"""Transactions, scripts, functions and plain commands of many clients on the same keys, under kill -9.

The invariants of `invariants.py` hold at every read and after every restart. Each client's counter equals the number of
its acknowledged writes, plus at most the unacknowledged ones.

CAIRN_CRASH_SECONDS is the total duration; test_kill9.py describes the other settings.
"""

import os
import random
import time

from client_thread import ClientThread
from harness import Server
from invariants import READS, Writes, payload, preparation
import pytest
from resp import Connection, ParseError, parse
from test_kill9 import SEED, kill_while_starting

STOPPED = (b"-", b"ERR the server is stopping")
SECONDS = float(os.environ.get("CAIRN_CRASH_SECONDS") or 15)
CLIENTS = 8


class Killed(Exception):
    """The connection ended before all replies arrived; the first argument is the list of received replies."""


def exchange(connection, commands):
    """Sends the commands and returns their replies; `Killed` if there are fewer."""
    replies, buffer, at = [], b"", 0
    try:
        connection.sendall(payload(commands))
        while len(replies) < len(commands):
            chunk = connection.recv(1 << 16)
            if not chunk:
                raise Killed(replies)
            buffer += chunk
            try:
                while len(replies) < len(commands):
                    reply, end = parse(buffer, at)
                    if end > len(buffer):
                        break
                    replies.append(reply)
                    at = end
            except (ParseError, ValueError):
                pass  # not complete yet
    except OSError as error:
        raise Killed(replies) from error
    return replies


class Client(ClientThread):
    """Writes and reads, and counts its writes."""

    def __init__(self, rng, name):
        self.rng, self.counter = rng, b"done:" + name
        self.writes = Writes(rng, self.counter)
        self.counted = 0  # the last known value of the client's counter
        self.in_flight = 0  # unacknowledged writes that increment the counter
        self.reads = self.plain = self.lost_watches = 0

    def work(self, socket):
        """Reads and writes until the server is killed."""
        try:
            while True:
                draw = self.rng.random()
                if draw < 0.3:
                    self.read(socket, self.rng.choice(list(READS)))
                elif draw < 0.4:
                    self._write_watched(socket)
                else:
                    self._write(socket)
        except Killed:
            pass

    def read(self, socket, name):
        """One read; its invariant must hold."""
        commands, holds = READS[name]
        replies = exchange(socket, commands)
        if replies[-1] == STOPPED:
            return  # SIGTERM ended the script
        assert holds(replies), f"{name}: {str(replies[-1])[:600]}"
        self.reads += 1

    def _write(self, socket):
        """A pipeline of one or a few writes."""
        writes = [self.writes.draw() for _ in range(self.rng.choice((1, 1, 1, 4, 12)))]
        commands = [command for write, _ in writes for command in write]
        self.in_flight = sum(counts for _, counts in writes)
        try:
            replies, killed = exchange(socket, commands), None
        except Killed as cut:
            replies, killed = cut.args[0], cut
        at = 0
        for write, counts in writes:
            at += len(write)
            if at > len(replies):
                break
            self._settle_write(write, counts, replies[at - 1])
        if killed:
            raise killed

    def _settle_write(self, write, counts, reply):
        if not counts:
            refused = write[0][0] == b"RENAMENX" and reply == (b"-", b"ERR no such key")
            assert reply[0] != b"-" or refused, (write, reply)
            self.plain += 1
            return
        if reply == STOPPED:
            return  # SIGTERM ended the script and none of its writes are kept
        number = reply[1][-1] if reply[0] == b"*" and reply[1] else reply
        assert number == (b":", self.counted + 1), (write, reply, self.counted)
        self.counted += 1
        self.in_flight -= 1

    def _write_watched(self, socket):
        """WATCH, read, then a write that depends on the read: nothing is written if another client wrote in between."""
        source, target, amount = self.writes.two_accounts()
        watched = [[b"WATCH", source, target], [b"MGET", source, target]]
        balances = [int(item[1]) for item in exchange(socket, watched)[1][1]]
        self.in_flight = 1
        write = self.writes.finish_watched_transfer(source, target, amount, balances)
        reply = exchange(socket, write)[-1]
        if reply == (b"*", None):
            self.in_flight = 0
            self.lost_watches += 1
        else:
            self._settle_write(write, True, reply)

    def settle(self, connection):
        """After a restart: all acknowledged writes are present, and no more than were sent."""
        reply = exchange(connection.socket, [[b"GET", self.counter]])[0][1]
        found = int(reply or 0)
        most = self.counted + self.in_flight
        assert self.counted <= found <= most, (
            f"{self.counter.decode()} is {found}; {self.counted} were acknowledged, {most} sent")
        kept, self.counted, self.in_flight = found - self.counted, found, 0
        return kept


def fire(server, clients, rng, moment_s):
    """Runs all clients for a while, ends the server, and checks the data of the next one."""
    for client in clients:
        client.start(server)
    time.sleep(moment_s)  # the server ends at a random moment
    if rng.random() < 0.25:
        server.terminate()
    else:
        server.kill9()
    for client in clients:
        client.join()
    if rng.random() < 0.3:
        kill_while_starting(server, rng)
    server.start()
    connection = Connection(server.host, server.port)
    try:
        kept = sum(client.settle(connection) for client in clients)
        for name in READS:
            clients[0].read(connection.socket, name)
    finally:
        connection.close()
    return kept


@pytest.mark.parametrize("appendfsync", ["always", "everysec"])
def test_invariants_hold_at_every_read_and_after_every_kill(appendfsync):
    """Each fsync mode gets half of the time, because syncs decide how many commits are in flight together."""
    rng = random.Random(f"{SEED}/atomicity/{appendfsync}")
    print(f"CAIRN_CRASH_SEED={SEED}")
    clients = [Client(random.Random(rng.random()), b"%d" % i) for i in range(CLIENTS)]
    kills = kept = 0
    with Server(appendfsync=appendfsync, io_threads=4) as server:
        connection = Connection(server.host, server.port)
        for reply in connection.pipeline(preparation()):
            assert reply[0] != b"-", reply
        connection.close()
        end = time.monotonic() + SECONDS / 2
        while time.monotonic() < end:
            kept += fire(server, clients, rng, rng.uniform(0.2, 2.5))
            kills += 1
    counted, plain = (sum(getattr(c, what) for c in clients) for what in ("counted", "plain"))
    reads, lost = (sum(getattr(c, what) for c in clients) for what in ("reads", "lost_watches"))
    print(f"{appendfsync}: {kills} kills; {counted} transactions and scripts, {kept} of them kept "
          f"unacknowledged; {plain} plain writes; {reads} reads; {lost} refused by WATCH")
    assert counted > 20 * kills and reads > 20 * kills
