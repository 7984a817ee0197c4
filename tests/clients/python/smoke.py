# SPDX-License-Identifier: BSD-3-Clause
"""redis-py: every family once, in RESP2 and RESP3. Arguments: host port."""

import sys

import redis

passed, failed = 0, 0


def check(name, actual, expected):
    """Counts one comparison."""
    global passed, failed
    if actual == expected:
        passed += 1
    else:
        failed += 1
        print(f"FAILED {name}: expected {expected!r}, got {actual!r}")


def error_of(call, *arguments):
    """The text of the error that the call must raise."""
    try:
        return f"no error, but {call(*arguments)!r}"
    except redis.exceptions.ResponseError as error:
        return str(error)


def guarded(checks, *arguments):
    """Runs a family's checks; an unexpected error counts as one failure."""
    global failed
    try:
        checks(*arguments)
    except redis.exceptions.RedisError as error:
        failed += 1
        print(f"FAILED {checks.__name__}: {error!r}")


def check_strings(r):
    """Strings and counters."""
    check("set", r.set("s", "one", ex=1000), True)
    check("set nx", r.set("s", "two", nx=True), None)
    check("set get", r.set("s", "two", get=True), b"one")
    check("append", r.append("s", "!"), 4)
    check("getrange", r.getrange("s", 0, 2), b"two")
    check("setrange", (r.setrange("s", 3, "?"), r.get("s")), (4, b"two?"))
    check("strlen", r.strlen("s"), 4)
    check("incrby", (r.incrby("n", 5), r.decr("n")), (5, 4))
    check("incrbyfloat", r.incrbyfloat("n", 0.5), 4.5)
    check("mset", (r.mset({"a": 1, "b": 2}), r.mget("a", "b", "none")), (True, [b"1", b"2", None]))
    check("getex", (r.getex("a", ex=100), r.ttl("a")), (b"1", 100))
    check("getdel", (r.getdel("a"), r.exists("a")), (b"1", 0))
    check("bytes", (r.set("raw", b"\x00\r\n\xff"), r.get("raw")), (True, b"\x00\r\n\xff"))
    check("wrong type", error_of(r.lpush, "s", 1)[:9], "WRONGTYPE"[:9])


def check_hashes(r):
    """Hashes."""
    check("hset", r.hset("h", mapping={"f": "v", "n": 1}), 2)
    check("hget", (r.hget("h", "f"), r.hget("h", "none")), (b"v", None))
    check("hgetall", r.hgetall("h"), {b"f": b"v", b"n": b"1"})
    check("hmget", r.hmget("h", "n", "none"), [b"1", None])
    check("hincrby", (r.hincrby("h", "n", 2), r.hincrbyfloat("h", "n", 0.5)), (3, 3.5))
    check("hkeys", (r.hkeys("h"), r.hvals("h")), ([b"f", b"n"], [b"v", b"3.5"]))
    check("hrandfield", sorted(r.hrandfield("h", 5)), [b"f", b"n"])
    check("hscan", r.hscan("h"), (0, {b"f": b"v", b"n": b"3.5"}))
    check("hdel", (r.hdel("h", "f", "none"), r.hlen("h"), r.hexists("h", "f")), (1, 1, False))


def check_sets(r):
    """Sets."""
    check("sadd", (r.sadd("x", 1, 2, 3), r.sadd("y", 2, 3, 4)), (3, 3))
    check("smembers", r.smembers("x"), {b"1", b"2", b"3"})
    check("sinter", r.sinter("x", "y"), {b"2", b"3"})
    check("sdiffstore", (r.sdiffstore("d", "x", "y"), r.smembers("d")), (1, {b"1"}))
    check("sunion", r.sunion("x", "y"), {b"1", b"2", b"3", b"4"})
    check("sintercard", r.sintercard(2, ["x", "y"], limit=1), 1)
    check("smismember", r.smismember("x", ["1", "9"]), [1, 0])
    check("smove", (r.smove("x", "y", 1), r.scard("y")), (True, 4))
    check("spop", (r.spop("d"), r.exists("d")), (b"1", 0))
    check("sscan", {m for m in r.sscan_iter("y")}, {b"1", b"2", b"3", b"4"})


def check_sorted_sets(r):
    """Sorted sets."""
    check("zadd", r.zadd("z", {"a": 1, "b": 2.5, "c": 3}), 3)
    check("zrange", [m for m in r.zrange("z", 0, -1)], [b"a", b"b", b"c"])
    pairs = [tuple(p) for p in r.zrange("z", 0, -1, desc=True, withscores=True)]
    check("zrange rev", pairs, [(b"c", 3.0), (b"b", 2.5), (b"a", 1.0)])
    check("zrangebyscore", r.zrangebyscore("z", "(1", "+inf", start=0, num=1), [b"b"])
    check("zscore", (r.zscore("z", "b"), r.zmscore("z", ["c", "none"])), (2.5, [3.0, None]))
    check("zrank", (r.zrank("z", "c"), r.zrevrank("z", "c"), r.zrank("z", "none")), (2, 0, None))
    check("zincrby", r.zincrby("z", 10, "a"), 11.0)
    check("zcount", (r.zcount("z", 2, 3), r.zcard("z")), (2, 3))
    check("zunionstore", (r.zunionstore("u", {"z": 2}), r.zscore("u", "a")), (1 + 2, 22.0))
    check("zpopmin", [tuple(p) for p in _pairs(r.zpopmin("z", 1))], [(b"b", 2.5)])
    check("zscan", sorted(r.zscan_iter("z")), [(b"a", 11.0), (b"c", 3.0)])
    check("zremrangebyscore", r.zremrangebyscore("z", "-inf", 5), 1)


