# SPDX-License-Identifier: BSD-3-Clause
"""MIGRATE transfers keys from one server to another, between Cairns and to and from redis-server."""

import socket
import threading

import pytest
import redis

from harness import Server, free_port
from pairs import send_and_see
from raw_client import RawClient
from waiting import assert_stays, wait_until

FILL = """
set string text
rpush list a b c
sadd set a 1
hset hash f v
zadd zset 1 a 2.5 b
xadd stream 1-1 f v
"""


@pytest.fixture(scope="module")
def module_target():
    """The process behind `target`."""
    with Server() as server:
        yield server


@pytest.fixture(params=["cairn to cairn", "cairn to redis", "redis to cairn"])
def ends(request, server, module_target, redis_server):
    """(source, its client, target, its client), both empty."""
    module_target.client().flushall()
    source, target = {
        "cairn to cairn": (server, module_target),
        "cairn to redis": (server, redis_server),
        "redis to cairn": (redis_server, server),
    }[request.param]
    return source, source.client(), target, target.client()


def fill(client):
    """Creates a key of each type; returns their names."""
    for line in FILL.split("\n"):
        if line:
            client.execute_command(*line.split())
    return sorted(client.keys())


def digest(client, key):
    """A digest that distinguishes two values."""
    return client.execute_command("debug", "digest-value", key)


def test_every_type_is_transferred_completely(ends):
    _, ours, target, theirs = ends
    keys = fill(ours)
    before = {key: digest(ours, key) for key in keys}
    for key in keys:
        assert ours.migrate("127.0.0.1", target.port, key, 0, 5000) == b"OK"
    assert ours.dbsize() == 0
    assert {key: digest(theirs, key) for key in theirs.keys()} == before


def test_many_keys_are_transferred_and_missing_ones_ignored(ends):
    _, ours, target, theirs = ends
    keys = fill(ours)
    assert ours.migrate("127.0.0.1", target.port, [*keys[:4], "nokey"], 0, 5000) == b"OK"
    assert sorted(theirs.keys()) == keys[:4]
    assert sorted(ours.keys()) == keys[4:]
    assert ours.migrate("127.0.0.1", target.port, ["nokey", "nor this"], 0, 5000) == b"NOKEY"


def test_copy_keeps_and_replace_overwrites(ends):
    _, ours, target, theirs = ends
    ours.set("key", "new")
    assert ours.migrate("127.0.0.1", target.port, "key", 0, 5000, copy=True) == b"OK"
    assert ours.get("key") == theirs.get("key") == b"new"
    theirs.rpush("list", "old")
    ours.rpush("list", "new")
    with pytest.raises(redis.ResponseError) as refused:
        ours.migrate("127.0.0.1", target.port, ["list", "key"], 0, 5000)
    assert str(refused.value) == (
        "Target instance replied with error: BUSYKEY Target key name already exists."
    )
    assert ours.get("key") == b"new"
    assert ours.migrate("127.0.0.1", target.port, ["list", "key"], 0, 5000, replace=True) == b"OK"
    assert theirs.lrange("list", 0, -1) == [b"new"]
    assert ours.dbsize() == 0


@pytest.mark.parametrize("timeout_ms", [1 << 32, (1 << 63) - 1])
def test_a_timeout_may_be_of_any_length(server, r, module_target, timeout_ms):
    """Such times are beyond the range of poll(), or of microseconds in 64 bits."""
    module_target.client().flushall()
    r.set("key", "value")
    assert r.migrate("127.0.0.1", module_target.port, "key", 0, timeout_ms) == b"OK"
    assert module_target.client().get("key") == b"value"


def test_the_expiry_and_the_database_are_transferred(ends):
    _, ours, target, theirs = ends
    ours.set("key", "value", px=50000)
    assert ours.migrate("127.0.0.1", target.port, "key", 3, 5000) == b"OK"
    assert theirs.dbsize() == 0
    other = target.client(db=3)
    assert 40000 < other.pttl("key") <= 50000
    ours.set("key", "value")
    with pytest.raises(redis.ResponseError) as refused:
        ours.migrate("127.0.0.1", target.port, "key", 99, 5000)
    assert str(refused.value) == "Target instance replied with error: ERR DB index is out of range"
    assert ours.get("key") == b"value"


