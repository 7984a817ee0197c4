# SPDX-License-Identifier: BSD-3-Clause
"""What the golden directories contain: commands for each format of the disk, and the reads that show their effects.

The contents of a format are those of the older ones and its own. Nothing in them depends on chance or on the clock, so
that a server of today that runs the same commands has the same values.
"""

from load import describe

LATEST = 4
FAR_MS = 4102444800000  # 2100
SPECIAL_DB = 5  # what load.describe cannot read
HDD_DB = 6      # with the storage mode hdd, since format 3
LIBRARY = "#!lua name=golden\nredis.register_function('one', function() return 1 end)"


def numbered(prefix, count):
    """prefix:0, prefix:1, ..."""
    return [f"{prefix}:{number}" for number in range(count)]


def pairs(names, values):
    """The names, each followed by its value."""
    return [word for pair in zip(names, values) for word in pair]


def large(count):
    """A large collection of each type, in rows of its own."""
    names = numbered("a member long enough that rows of their own are cheaper", count)
    return [
        ("RPUSH", "large-list", *names),
        ("SADD", "large-set", *names),
        ("HSET", "large-hash", *pairs(names, numbered("value", count))),
        ("ZADD", "large-zset", *pairs(range(count), names)),
    ]


FILL = {
    1: [
        ("SELECT", 0),
        ("SET", "string", "text"), ("SET", "number", -12345), ("SET", "large-string", "0123456789" * 2000),
        ("SET", "expires", "text", "PXAT", FAR_MS), ("SETBIT", "bits", 77, 1), ("PFADD", "hyperloglog", "a", "b", "c"),
        ("RPUSH", "list", "a", "b", "c", "d"), ("LPOP", "list"),
        ("SADD", "set", "a", "b", "c"), ("SREM", "set", "b"), ("SADD", "integers", 1, 2, 70000, -5),
        ("HSET", "hash", "f", "1", "g", "2"), ("HDEL", "hash", "g"), ("PEXPIREAT", "hash", FAR_MS),
        ("ZADD", "zset", "1.5", "a", "-inf", "b", "2", "c"), ("GEOADD", "geo", "13.361389", "38.115556", "Palermo"),
        *large(700),
        ("LINSERT", "large-list", "BEFORE", "a member long enough that rows of their own are cheaper:300", "inserted"),
        ("SET", "deleted", "text"), ("DEL", "deleted"), ("RENAME", "number", "renamed"),
        *[("XADD", "stream", f"{number}-1", "f", number) for number in range(1, 20)],
        ("XDEL", "stream", "3-1"), ("XGROUP", "CREATE", "stream", "group", "0"),
        ("XREADGROUP", "GROUP", "group", "alice", "COUNT", 5, "STREAMS", "stream", ">"),
        ("XACK", "stream", "group", "1-1"),
        ("FUNCTION", "LOAD", LIBRARY),
        ("SELECT", 3), ("SET", "string", "of database 3"), ("SADD", "set", "x"),
    ],
    2: [("SELECT", 0), ("SET", "edited", "0123456789" * 3000), ("SETRANGE", "edited", 15000, "edited"),
        ("SETRANGE", "edited", 60000, "end")],
    3: [("SELECT", SPECIAL_DB), ("JSON.SET", "json", "$", '{"a": [1, 2.5, "text"], "b": {"c": null}}'),
        ("HSET", "field-times", "f", "1", "g", "2"), ("HPEXPIREAT", "field-times", FAR_MS, "FIELDS", 1, "f"),
        ("SELECT", HDD_DB), ("SET", "string", "of a hard disk"), ("HSET", "hash", "f", "1"), *large(200)],
    4: [("SELECT", SPECIAL_DB),
        ("BF.RESERVE", "bloom", "0.01", 2000), ("BF.MADD", "bloom", "a", "b", "c"),
        ("CF.RESERVE", "cuckoo", 2000), ("CF.ADD", "cuckoo", "a"), ("CF.ADD", "cuckoo", "b"),
        ("CMS.INITBYDIM", "cms", 2000, 5), ("CMS.INCRBY", "cms", "a", 3, "b", 7),
        ("TOPK.RESERVE", "topk", 3), ("TOPK.ADD", "topk", "a", "a", "b"),
        ("TDIGEST.CREATE", "tdigest"), ("TDIGEST.ADD", "tdigest", 1, 2, 3, 4, 5),
        ("XADD", "queue", f"{FAR_MS}-1", "f", 1), ("XADD", "queue", f"{FAR_MS}-2", "f", 2),
        ("XIDMPRECORD", "queue", "producer", "first", f"{FAR_MS}-1"), ("XGROUP", "CREATE", "queue", "group", "0"),
        ("XREADGROUP", "GROUP", "group", "alice", "STREAMS", "queue", ">"),
        ("XNACK", "queue", "group", "FAIL", "IDS", 1, f"{FAR_MS}-1")],
}

READS = {
    1: [("FUNCTION", "LIST", "WITHCODE")],
    2: [("OBJECT", "ENCODING", "edited"), ("GETRANGE", "edited", 14990, 15010)],
    3: [("SELECT", SPECIAL_DB), ("JSON.GET", "json"), ("HGETALL", "field-times"),
        ("HPEXPIRETIME", "field-times", "FIELDS", 2, "f", "g")],
    4: [("SELECT", SPECIAL_DB), ("BF.MEXISTS", "bloom", "a", "b", "c", "d"), ("BF.INFO", "bloom"),
        ("CF.MEXISTS", "cuckoo", "a", "b", "c"), ("CF.INFO", "cuckoo"), ("CMS.QUERY", "cms", "a", "b", "c"),
        ("TOPK.LIST", "topk", "WITHCOUNT"), ("TDIGEST.QUANTILE", "tdigest", "0.5", "0.9"),
        ("XRANGE", "queue", "-", "+"), ("XPENDING", "queue", "group"),
        ("XADD", "queue", "IDMP", "producer", "first", "*", "f", 1), ("DBSIZE",)],
}


def modes(format_version):
    """The directives that the contents of a format need."""
    return {"database": f"{HDD_DB} storage-mode hdd"} if format_version >= 3 else {}


def fill(client, formats):
    """Runs the commands of these formats. REQUIRES: the client has one connection."""
    for version in formats:
        for words in FILL[version]:
            client.execute_command(*words)
    client.execute_command("SELECT", 0)


def fill_log(client):
    """Runs the last commands, whose effects are in the log of a golden directory and not in its tables."""
    client.set("from-the-log", "text")
    client.hset("large-hash", "from-the-log", "text")


def read(client, format_version):
    """Everything that `fill` has written for this format and older ones, in a form that can be compared. It changes
    nothing: the XADD has the id of an entry that exists."""
    values = describe(client, (0, 3, HDD_DB))
    for version in range(1, format_version + 1):
        for words in READS[version]:
            values[words] = client.execute_command(*words)
        client.execute_command("SELECT", 0)
    return values
