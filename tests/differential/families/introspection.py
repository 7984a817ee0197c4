# SPDX-License-Identifier: BSD-3-Clause
"""The keys of random commands, directives, fields that expire, and other queries."""

from families import wrapped
from step import NOTHING, SHAPE, UNORDERED, command

DIRECTIVES = {
    b"hz": (b"1", b"10", b"1000", b"0", b"-1", b"x"),
    b"timeout": (b"0", b"100", b"x"),
    b"slowlog-max-len": (b"10", b"-1", b"128"),
    b"latency-monitor-threshold": (b"0", b"x"),
    b"lua-time-limit": (b"5000", b"x"),
    b"notify-keyspace-events": (b"", b"KEA", b"Kg", b"x", b"Elx", b"Kn"),
    b"oom-score-adj-values": (b"0 200 800", b"x", b"0 200", b"0 200 9999"),
    b"maxmemory-policy": (b"noeviction", b"nosuch"),
    b"list-compress-depth": (b"-1", b"x"),
    b"stream-node-max-bytes": (b"4096", b"4kb", b"x"),
    b"client-output-buffer-limit": (b"normal 0 0 0", b"normal 0", b"nosuch 0 0 0", b"pubsub 32mb 8mb 60"),
    b"lfu-decay-time": (b"1", b"x"),
    b"activerehashing": (b"yes", b"maybe"),
    b"nosuch": (b"1",),
}  # fmt: skip


# Settings that a restart of one of the servers restores.
DEFAULTS = {b"hz": b"10", b"timeout": b"0", b"slowlog-max-len": b"128", b"notify-keyspace-events": b""}


def directive(s):
    """CONFIG SET of a directive, CONFIG GET, and a CONFIG SET to its default."""
    name = s.rng.choice(list(DIRECTIVES))
    steps = [
        command("CONFIG", "SET", name, s.rng.choice(DIRECTIVES[name]), mutable=NOTHING),
        command("CONFIG", "GET", name, mutable=NOTHING),
    ]
    if name in DEFAULTS:
        steps.append(command("CONFIG", "SET", name, DEFAULTS[name], mutable=NOTHING))
    return steps


def keys(s):
    """COMMAND GETKEYS of a random command, sometimes with an argument missing."""
    words = wrapped.words(s)
    if s.chance(0.2):
        words = words[: s.rng.randint(1, len(words))]
    return command("COMMAND", s.pick("GETKEYS", "GETKEYSANDFLAGS"), words, mutable=NOTHING)


def field_deadline(s):
    """Fields that expire in the far future, on separate keys."""
    key, at = b"expiring:%d" % s.rng.randrange(3), s.timestamp()
    names = [b"f%d" % i for i in s.rng.sample(range(5), s.rng.randint(1, 3))]
    fields = [b"FIELDS", b"%d" % len(names), *names]
    values = [word for name in names for word in (name, b"v")]
    condition = s.pick([], [], [b"NX"], [b"XX"], [b"GT"], [b"LT"])
    words = s.pick(
        [b"HSET", key, *values],
        [b"HSET", key, *values],
        [b"HEXPIREAT", key, at, *condition, *fields],
        [b"HPEXPIREAT", key, at + b"000", *condition, *fields],
        [b"HEXPIRETIME", key, *fields],
        [b"HPERSIST", key, *fields],
        [b"HGETEX", key, s.pick(b"PERSIST", b"PERSIST"), *fields],
        [b"HGETDEL", key, *fields],
        [b"HDEL", key, *names],
        [b"HMGET", key, *names],
        [b"HLEN", key],
        [b"HSETEX", key, b"EXAT", at, b"FIELDS", b"%d" % len(names), *values],
        [b"DEL", key],
    )
    return command(words[0].decode(), words[1:], mutable=NOTHING)