def test_keys_that_arrived_before_an_error_are_deleted_at_the_source(ends):
    _, ours, target, theirs = ends
    for key in ("a", "b", "c"):
        ours.set(key, "new")
    theirs.set("b", "old")
    with pytest.raises(redis.ResponseError, match="BUSYKEY"):
        ours.migrate("127.0.0.1", target.port, ["a", "b", "c"], 0, 5000)
    assert ours.keys() == [b"b"]
    assert theirs.get("a") == theirs.get("c") == b"new" and theirs.get("b") == b"old"


def test_passwords_are_passed_on(server):
    ours = server.client()
    with Server(requirepass="secret") as target:
        ours.set("a", 1)
        ours.set("b", 1)
        with pytest.raises(redis.ResponseError, match="error: NOAUTH Authentication required."):
            ours.migrate("127.0.0.1", target.port, "a", 0, 5000)
        with pytest.raises(redis.ResponseError, match="error: WRONGPASS"):
            ours.migrate("127.0.0.1", target.port, "a", 0, 5000, auth="wrong")
        assert ours.migrate("127.0.0.1", target.port, "a", 0, 5000, auth="secret") == b"OK"
        words = ["127.0.0.1", target.port, "", 0, 5000, "auth2", "default", "secret", "keys", "b"]
        assert ours.execute_command("migrate", *words) == b"OK"
        assert target.client(password="secret").dbsize() == 2
    ours.config_set("slowlog-log-slower-than", 0)
    ours.set("c", 1)
    with pytest.raises(redis.ResponseError, match="IOERR"):
        ours.migrate("127.0.0.1", free_port(), "c", 0, 100, auth="secret")
    ours.config_set("slowlog-log-slower-than", -1)
    assert not any(b"secret" in entry["command"] for entry in ours.slowlog_get(10))


@pytest.mark.parametrize("line", """
migrate
migrate 127.0.0.1 PORT key 0
migrate 127.0.0.1 PORT key x 100
migrate 127.0.0.1 PORT key 0 x
migrate 127.0.0.1 PORT key 0 100 other
migrate 127.0.0.1 PORT key 0 100 auth
migrate 127.0.0.1 PORT key 0 100 auth2 x
migrate 127.0.0.1 PORT key 0 100 keys a b
migrate 127.0.0.1 PORT key 0 100 copy replace copy
migrate 127.0.0.1 PORT nokey x 100
migrate 127.0.0.1 PORT nokey 0 100
migrate 127.0.0.1 PORT nokey 99 0 replace
""".strip().split("\n"))
def test_replies_are_those_of_redis(pair, line):
    pair("set", "key", "value")
    pair(*line.replace("PORT", str(free_port())).split())
    pair("exists", "key")


def test_command_info_and_keys_are_those_of_redis(pair):
    pair("command", "info", "migrate")
    for rest in ("key 0 10", "'' 0 10 keys a b", "key 0 10 copy keys a", "'' 0 10 auth keys keys a"):
        words = ["" if word == "''" else word for word in rest.split()]
        pair("command", "getkeys", "migrate", "host", "1", *words)


def test_a_silent_target_times_out_and_delays_no_other_client(server):
    ours, other = server.client(), server.client()
    ours.set("key", "value")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        errors = []

        def migrate():
            try:
                ours.migrate("127.0.0.1", port, "key", 0, 1000)
            except redis.ResponseError as error:
                errors.append(str(error))

        thread = threading.Thread(target=migrate)
        thread.start()
        taken = silent.accept()[0]
        for i in range(50):
            other.set(f"other:{i}", i)
        assert not errors
        thread.join()
        taken.close()
    assert errors == ["IOERR error or timeout reading to target instance"] or errors == [
        "error or timeout reading to target instance"
    ]
    assert other.get("key") == b"value"