def _pairs(reply):
    return reply if reply and isinstance(reply[0], (tuple, list)) else [reply]


def check_lists(r):
    """Lists."""
    check("rpush", (r.rpush("l", "a", "b", "c"), r.lpush("l", "z")), (3, 4))
    check("lrange", r.lrange("l", 0, -1), [b"z", b"a", b"b", b"c"])
    check("lindex", (r.lindex("l", -1), r.llen("l")), (b"c", 4))
    check("linsert", (r.linsert("l", "before", "b", "n"), r.lpos("l", "b")), (5, 3))
    check("lset", (r.lset("l", 0, "y"), r.lrem("l", 1, "n")), (True, 1))
    check("lmove", (r.lmove("l", "m", "RIGHT", "LEFT"), r.lrange("m", 0, -1)), (b"c", [b"c"]))
    check("ltrim", (r.ltrim("l", 0, 1), r.lpop("l"), r.rpop("l", 5)), (True, b"y", [b"a"]))
    check("empty list is no key", r.exists("l"), 0)
    check("lmpop", r.lmpop(1, "m", direction="LEFT"), [b"m", [b"c"]])


def check_keys(r, other):
    """Generic keys and databases."""
    r.set("k", "v")
    check("type", (r.type("k"), r.type("h"), r.type("none")), (b"string", b"hash", b"none"))
    check(
        "encoding", (r.object("encoding", "k"), r.object("encoding", "y")), (b"embstr", b"intset")
    )
    check("expire", (r.expire("k", 100), r.ttl("k"), r.persist("k"), r.ttl("k")), (1, 100, 1, -1))
    check("expire in the past", (r.pexpireat("k", 1), r.exists("k")), (True, 0))
    r.set("k", "v")
    check("rename", (r.rename("k", "k2"), r.get("k2")), (True, b"v"))
    check("copy", (r.copy("k2", "k3"), r.get("k3")), (True, b"v"))
    check("move", (r.move("k3", 1), other.get("k3"), r.exists("k3")), (1, b"v", 0))
    check("scan", sorted(r.scan_iter("k*")), [b"k2"])
    check("keys", sorted(r.keys("k?")), [b"k2"])
    check("touch", (r.touch("k2", "none"), r.unlink("k2"), r.exists("k2")), (1, 1, 0))
    check("dbsize", (r.dbsize() == len(list(r.scan_iter())), other.dbsize()), (True, 1))
    check("flushdb", (other.flushdb(), other.dbsize(), r.dbsize() > 0), (True, 0, True))


def check_server(r):
    """The connection and the server."""
    check("ping", (r.ping(), r.echo("hello")), (True, b"hello"))
    name = r.client_setname("smoke") and r.client_getname()
    check("client", name in ("smoke", b"smoke"), True)
    check("client list", "smoke" in {c["name"] for c in r.client_list()}, True)
    check("config", r.config_get("databases"), {"databases": "16"})
    check(
        "config set",
        (r.config_set("timeout", 0), r.config_get("timeout")),
        (True, {"timeout": "0"}),
    )
    check("info", {"redis_version", "used_memory"} <= set(r.info()), True)
    check("command", {"get", "zadd"} <= set(r.command()), True)
    check("time", r.time()[0] > 1.6e9, True)
    check("slowlog", (r.slowlog_reset(), isinstance(r.slowlog_get(), list)), (True, True))
    check("unknown", error_of(r.execute_command, "NOSUCH")[:24], "unknown command 'NOSUCH'")


def check_pipeline(r):
    """A pipeline keeps the order of its replies, errors included."""
    pipe = r.pipeline(transaction=False)
    for i in range(1000):
        pipe.set(f"p{i}", i).get(f"p{i}")
    pipe.lpush("p0", 1)
    replies = pipe.execute(raise_on_error=False)
    check("pipeline", replies[1:2000:2], [b"%d" % i for i in range(1000)])
    check("pipeline error", isinstance(replies[2000], redis.exceptions.ResponseError), True)


def main():
    """Runs everything on both protocols; returns the exit status."""
    host, port = sys.argv[1], int(sys.argv[2])
    for protocol in (2, 3):
        pool = redis.ConnectionPool(
            host=host, port=port, protocol=protocol, max_connections=1
        )  # a single connection, so its name is kept
        r = redis.Redis(connection_pool=pool)
        r.flushall()
        for checks in (
            check_strings,
            check_hashes,
            check_sets,
            check_sorted_sets,
            check_lists,
            check_server,
            check_pipeline,
        ):
            guarded(checks, r)
        guarded(check_keys, r, redis.Redis(host, port, db=1, protocol=protocol))
    print(f"redis-py {redis.__version__}: {passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
