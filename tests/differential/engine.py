# SPDX-License-Identifier: BSD-3-Clause
"""Sends the same commands to two servers and compares the replies.

Each batch goes to both servers before either is read, so both work at once. If the bytes of a batch agree, it is not
parsed, unless a rule needs more than equality. After a difference the history of the round is reduced to the commands
that still show it (minimise.py).

The first server is the reference, the second the candidate.
"""

import random
import time

import compare
import dataset
import step as rules
from families.scans import MOST_CALLS, Iteration
from resp import Connection, encode, parse_all, show

# State that rounds of the long families change in addition to data.
CLEAN = [
    [b"FLUSHALL"],
    [b"ACL", b"DELUSER", b"alice", b"bob", b"carol"],
    [b"FUNCTION", b"FLUSH"],
    [b"SCRIPT", b"FLUSH"],
    [b"CONFIG", b"SET", b"notify-keyspace-events", b""],
]
LOOKS_CLOSER = (rules.SAMPLE, rules.POP, rules.EXISTING_KEY)


def unsigned_zeros(described):
    """The value of a described key, with zeros instead of negative zeros in a sorted set: a listpack, also
    redis-server's, holds 0 for -0, and a dumped skiplist may come back as one."""
    kind, _, _, value = described
    if kind != b"zset":
        return value
    mark, items = value
    return mark, [(m, b"0") if i % 2 and v == b"-0" else (m, v) for i, (m, v) in enumerate(items)]


class Difference(Exception):
    """The servers disagree. `step` is None if no single command is the cause."""

    def __init__(self, text, step=None, protocol=2):
        super().__init__(text)
        self.step, self.protocol = step, protocol


class Pair:
    """A connection per protocol version to each of two servers. `oracle` describes the first."""

    def __init__(self, reference, candidate, oracle):
        self.addresses = (reference, candidate)
        self.oracle = oracle
        self.by_protocol = {}
        self.connect()

    def connect(self):
        """Opens the connections, again after a restart of a server."""
        self.close()
        self.by_protocol = {
            p: [Connection(host, port, p) for host, port in self.addresses] for p in (2, 3)
        }

    def close(self):
        """Closes all four connections."""
        for connections in self.by_protocol.values():
            for connection in connections:
                connection.close()

    def both(self, protocol, commands):
        """Sends the same commands to both; returns both servers' raw replies."""
        payload = b"".join(encode(words) for words in commands)
        connections = self.by_protocol[protocol]
        marks = [c.send_batch(payload) for c in connections]
        return [c.read_batch(mark) for c, mark in zip(connections, marks)]

    def reset(self, limits):
        """Empties both servers, sets the limits and selects database 0 on every connection."""
        settings = [[b"CONFIG", b"SET", name.encode(), b"%d" % v] for name, v in limits.items()]
        for protocol in (2, 3):
            commands = [[b"RESET"], [b"HELLO", b"%d" % protocol], *CLEAN, *settings]
            for who, raw in zip(("reference", "candidate"), self.both(protocol, commands)):
                replies = parse_all(raw)
                for words, reply in zip(commands, replies):
                    if compare.is_error(reply):
                        raise Difference(f"the {who} refuses {b' '.join(words)!r}: {show(reply)}")


