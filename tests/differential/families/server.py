# SPDX-License-Identifier: BSD-3-Clause
"""Connection and server commands, replies about the command table, and errors that do not depend on a family."""

from step import NOTHING, SHAPE, UNORDERED, command

SETTABLE_LIMITS = (
    "hash-max-listpack-entries",
    "hash-max-listpack-value",
    "hash-max-ziplist-entries",
    "hash-max-ziplist-value",
    "set-max-intset-entries",
    "zset-max-listpack-entries",
    "zset-max-listpack-value",
    "zset-max-ziplist-entries",
    "list-max-listpack-size",
    "list-max-ziplist-size",
    "list-compress-depth",
    "proto-max-bulk-len",
    "client-query-buffer-limit",
    "timeout",
    "tcp-keepalive",
    "maxclients",
    "databases",
    "slowlog-log-slower-than",
    "slowlog-max-len",
    "notify-keyspace-events",
)


def greet(s):
    """PING and ECHO, valid and invalid."""
    return command(s.pick("PING", "ECHO", "ping"), s.pick([], [s.value()], [b"a", b"b"]))


def unknown(s):
    """Commands and subcommands that do not exist."""
    words = s.pick(
        [b"NOSUCH"],
        [b"nosuch", b"a", b"b\r\nc"],
        [b"x" * 200] + [b"y" * 60] * 5,
        [b""],
        [b"CONFIG", b"NOPE"],
        [b"CLIENT", b"NOPE"],
        [b"COMMAND", b"NOPE"],
        [b"SLOWLOG", b"NOPE"],
        [b"OBJECT", b"NOPE", b"k"],
        [b"config"],
        [b"client"],
        [b"GET|x"],
        [b"CONFIG|GET", b"save"],
    )
    return (
        command("X", words[1:], mutable=NOTHING)
        if not words[0]
        else command(words[0].decode(), words[1:], mutable=NOTHING)
    )


def config(s):
    """CONFIG GET of limits, and refused calls of CONFIG SET."""
    if s.chance(0.6):
        return command(
            "CONFIG",
            "GET",
            [n.encode() for n in s.rng.sample(SETTABLE_LIMITS, 2)],
            rule=UNORDERED,
            mutable=NOTHING,
        )
    return command(
        "CONFIG",
        "SET",
        s.pick(
            [b"nosuch", b"1"],
            [b"hash-max-listpack-entries", b"abc"],
            [b"timeout", b"-1"],
            [b"timeout"],
            [b"databases", b"4"],
            [b"zset-max-listpack-value", b"x"],
            [b"appendfsync", b"sometimes"],
            [b"timeout", b"0", b"timeout", b"0"],
            [b"timeout", b"0", b"nosuch", b"1"],
            [b"client-query-buffer-limit", b"1"],
            [b"maxclients", b"0"],
        ),
        mutable=NOTHING,
    )


def client(s):
    """The subcommands of CLIENT that can be compared."""
    words, rule = s.pick(
        ([b"GETNAME"], None),
        ([b"SETNAME", s.pick(b"worker", b"", b"a b", b"a\nb", b"x-1")], None),
        ([b"ID"], SHAPE),
        ([b"INFO"], SHAPE),
        ([b"LIST"], SHAPE),
        ([b"LIST", b"TYPE", b"nope"], None),
        ([b"LIST", b"ID", b"x"], None),
        ([b"NO-EVICT", s.pick(b"on", b"OFF", b"maybe")], None),
        ([b"KILL", b"1.2.3.4:5"], None),
        ([b"KILL", b"ID", b"abc"], None),
        ([b"KILL", b"ID", b"999999999"], None),
        ([b"KILL", b"TYPE", b"nope"], None),
        ([b"KILL"], None),
        ([b"KILL", b"NOPE", b"x"], None),
        ([b"UNBLOCK", b"999999999"], None),
        ([b"UNBLOCK", b"x"], None),
        ([b"UNBLOCK", b"1", b"NOPE"], None),
        ([b"REPLY", b"ON"], None),
        ([b"REPLY", b"NOPE"], None),
    )
    return command("CLIENT", words, mutable=NOTHING, **({"rule": rule} if rule else {}))


