# SPDX-License-Identifier: BSD-3-Clause
"""DEBUG: digests equal to redis-server's, the other subcommands, and the permission to use it."""

import random
import select
import time

import pytest
import redis
from harness import Server
from pairs import PAIRS, follow, start, wait_for_offset
from raw_client import RawClient
from waiting import assert_stays


def fill(client, seed):
    """Data of every type, small and large, in three databases, the same for the same seed."""
    rng = random.Random(seed)

    def word():
        kind = rng.random()
        if kind < 0.3:
            return str(rng.randint(-1000, 1000))
        if kind < 0.6:
            return "w%d" % rng.randint(0, 10000)
        return rng.randbytes(rng.randint(0, 100))

    for db in (0, 3, 15):
        client("select", db)
        for n in range(30):
            size = rng.choice([1, 3, 100, 700])
            client("set", f"string{n}", word())
            client("rpush", f"list{n}", *(word() for _ in range(size)))
            client("sadd", f"set{n}", *(word() for _ in range(size)))
            client("sadd", f"intset{n}", *(rng.randint(-9999, 9999) for _ in range(size)))
            client("hset", f"hash{n}", *(word() for _ in range(2 * size)))
            scores = [rng.choice([str(rng.random() * 1e6), str(rng.randint(-5, 5)), "inf", "-inf", "0.1"])
                      for _ in range(size)]
            client("zadd", f"zset{n}", *(item for score in scores for item in (score, word())))
        client("expire", "string1", 100000)
        client("expire", "hash2", 100000)
    client("select", 0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_the_digest_is_redis_own(server, redis_server, seed):
    mine, theirs = RawClient(server.port), RawClient(redis_server.port)
    empty = (b"+", b"0" * 40)
    assert mine("debug", "digest") == theirs("debug", "digest") == empty
    for client in (mine, theirs):
        fill(client, seed)
    assert mine("debug", "digest") == theirs("debug", "digest") != empty
    keys = ["string1", "string2", "list3", "set4", "intset5", "hash2", "hash6", "zset7", "nokey"]
    assert mine("debug", "digest-value", *keys) == theirs("debug", "digest-value", *keys)
    mine("debug", "reload")
    assert mine("debug", "digest") == theirs("debug", "digest")
    mine("persist", "hash2")
    assert mine("debug", "digest") != theirs("debug", "digest")


def test_the_same_replies(pair):
    pair.lines("""
        debug
        debug foo
        debug sleep
        debug sleep a
        debug sleep 0
        debug set-active-expire
        debug set-active-expire 1
        debug object
        debug object nokey
        debug digest x
        debug digest-value
        debug digest-value nokey
        debug change-repl-id
        debug change-repl-id x
        debug quicklist-packed-threshold
        debug quicklist-packed-threshold x
        debug quicklist-packed-threshold 4gb
        debug quicklist-packed-threshold 1b
        debug quicklist-packed-threshold 0
        debug protocol
        debug protocol foo
        debug log
        debug log hello
        debug error
        debug error WRONG-THING
        debug reload x
        debug reload
        debug help x
    """)


@pytest.mark.parametrize("kind", "string integer double null array set map true false verbatim bignum".split())
def test_protocol(pair, kind):
    pair("debug", "protocol", kind)


def test_protocol_push_and_attribute_in_bytes(server, redis_server):
    """A reply of these two kinds is more than one value, so whole bytes are compared."""
    for protocol in (2, 3):
        for kind in ("push", "attrib"):
            answers = []
            for port in (server.port, redis_server.port):
                client = RawClient(port, protocol)
                client.send("debug", "protocol", kind)
                client.send("ping", "the-end")
                received = b""
                while b"the-end\r\n" not in received:
                    received += client.stream.read1(1000)
                answers.append(received)
            assert answers[0] == answers[1], (protocol, kind)


def test_object_shows_the_encoding_of_a_value(r):
    r.set("n", 5)
    r.hset("h", "f", "x" * 1000)
    about = r.execute_command("debug", "object", "n").decode()
    assert about.startswith("Value at:0x") and " refcount:2147483647 encoding:int " in about
    address = about.split()[1]
    r.incr("n")
    assert r.execute_command("debug", "object", "n").decode().split()[1] == address
    assert b"encoding:hashtable" in r.execute_command("debug", "object", "h")


def test_a_reload_keeps_all_data(r):
    r.set("a", "1")
    r.rpush("l", *range(1000))
    reads = r.info("rocksdb")["number_keys_read"]
    r.execute_command("debug", "reload")
    assert r.get("a") == b"1"
    assert r.lrange("l", 0, -1) == [b"%d" % i for i in range(1000)]
    assert r.info("rocksdb")["number_keys_read"] > reads  # from disk, not from the key cache
    r.execute_command("debug", "loadaof")
    assert r.get("a") == b"1"


@pytest.mark.parametrize("option", [[], ["NOFLUSH"], ["MERGE"]], ids="".join)
def test_a_file_that_cannot_be_loaded_is_an_error_and_changes_nothing(option):
    with Server() as server:
        client = server.client()
        client.set("kept", 1)
        (server.data_dir / "dump.rdb").write_bytes(b"REDIS0009garbage")
        with pytest.raises(redis.ResponseError, match="Error trying to load the RDB dump, check server logs"):
            client.execute_command("debug", "reload", "nosave", *option)
        assert client.keys() == [b"kept"]
        assert server.log_path.read_text().count("DEBUG RELOAD: ") == 1  # it was not retried


def test_active_expiry_can_be_turned_off(r):
    r.execute_command("debug", "set-active-expire", "0")
    try:
        r.set("a", 1, px=10)
        assert_stays(lambda: r.dbsize() == 1, 0.3, "the key")
        assert r.get("a") is None
    finally:
        r.execute_command("debug", "set-active-expire", "1")


@pytest.mark.parametrize("seconds", ["nan", "-1e300", "-inf", "0", "text"])
def test_a_sleep_that_is_no_time_ends_at_once(r, seconds):
    assert r.execute_command("debug", "sleep", seconds) == b"OK"


def test_sleep_blocks_only_its_own_client(server):
    sleeper, other = RawClient(server.port), RawClient(server.port)
    start = time.monotonic()
    sleeper.send("debug", "sleep", "0.5")
    while time.monotonic() - start < 0.3:
        assert other("ping") == (b"+", b"PONG")
        assert not select.select([sleeper.socket], [], [], 0)[0] or time.monotonic() - start >= 0.5
    assert sleeper.read() == (b"+", b"OK")
    assert time.monotonic() - start >= 0.5


@pytest.mark.parametrize("allowed", ["no", "yes", "local"])
def test_it_can_be_disabled(allowed, redis_server):
    with Server(enable_debug_command=allowed) as server:
        client = RawClient(server.port)
        if allowed == "no":
            text = client("debug", "sleep", "0")[1]
            assert text.startswith(b"ERR DEBUG command not allowed. If the enable-debug-command option is set to")
        else:
            assert client("debug", "sleep", "0") == (b"+", b"OK")


def test_it_is_disabled_by_default():
    with Server(enable_debug_command=None) as server:
        client = RawClient(server.port)
        assert client("debug", "sleep", "0")[1].startswith(b"ERR DEBUG command not allowed.")
        assert client("config", "get", "enable-debug-command")[1][1] == (b"$", b"no")


def test_a_client_without_permission_gets_redis_error(redis_server):
    """The text of the refusal, from a redis-server with DEBUG disabled."""
    from harness import start_redis  # imported here, because only this test needs a second one
    with start_redis(enable_debug_command="no") as theirs, Server(enable_debug_command="no") as ours:
        assert RawClient(ours.port)("debug", "sleep", "0") == RawClient(theirs.port)("debug", "sleep", "0")


def test_memory_usage_grows_with_the_value(r):
    r.set("small", "x")
    r.set("large", "x" * 10000)
    r.sadd("set", *(f"member-{i}" for i in range(10000)))
    r.zadd("zset", {f"member-{i}": i for i in range(10000)})
    r.rpush("list", *("x" * 100 for _ in range(1000)))
    assert r.memory_usage("nokey") is None
    assert 1 < r.memory_usage("small") < 200
    assert 10000 < r.memory_usage("large") < 12000
    assert 10000 * 11 < r.memory_usage("set") < 10000 * 200
    assert r.memory_usage("zset") > r.memory_usage("set")
    assert 100_000 < r.memory_usage("list", samples=0) < 200_000
    exact, estimate = r.memory_usage("set", samples=0), r.memory_usage("set")
    assert abs(exact - estimate) < exact / 5


def test_memory_errors(pair):
    pair.lines("""
        memory
        memory foo
        memory usage
        memory usage nokey
        memory usage nokey samples
        memory usage nokey samples a
        memory usage nokey samples -1
        memory usage nokey foo 1
        memory purge
        memory doctor x
    """)


def test_the_doctor_replies_with_a_text(r):
    assert b"the budget is" in r.execute_command("memory", "doctor")


def test_debug_error_is_an_error(r):
    with pytest.raises(redis.ResponseError, match="MYERROR text"):
        r.execute_command("debug", "error", "MYERROR text")


def test_populate_creates_the_same_keys_as_redis(pair):
    """Names, values, sizes; existing keys are kept."""
    pair.lines("""
        set p:1 mine
        debug populate 5 p 20
        mget p:0 p:1 p:4
        debug populate 3
        mget key:0 key:2
        debug populate 12 q 3
        mget q:0 q:11
        dbsize
        debug populate -1
        debug populate x
    """)


@pytest.mark.parametrize("primary_kind,replica_kind", PAIRS)
def test_replicate_makes_replicas_differ(primary_kind, replica_kind):
    """Only the replicas run the replicated command. A replica that does not know it logs that, and the link stays
    up."""
    with start(primary_kind, enable_debug_command="yes") as primary, start(replica_kind) as replica:
        follow(replica, primary)
        one, other = primary.client(), replica.client()
        assert one.execute_command("DEBUG", "REPLICATE", "set", "a", "of the replica") == b"OK"
        assert one.execute_command("DEBUG", "REPLICATE", "fake-command") == b"OK"
        one.set("b", 1)
        wait_for_offset(primary, replica)
        assert (one.get("a"), other.get("a"), other.get("b")) == (None, b"of the replica", b"1")
        log = replica.log_tail()
        assert "== CRITICAL ==" in log and "fake-command" in log
        assert one.info("stats")["sync_full"] == 1


def test_populate_does_not_wait_for_its_own_transaction(server):
    with RawClient(server.port) as client:
        client("multi")
        client("set", "x", "1")
        client("debug", "populate", "1000")
        kind, replies = client("exec")
        assert kind == b"*" and replies[0] == (b"+", b"OK")
        assert replies[1] == (b"-", b"ERR DEBUG POPULATE is not allowed in a transaction that uses keys")