class Engine:
    """Runs rounds on a pair of servers and calls `on_difference(difference, round, engine)`."""

    def __init__(self, pair, on_difference):
        self.pair = pair
        self.on_difference = on_difference
        self.history = []  # of (protocol, Step) since both servers were last emptied
        self.in_flight = []  # sent, without all replies
        self.sent = 0

    def run_round(self, round_, commands):
        """Runs one round and compares the data in its middle and at its end.

        After a difference both servers are emptied and the round continues, so a frequent difference does not hide
        others.
        """
        self._start_afresh(round_)
        for part in (commands // 2, commands - commands // 2):
            for protocol, batch in round_.batches(part):
                run = self.run_iteration if isinstance(batch, Iteration) else self.run_batch
                self._guard(round_, run, protocol, batch)
            self._guard(round_, self.expire_some, round_.space)
            self._guard(round_, self.compare_data)
            self._guard(round_, self.cross_dumps, round_.space)

    def _guard(self, round_, action, *arguments):
        try:
            action(*arguments)
        except Difference as difference:
            self.on_difference(difference, round_, self)
            self._start_afresh(round_)

    def _start_afresh(self, round_):
        self.history = []
        round_.space.databases = [0, 0]
        self.pair.reset(round_.limits)

    def run_batch(self, protocol, steps):
        """Sends the steps to both servers. Raises Difference."""
        self.in_flight = [(protocol, s) for s in steps]
        ours_raw, theirs_raw = self.pair.both(protocol, [s.words for s in steps])
        self.in_flight = []
        self.sent += len(steps)
        start = len(self.history)
        self.history += [(protocol, s) for s in steps]
        if ours_raw == theirs_raw and not any(s.rule in LOOKS_CLOSER for s in steps):
            return
        self._compare_batch(protocol, steps, parse_all(ours_raw), parse_all(theirs_raw), start)

    def _compare_batch(self, protocol, steps, ours, theirs, start):
        expected = sum(s.replies for s in steps)
        at, before = 0, (None, None)
        for index, s in enumerate(steps):
            if not s.replies:
                continue
            if at >= len(ours) or at >= len(theirs):
                break
            if not self.pair.oracle.agrees(s, ours[at], theirs[at], *before):
                del self.history[start + index + 1 :]
                raise Difference(
                    f"reference: {show(ours[at])}\ncandidate: {show(theirs[at])}", s, protocol
                )
            before = ours[at], theirs[at]
            at += 1
        if len(ours) != expected or len(theirs) != expected:
            raise Difference(
                f"{expected} replies expected, reference gave {len(ours)}, candidate {len(theirs)}",
                steps[-1],
                protocol,
            )
        if steps[-1].rule == rules.POP:
            self._make_equal_again(protocol, steps[-1], ours[-1], theirs[-1])
        elif steps[-1].rule == rules.EXISTING_KEY:
            self._check_exists(protocol, steps[-1], ours[-1], theirs[-1])

    def _make_equal_again(self, protocol, step, *replies):
        """After SPOP: removes from each server the members that the other one popped."""
        popped = [
            [content for _, content in compare.flatten(reply) if content is not None]
            if not compare.is_error(reply)
            else []
            for reply in replies
        ]
        if not popped[0] and not popped[1]:
            return
        del self.history[-1]
        removal = rules.command(
            "SREM",
            step.words[1],
            popped[0] + popped[1],
            database=step.database,
            mutable=rules.NOTHING,
        )
        self.history.append((protocol, removal))
        for connection, others in zip(self.pair.by_protocol[protocol], reversed(popped)):
            if others:
                connection.call(b"SREM", step.words[1], *others)

    def _check_exists(self, protocol, step, *replies):
        """After RANDOMKEY: the key must exist on its server."""
        for who, connection, (_, key) in zip(
            ("reference", "candidate"), self.pair.by_protocol[protocol], replies
        ):
            if key is not None and connection.call(b"EXISTS", key) != (b":", 1):
                raise Difference(
                    f"{who}: RANDOMKEY answered {key!r}, which does not exist", step, protocol
                )

    def run_iteration(self, protocol, iteration):
        """A whole SCAN on each server: the same elements, and all of them. Raises Difference."""
        found = [
            self._iterate(connection, iteration) for connection in self.pair.by_protocol[protocol]
        ]
        self.sent += 1
        whole = rules.Step(iteration.head + [b"0"] + iteration.options)
        if not self.pair.oracle.agrees(whole, *map(self._as_reply, found)):
            only = (
                [sorted(a - b) for a, b in (found, found[::-1])]
                if all(isinstance(f, set) for f in found)
                else found
            )
            words = b" ".join(iteration.head + [b"<cursor>"] + iteration.options)
            raise Difference(
                f"{words!r} of database {iteration.database}:\n"
                f"only on the reference: {only[0]}\nonly on the candidate: {only[1]}"
            )

    @staticmethod
    def _as_reply(found):
        """The elements that an iteration has found, sorted, as one reply; an error unchanged."""
        if not isinstance(found, set):
            return found
        return b"*", [item for items in sorted(found) for item in items]

    @staticmethod
    def _iterate(connection, iteration):
        cursor, found = b"0", set()
        # ZSCAN and HSCAN return pairs.
        width = 2 if iteration.head[0] in (b"HSCAN", b"ZSCAN") else 1
        for _ in range(MOST_CALLS):
            reply = connection.call(*iteration.head, cursor, *iteration.options)
            if compare.is_error(reply):
                return reply
            (_, cursor), (_, items) = reply[1]
            found.update(tuple(items[i : i + width]) for i in range(0, len(items), width))
            if cursor == b"0":
                return found
        raise Difference(f"{iteration.head} still runs after {MOST_CALLS} calls")

    def expire_some(self, space):
        """Lets keys expire on both servers and compares the remaining data. Raises Difference."""
        rng = random.Random(space.rng.random())
        keys = rng.sample(space.all_keys, min(len(space.all_keys), rng.randint(2, 12)))
        protocol = rng.choice((2, 3))
        self.run_batch(protocol, [self._short_life(rng, space, key) for key in keys])
        time.sleep(0.1)  # the keys expire
        del self.history[-len(keys) :]
        self.history += [
            (protocol, rules.command("DEL", key, database=space.databases[protocol - 2]))
            for key in keys
        ]
        steps = [self._use_of_expired(rng, space, key) for key in keys]
        steps.append(rules.command("EXISTS", keys, mutable=rules.NOTHING))
        for s in steps:
            s.database = space.databases[protocol - 2]
        self.run_batch(protocol, steps)

    @staticmethod
    def _short_life(rng, space, key):
        ms = b"%d" % rng.randint(20, 60)
        return rng.choice(
            (
                lambda: rules.command("SET", key, space.value(), "PX", ms),
                lambda: rules.command("PSETEX", key, ms, space.value()),
                lambda: rules.command("PEXPIRE", key, ms),
                lambda: rules.command("PEXPIREAT", key, int(time.time() * 1000) + int(ms)),
                lambda: rules.command("GETEX", key, "PX", ms),
            )
        )()

    @staticmethod
    def _use_of_expired(rng, space, key):
        family = key.split(b":")[0].decode()
        uses = [
            ["TYPE", key],
            ["TTL", key],
            ["EXISTS", key],
            ["RENAME", key, key],
            ["PERSIST", key],
            ["OBJECT", "ENCODING", key],
            ["EXPIRE", key, "5000", "XX"],
            ["DEL", key],
            ["COPY", key, key + b"'"],
            ["TOUCH", key],
        ]
        uses += {
            "string": [
                ["INCR", key],
                ["APPEND", key, "x"],
                ["GET", key],
                ["SETNX", key, "v"],
                ["SETRANGE", key, "2", "z"],
                ["SET", key, "v", "KEEPTTL"],
                ["GETDEL", key],
            ],
            "hash": [["HSET", key, "f", "v"], ["HGETALL", key], ["HINCRBY", key, "f", "1"]],
            "set": [["SADD", key, "a"], ["SMEMBERS", key], ["SCARD", key], ["SREM", key, "m1"]],
            "zset": [["ZADD", key, "1", "a"], ["ZRANGE", key, "0", "-1"], ["ZPOPMIN", key]],
            "list": [["RPUSH", key, "a"], ["LPUSHX", key, "a"], ["LRANGE", key, "0", "-1"]],
        }.get(family, [])
        name, *words = rng.choice(uses)
        # The key may have got another value after it expired; the rules allow for that.
        rule = {"SMEMBERS": rules.UNORDERED, "HGETALL": rules.PAIRS}.get(name, rules.EXACT)
        return rules.command(name, *words, rule=rule, mutable=rules.NOTHING)

    def cross_dumps(self, space):
        """Each server restores the dumps of the other and must then hold the same values as before. Raises
        Difference."""
        rng = random.Random(space.rng.random())
        keys = [key for family in space.keys.values() for key in family]
        keys = rng.sample(keys, min(len(keys), 40))
        connections = [Connection(host, port) for host, port in self.pair.addresses]
        try:
            dumps = [c.pipeline([[b"DUMP", key] for key in keys]) for c in connections]
            there = [key for key, (_, dump) in zip(keys, dumps[0]) if dump is not None]
            found = []
            pairs = list(zip(connections, reversed(dumps)))
            for connection, foreign in pairs[: 1 + self.pair.oracle.dumps_are_read]:
                restores = [
                    [b"RESTORE", b"crossed:" + key, b"0", dump]
                    for key, (_, dump) in zip(keys, foreign)
                    if dump is not None
                ]
                replies = connection.pipeline(restores)
                self.sent += len(keys) + len(restores)
                for key, reply in zip(there, replies):
                    if compare.is_error(reply):
                        raise Difference(f"RESTORE of the other's {key!r}: {show(reply)}")
                before = dataset.describe(connection, there, ordered=False)
                crossed = [b"crossed:" + key for key in there]
                after = dataset.describe(connection, crossed, ordered=False)
                connection.pipeline([[b"DEL", key] for key in crossed])
                found.append([encoding for _, encoding, _, _ in after])
                for key, old, new in zip(there, before, after):
                    values = unsigned_zeros(old), unsigned_zeros(new)
                    if old[0] != new[0] or not self._holds_the_same(old[0], *values):
                        raise Difference(f"{key!r} crossed:\n    {old}\n    {new}")
            for key, ours, theirs in zip(there, found[0], found[-1]):
                if ours != theirs and self.pair.oracle.encodings:
                    raise Difference(f"{key!r} is restored as {ours} and {theirs}")
        finally:
            for connection in connections:
                connection.close()

    def _holds_the_same(self, kind, reference, candidate):
        """Whether two values of keys of this type (dataset.comparable) are equal, or their difference is explained."""
        return self.pair.oracle.agrees(rules.Step([dataset.READERS[kind][0]]), reference, candidate)

    def compare_after_restart(self, round_, restart):
        """Restarts the candidate; the data of the round must be the same as before."""
        restart()
        self.pair.connect()
        self._guard(round_, self.compare_data)

    def compare_data(self):
        """Compares all data of both servers. Raises Difference."""
        connections = [Connection(host, port) for host, port in self.pair.addresses]
        try:
            found = dataset.compare(
                *connections, encodings=self.pair.oracle.encodings, agree=self._holds_the_same
            )
        finally:
            for connection in connections:
                connection.close()
        if found:
            raise Difference("the data differ:\n" + "\n".join(found[:5]))