def silence(s):
    """CLIENT REPLY: commands that run without a reply."""
    key = s.key("string")
    if s.chance(0.5):
        return [
            command("CLIENT", "REPLY", "SKIP", replies=0, mutable=NOTHING),
            command("SET", key, s.value(), replies=0, mutable=NOTHING),
            command("GET", key, mutable=NOTHING),
        ]
    return [
        command("CLIENT", "REPLY", "OFF", replies=0, mutable=NOTHING),
        command("SET", key, s.value(), replies=0, mutable=NOTHING),
        command("NOSUCH", replies=0, mutable=NOTHING),
        command("CLIENT", "REPLY", "ON", mutable=NOTHING),
        command("GET", key, mutable=NOTHING),
    ]


def hello(s):
    """HELLO calls that are refused or change nothing."""
    if s.chance(0.4):
        return command(
            "HELLO", str(s.protocol), s.pick([], [b"SETNAME", b"me"]), rule=SHAPE, mutable=NOTHING
        )
    return command(
        "HELLO",
        s.pick(
            [b"4"],
            [b"1"],
            [b"abc"],
            [b""],
            [b"2", b"AUTH", b"nobody", b"x"],
            [b"3", b"AUTH", b"a"],
            [b"3", b"SETNAME", b"a b"],
            [b"3", b"NOPE"],
            [b"2", b"SETNAME"],
        ),
        mutable=NOTHING,
    )


def authenticate(s):
    """AUTH on a server without a password."""
    return command(
        "AUTH",
        s.pick([b"x"], [b"default", b"x"], [b"nobody", b"x"], [b"a", b"b", b"c"], []),
        mutable=NOTHING,
    )


def reset(s):
    """RESET: the connection is in its initial state again."""
    s.databases[s.protocol - 2] = 0
    again = command("HELLO", s.protocol, rule=SHAPE, mutable=NOTHING)
    return [
        command("RESET", mutable=NOTHING),
        again,
        command("CLIENT", "GETNAME", mutable=NOTHING),
        command("DBSIZE", mutable=NOTHING),
    ]


def command_keys(s):
    """COMMAND GETKEYS of commands with different kinds of key specifications."""
    words = s.pick(
        [b"SET", b"a", b"b"],
        [b"MSET", b"a", b"1", b"b", b"2"],
        [b"MGET", b"a", b"b", b"c"],
        [b"ZUNIONSTORE", b"d", b"2", b"a", b"b", b"WEIGHTS", b"1", b"2"],
        [b"ZDIFF", b"2", b"a", b"b"],
        [b"LMPOP", b"2", b"a", b"b", b"LEFT"],
        [b"SINTERCARD", b"1", b"a"],
        [b"COPY", b"a", b"b"],
        [b"RENAME", b"a", b"b"],
        [b"OBJECT", b"ENCODING", b"k"],
        [b"PING"],
        [b"NOSUCH", b"a"],
        [b"GET"],
        [b"ZMPOP", b"9", b"a", b"MIN"],
        [b"SINTERSTORE", b"d", b"a", b"b"],
        [b"LCS", b"a", b"b"],
    )
    return command(
        "COMMAND", s.pick("GETKEYS", "GETKEYS", "GETKEYSANDFLAGS"), words, mutable=NOTHING
    )


def shapes(s):
    """Replies that can be compared only by their form."""
    words = s.pick(
        [b"TIME"],
        [b"LASTSAVE"],
        [b"COMMAND", b"COUNT"],
        [b"INFO"],
        [b"INFO", b"keyspace"],
        [b"INFO", b"server", b"clients"],
        [b"SLOWLOG", b"LEN"],
        [b"DBSIZE"],
    )
    return command(words[0].decode(), words[1:], rule=SHAPE, mutable=NOTHING)


def slowlog(s):
    """SLOWLOG calls that are refused or reset the log."""
    return command(
        "SLOWLOG",
        s.pick([b"RESET"], [b"GET", b"abc"], [b"GET", b"-2"], [b"GET", b"1", b"2"]),
        mutable=NOTHING,
    )


def select(s):
    """SELECT of invalid databases."""
    return command(
        "SELECT", s.pick("-1", "16", "abc", "", "1.0", "9223372036854775808"), mutable=NOTHING
    )


COMMANDS = [
    (1, select),
    (4, greet),
    (4, unknown),
    (4, config),
    (5, client),
    (1, silence),
    (2, hello),
    (1, authenticate),
    (1, reset),
    (3, command_keys),
    (2, shapes),
    (1, slowlog),
]