def test_a_migrate_in_a_transaction(ends):
    _, ours, target, theirs = ends
    ours.set("key", "value")
    pipe = ours.pipeline(transaction=True)
    pipe.set("key", "changed")
    pipe.execute_command("migrate", "127.0.0.1", target.port, "key", 0, 5000)
    pipe.exists("key")
    assert pipe.execute() == [True, b"OK", 0]
    assert theirs.get("key") == b"changed"


class KeyHolder:
    """A MIGRATE to a target that does not reply: it holds the lock of its key, which it leaves as it is."""

    def __init__(self, server, key):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.client = RawClient(server.port)
        self.client.send("migrate", "127.0.0.1", self.listener.getsockname()[1], key, 0, 60000)
        self.target, _ = self.listener.accept()

    def release(self):
        """Ends the MIGRATE with an error of the target."""
        self.target.sendall(b"-ERR\r\n-ERR\r\n")
        assert self.client.read()[1].startswith(b"ERR Target instance replied with error")
        for each in (self.target, self.client, self.listener):
            each.close()


@pytest.mark.parametrize("how", ["migrate", "exec", "eval"])
def test_a_migrate_that_meets_a_pause_of_writes_runs_after_it(module_target, how):
    """It had passed the check for pauses and waited for its key. If it ran before the dispatcher holds it back, both
    servers would have the key, and it would fail after the pause."""
    theirs = module_target.client()
    theirs.flushall()
    move = ("migrate", "127.0.0.1", module_target.port, "key", 0, 5000)
    with Server() as source, RawClient(source.port) as mover:
        ours = source.client()
        ours.set("key", "value")
        holder = KeyHolder(source, "key")
        number = mover("client", "id")[1].decode()
        if how == "exec":
            mover("multi")
            mover(*move)
        script = ("eval", "return redis.call(unpack(ARGV))", 1, "key", *move)
        mover.send(*{"migrate": move, "exec": ("exec",), "eval": script}[how])
        wait_until(lambda: ours.client_list(client_id=[number])[0]["cmd"] == how, how)
        ours.execute_command("CLIENT", "PAUSE", 60000, "WRITE")
        holder.release()
        assert_stays(lambda: not theirs.exists("key"), 0.2, "the pause")
        ours.execute_command("CLIENT", "UNPAUSE")
        moved = (b"+", b"OK")
        assert mover.read() == ((b"*", [moved]) if how == "exec" else moved)
        assert not ours.exists("key")
        assert theirs.get("key") == b"value"


def test_a_transaction_that_migrates_does_not_start_over():
    """SORT reads keys by a pattern. If they were not locked, a change of one before EXEC's end would run it again."""
    with (Server() as source, RawClient(source.port) as mover, RawClient(source.port) as writer,
          socket.create_server(("127.0.0.1", 0)) as listener):
        source.client().rpush("l", 1)
        source.client().mset({"key": "value", "w_1": 1})
        mover("multi")
        mover("sort", "l", "by", "w_*", "get", "w_*")
        mover("migrate", "127.0.0.1", listener.getsockname()[1], "key", 0, 5000)
        mover.send("exec")
        target, _ = listener.accept()
        send_and_see(source, writer, "set", "w_1", 2, shown="set")
        target.sendall(b"+OK\r\n+OK\r\n")
        assert mover.read() == (b"*", [(b"*", [(b"$", b"1")]), (b"+", b"OK")])
        assert writer.read() == (b"+", b"OK")
        target.close()


def test_a_script_that_migrates_does_not_start_over(module_target):
    """It writes another key afterwards that it has not declared, and that is locked."""
    theirs = module_target.client()
    theirs.flushall()
    script = "redis.call('migrate', '127.0.0.1', ARGV[1], KEYS[1], 0, 5000); return redis.call('append', ARGV[2], 'x')"
    with Server() as source, RawClient(source.port) as mover:
        ours = source.client()
        ours.mset({"key": "value", "undeclared": "y"})
        holder = KeyHolder(source, "undeclared")
        send_and_see(source, mover, "eval", script, 1, "key", module_target.port, "undeclared", shown="eval")
        assert_stays(lambda: not theirs.exists("key"), 0.2, "the lock")
        holder.release()
        assert mover.read() == (b":", b"2")
        assert not ours.exists("key")
        assert theirs.get("key") == b"value"