def newer_string(s):
    """Commands on strings that Redis 8 and Valkey 9 added, on separate keys and with few values, so conditions hold."""
    keys = [b"newer:%d" % i for i in s.rng.sample(range(4), s.rng.randint(1, 3))]
    value, other = (b"v%d" % s.rng.randrange(3) for _ in range(2))
    pairs = [word for key in keys for word in (key, value)]
    condition = s.pick([], [], [b"NX"], [b"XX"], [b"NX", b"XX"])
    expiry = s.pick([], [], [b"KEEPTTL"], [b"EXAT", s.timestamp()], [b"PXAT", s.timestamp() + b"000"], [b"EX", b"0"])
    words = s.pick(
        [b"MSETEX", b"%d" % len(keys), *pairs, *condition, *expiry],
        [b"MSETEX", s.pick(b"0", b"-1", b"2", b"x", b"9999999999"), *pairs, *expiry],
        [b"DELIFEQ", keys[0], value],
        [b"SET", keys[0], value, b"IFEQ", other, *s.pick([], [b"GET"], [b"NX"]), *expiry],
        [b"SET", keys[0], value, *expiry],
        [b"MGET", *keys],
        [b"EXPIRETIME", keys[0]],
        [b"DEL", keys[0]],
    )
    return command(words[0].decode(), words[1:], mutable=NOTHING)


def question(s):
    """Queries about a key, the server or channels."""
    key = s.any_key()
    words, rule = s.pick(
        ([b"OBJECT", b"FREQ", key], None),
        ([b"OBJECT", b"IDLETIME", key], SHAPE),
        ([b"OBJECT", b"REFCOUNT", key], SHAPE),
        ([b"MEMORY", b"USAGE", key], SHAPE),
        ([b"MEMORY", b"USAGE", key, b"SAMPLES", s.pick(b"0", b"-1", b"x")], SHAPE),
        ([b"DUMP", key], SHAPE),
        ([b"RESTORE", key, b"0", b"payload"], None),
        ([b"LATENCY", b"HISTORY", b"nosuch"], None),
        ([b"LATENCY", b"RESET"], None),
        ([b"PUBSUB", b"NUMSUB", b"a", b"b"], None),
        ([b"PUBSUB", b"CHANNELS"], None),
        ([b"PUBLISH", b"a", b"b"], None),
        ([b"COMMAND", b"LIST", b"FILTERBY", b"PATTERN", b"zran*"], UNORDERED),
        ([b"CLIENT", b"SETINFO", s.pick(b"LIB-NAME", b"lib-ver", b"x"), s.pick(b"a", b"a b", b"")], None),
        ([b"CLIENT", b"NO-TOUCH", s.pick(b"on", b"OFF", b"x")], None),
        ([b"CLIENT", b"LIST", b"ID", b"999999"], None),
        ([b"CLIENT", b"LIST", s.pick(b"FLAGS", b"NOT-FLAGS", b"CAPA", b"NOT-CAPA"), s.pick(b"z", b"Nz")], None),
        ([b"CLIENT", b"LIST", s.pick(b"NAME", b"USER", b"DB", b"LIB-NAME", b"IDLE", b"MAXAGE"), b"99999"], None),
        ([b"CLIENT", b"KILL", b"NOT-DB", s.pick(b"x", b"99"), b"NAME", b"nosuch"], None),
        ([b"CLIENT", b"CAPA", s.pick(b"nosuch", b"redirect")], None),
        ([b"COMMANDLOG", s.pick(b"LEN", b"RESET"), s.pick(b"nosuch", b"LARGE-REPLY")], None),
        ([b"COMMANDLOG", b"GET", s.pick(b"x", b"-2", b"-1"), s.pick(b"nosuch", b"large-request")], None),
        ([b"SCRIPT", b"SHOW", s.pick(b"0" * 40, b"x")], None),
        ([b"CLIENT", b"TRACKINGINFO"], None),
        ([b"WAIT", s.pick(b"0", b"x", b"-1"), b"0"], None),
        ([b"FAILOVER", b"ABORT"], None),
        ([b"DEBUG", b"JMAP"], SHAPE),
    )
    return command(words[0].decode(), words[1:], mutable=NOTHING, **({"rule": rule} if rule else {}))


COMMANDS = [(4, directive), (8, keys), (8, field_deadline), (5, newer_string), (8, question)]
