# SPDX-License-Identifier: BSD-3-Clause
"""Fields of hashes that expire: HEXPIRE, HTTL, HPERSIST and similar commands, HGETEX, HSETEX, HGETDEL.

No available server has them, so the expected codes and errors are written down from the documentation of Redis 7.4 and
8.0. Every test runs on packed and on spread hashes.
"""

import random
import time

import pytest
import redis

from harness import Server
from rdb_payloads import payload
from waiting import assert_stays, let_pass, wait_until

FORMS = {"packed": ("512", b"listpackex"), "spread": ("0", b"hashtable")}


@pytest.fixture(params=FORMS)
def form(request):
    """The storage of a test's hashes."""
    return request.param


@pytest.fixture
def h(server, form):
    """A client, and a hash h with a, b and c in the requested form."""
    client = server.client()
    client.config_set("hash-max-listpack-entries", FORMS[form][0])
    client.hset("h", mapping={"a": "1", "b": "2", "c": "3"})
    yield client
    client.execute_command("debug", "set-active-expire", 1)
    client.config_set("hash-max-listpack-entries", "512")


def run(client, line):
    """A command given as a line."""
    return client.execute_command(*line.split())


def test_each_field_has_its_own_code(h):
    assert run(h, "hexpire h 100 fields 3 a none b") == [1, -2, 1]
    assert run(h, "hexpire nokey 100 fields 2 a b") == [-2, -2]
    assert run(h, "hexpire h 0 fields 1 b") == [2]
    assert h.hexists("h", "b") is False
    assert run(h, "hexpireat h 1 fields 2 c b") == [2, -2]
    assert h.hkeys("h") == [b"a"]
    assert run(h, "hpexpireat h 5 fields 1 a") == [2]
    assert h.exists("h") == 0


def test_conditions(h):
    assert run(h, "hpexpire h 100000 nx fields 2 a b") == [1, 1]
    assert run(h, "hpexpire h 100000 NX fields 2 a c") == [0, 1]
    assert run(h, "hpexpire h 200000 xx fields 1 a") == [1]
    assert run(h, "hpersist h fields 1 c") == [1]
    assert run(h, "hpexpire h 100000 xx fields 1 c") == [0]
    assert run(h, "hpexpire h 150000 gt fields 3 a b c") == [0, 1, 0]
    assert run(h, "hpexpire h 120000 lt fields 3 a b c") == [1, 1, 1]
    assert run(h, "hpexpire h 0 gt fields 1 a") == [0]


def test_the_expiry_is_reported_in_all_four_units(h):
    now = time.time()
    assert run(h, "hexpire h 100 fields 1 a") == [1]
    assert run(h, "httl h fields 3 a b none") == [100, -1, -2]
    assert 99000 < run(h, "hpttl h fields 1 a")[0] <= 100000
    assert abs(run(h, "hexpiretime h fields 1 a")[0] - (now + 100)) <= 2
    assert abs(run(h, "hpexpiretime h fields 1 a")[0] - (now + 100) * 1000) < 2000
    assert run(h, "hexpireat h 4000000000 fields 1 b") == [1]
    assert run(h, "hexpiretime h fields 2 b c") == [4000000000, -1]
    assert run(h, "hpexpireat h 4000000000123 fields 1 b") == [1]
    assert run(h, "hpexpiretime h fields 1 b") == [4000000000123]
    assert run(h, "hexpiretime h fields 1 b") == [4000000001]
    for name in ("httl", "hpttl", "hexpiretime", "hpexpiretime", "hpersist"):
        assert run(h, f"{name} nokey fields 2 a b") == [-2, -2]


def test_persist(h):
    run(h, "hexpire h 100 fields 2 a b")
    assert run(h, "hpersist h fields 4 a c none a") == [1, -1, -2, -1]
    assert run(h, "httl h fields 2 a b") == [-1, 100]


ERRORS = """
hexpire h 100 fields 1 | wrong number of arguments for 'hexpire' command
httl h fields 1 | wrong number of arguments for 'httl' command
hgetdel h fields 1 | wrong number of arguments for 'hgetdel' command
hgetex h fields 1 | wrong number of arguments for 'hgetex' command
hsetex h fields 1 a | wrong number of arguments for 'hsetex' command
hexpire s 100 fields 1 a | WRONGTYPE Operation
hexpire s x fields 1 a | WRONGTYPE Operation
httl s fields 1 a | WRONGTYPE Operation
hgetdel s fields 1 a | WRONGTYPE Operation
hgetex s fields 1 a | WRONGTYPE Operation
hsetex s fields 1 a b | WRONGTYPE Operation
hexpire h x fields 1 a | value is not an integer or out of range
hexpire h -1 fields 1 a | invalid expire time, must be >= 0
hexpire h 70368744178 fields 1 a | invalid expire time in 'hexpire' command
hpexpire h 70368744177664 fields 1 a | invalid expire time in 'hpexpire' command
hpexpireat h 70368744177664 fields 1 a | invalid expire time in 'hpexpireat' command
hexpire h 100 never fields 1 a | Mandatory argument FIELDS is missing or not at the right position
hexpire h 100 field 1 a | Mandatory argument FIELDS is missing or not at the right position
httl h field 1 a | Mandatory argument FIELDS is missing or not at the right position
hpersist h 1 fields a | Mandatory argument FIELDS is missing or not at the right position
hexpire h 100 fields 0 a | Parameter `numFields` should be greater than 0
hexpire h 100 fields x a | Parameter `numFields` should be greater than 0
httl h fields 0 a | Number of fields must be a positive integer
hgetdel h fields -1 a | Number of fields must be a positive integer
hgetex h fields x a | Number of fields must be a positive integer
hexpire h 100 fields 2 a | The `numfields` parameter must match the number of arguments
hexpire h 100 fields 1 a b | The `numfields` parameter must match the number of arguments
httl h fields 3 a b | The `numfields` parameter must match the number of arguments
hgetdel h fields 1 a b | The `numfields` parameter must match the number of arguments
hgetex h ex 10 fields 1 a b | The `numfields` parameter must match the number of arguments
hgetex h ex x fields 1 a | value is not an integer or out of range
hgetex h px -1 fields 1 a | invalid expire time, must be >= 0
hgetex h keepttl fields 1 a | Mandatory argument FIELDS is missing or not at the right position
hsetex h ex 10 px 10 fields 1 a b | Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified
hsetex h keepttl ex 10 fields 1 a b | Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified
hsetex h fnx fxx fields 1 a b | Only one of FXX or FNX arguments can be specified
hsetex h never fields 1 a b | unknown argument: never
hsetex h fields 0 a b | invalid number of fields
hsetex h fields 2 a b | wrong number of arguments for 'hsetex' command
hsetex h fields 1 a b c | wrong number of arguments for 'hsetex' command
hsetex h ex -1 fields 1 a b | invalid expire time, must be >= 0
hsetex h fxx fnx ex 1 fields 1 a b | Only one of FXX or FNX arguments can be specified
"""


def test_wrong_calls_are_refused_and_change_nothing(h):
    h.set("s", "text")
    for line, error in (line.split(" | ") for line in ERRORS.strip().split("\n")):
        with pytest.raises(redis.ResponseError) as refused:
            run(h, line)
        text = str(refused.value)
        assert text.startswith(error.removeprefix("WRONGTYPE ")) or text.startswith(error), line
    assert h.hgetall("h") == {b"a": b"1", b"b": b"2", b"c": b"3"}
    assert run(h, "httl h fields 3 a b c") == [-1, -1, -1]


def test_the_last_possible_time_is_accepted(h):
    assert run(h, "hpexpireat h 70368744177663 fields 1 a") == [1]
    assert run(h, "hpexpiretime h fields 1 a") == [70368744177663]


def test_no_command_sees_an_expired_field(h):
    """Active expiry is off: each command itself must hide the field."""
    run(h, "debug set-active-expire 0")
    run(h, "hpexpire h 1 fields 2 a b")
    let_pass(1)
    assert h.hget("h", "a") is None
    assert h.hmget("h", "a", "b", "c") == [None, None, b"3"]
    assert h.hgetall("h") == {b"c": b"3"}
    assert h.hkeys("h") == [b"c"] and h.hvals("h") == [b"3"]
    assert not h.hexists("h", "a") and h.hstrlen("h", "a") == 0
    assert h.hscan("h")[1] == {b"c": b"3"}
    assert {h.hrandfield("h") for _ in range(50)} == {b"c"}
    assert h.hrandfield("h", 10) == [b"c"] and set(h.hrandfield("h", -20)) == {b"c"}
    assert run(h, "httl h fields 2 a c") == [-2, -1]
    assert run(h, "hexpire h 10 fields 1 a") == [-2]
    assert run(h, "hpersist h fields 1 a") == [-2]
    assert run(h, "hgetdel h fields 1 b") == [None]
    assert run(h, "hgetex h ex 10 fields 1 a") == [None]
    assert run(h, "hsetex h fxx fields 1 a 5") == 0
    assert h.hlen("h") == 3  # counted until they are deleted, as in Redis
    assert h.hdel("h", "b") == 0
    assert h.hsetnx("h", "a", "new") == 1
    assert run(h, "httl h fields 1 a") == [-1]
    assert h.hgetall("h") == {b"a": b"new", b"c": b"3"}
    run(h, "hpexpire h 1 fields 2 a c")
    let_pass(1)
    assert h.hgetall("h") == {} and h.hrandfield("h") is None and h.hrandfield("h", -3) == []
    assert h.hincrby("h", "a", 5) == 5
    assert run(h, "httl h fields 1 a") == [-1]


def test_fields_are_deleted_without_being_touched_and_the_key_with_the_last(h):
    run(h, "hpexpire h 30 fields 2 a b")
    wait_until(lambda: h.hlen("h") == 1)
    run(h, "hpexpire h 30 fields 1 c")
    wait_until(lambda: h.dbsize() == 0)


def test_commands_that_keep_or_clear_an_expiry(h):
    run(h, "hexpire h 100 fields 3 a b c")
    h.hset("h", "a", "new")
    h.hincrby("h", "b", 1)
    h.hincrbyfloat("h", "c", 0.5)
    assert run(h, "httl h fields 3 a b c") == [-1, 100, 100]
    assert h.hmget("h", "a", "b", "c") == [b"new", b"3", b"3.5"]
    h.hdel("h", "b")
    h.hset("h", "b", "again")
    assert run(h, "httl h fields 1 b") == [-1]
    h.hset("h", mapping={"c": "x", "d": "y"})
    assert run(h, "httl h fields 1 c") == [-1]


def test_the_values_that_hgetex_and_hgetdel_return_need_the_permission_to_read(h):
    """As in Redis: a user who may only write a key must not see what it holds."""
    h.execute_command("acl", "setuser", "writer", "on", "nopass", "%W~*", "+@all")
    h.execute_command("acl", "setuser", "both", "on", "nopass", "%RW~*", "+@all")
    for line in ("hgetex h fields 1 a", "hgetex h ex 10 fields 1 a", "hgetdel h fields 1 a"):
        assert b"no permissions" in h.execute_command("acl", "dryrun", "writer", *line.split())
        assert h.execute_command("acl", "dryrun", "both", *line.split()) == b"OK"
    for line in ("hsetex h ex 10 fields 1 a 1", "hpersist h fields 1 a", "hexpire h 10 fields 1 a"):
        assert h.execute_command("acl", "dryrun", "writer", *line.split()) == b"OK"
    h.execute_command("acl", "deluser", "writer", "both")


def test_hgetex(h):
    assert run(h, "hgetex h fields 2 a none") == [b"1", None]
    assert run(h, "hgetex h ex 100 fields 2 a none") == [b"1", None]
    assert run(h, "httl h fields 1 a") == [100]
    assert run(h, "hgetex h persist fields 2 a b") == [b"1", b"2"]
    assert run(h, "httl h fields 1 a") == [-1]
    assert run(h, "hgetex h pxat 4000000000123 fields 1 a") == [b"1"]
    assert run(h, "hpexpiretime h fields 1 a") == [4000000000123]
    assert run(h, "hgetex h exat 1 fields 1 a") == [b"1"]
    assert h.hkeys("h").count(b"a") == 0
    assert run(h, "hgetex nokey ex 1 fields 2 a b") == [None, None]


def test_hsetex(h):
    assert run(h, "hsetex h ex 100 fields 2 a x d y") == 1
    assert run(h, "httl h fields 2 a d") == [100, 100]
    assert run(h, "hsetex h keepttl fields 2 a z b z") == 1
    assert run(h, "httl h fields 2 a b") == [100, -1]
    assert run(h, "hsetex h fields 1 a w") == 1
    assert run(h, "httl h fields 1 a") == [-1]
    assert run(h, "hsetex h fnx ex 50 fields 2 a 1 new 2") == 0
    assert run(h, "hsetex h FNX PX 50000 FIELDS 1 new 2") == 1
    assert run(h, "hsetex h fxx fields 2 a 1 none 2") == 0
    assert run(h, "hsetex h exat 4000000000 fxx fields 2 a 1 b 2") == 1
    assert run(h, "hexpiretime h fields 2 a b") == [4000000000, 4000000000]
    assert run(h, "hsetex nokey fxx fields 1 a 1") == 0 and h.exists("nokey") == 0
    assert run(h, "hsetex made ex 100 fields 1 a 1") == 1
    assert run(h, "hsetex gone pxat 1 fields 1 a 1") == 1 and h.exists("gone") == 0


def test_hgetdel(h):
    run(h, "hexpire h 100 fields 1 a")
    assert run(h, "hgetdel h fields 3 a none a") == [b"1", None, None]
    assert run(h, "hgetdel h fields 2 b c") == [b"2", b"3"]
    assert h.exists("h") == 0
    assert run(h, "hgetdel nokey fields 1 a") == [None]


def test_the_encoding_is_reported(h, form):
    run(h, "hexpire h 100 fields 1 a")
    assert h.object("encoding", "h") == FORMS[form][1]


def test_expiries_are_copied_with_the_value(h, server):
    run(h, "hpexpireat h 4000000000123 fields 2 a b")
    times = [4000000000123, 4000000000123, -1]
    h.copy("h", "copy")
    h.rename("h", "renamed")
    h.move("renamed", 3)
    other = server.client(db=3)
    other.expire("renamed", 1000)
    other.persist("renamed")
    assert run(h, "hpexpiretime copy fields 3 a b c") == times
    assert run(other, "hpexpiretime renamed fields 3 a b c") == times
    h.restore("restored", 0, h.dump("copy"))
    assert run(h, "hpexpiretime restored fields 3 a b c") == times
    assert h.hgetall("restored") == h.hgetall("copy")
    run(h, "hpersist copy fields 2 a b")
    assert run(other, "hpexpiretime renamed fields 3 a b c") == times


def test_a_copy_and_a_renamed_hash_lose_their_fields_too(h, server):
    run(h, "hpexpire h 60 fields 2 a b")
    h.copy("h", "copy")
    h.rename("h", "renamed")
    h.move("renamed", 3)
    other = server.client(db=3)
    wait_until(lambda: h.hlen("copy") == 1 and other.hlen("renamed") == 1)


def test_a_replaced_hash_keeps_its_fields(h):
    run(h, "hpexpire h 30 fields 3 a b c")
    h.set("h", "text")
    assert_stays(lambda: h.get("h") == b"text", 0.15)
    h.delete("h")
    h.hset("h", mapping={"a": 1})
    assert_stays(lambda: h.hgetall("h") == {b"a": b"1"}, 0.05)


def test_the_key_may_expire_at_the_same_time_as_its_fields(h):
    when = int(time.time() * 1000) + 500  # a slow machine must reach the PERSIST before
    for key in ("one", "two", "three"):
        h.hset(key, mapping={"a": 1, "b": 2})
        run(h, f"hpexpireat {key} {when} fields 1 a")
        h.pexpireat(key, when)
    h.persist("one")
    run(h, "hpersist two fields 1 a")
    wait_until(lambda: h.dbsize() == 2)
    assert h.hgetall("one") == {b"b": b"2"}
    assert h.exists("two", "three") == 0


def test_payloads_of_redis_7_4(r):
    """Payloads written by hand from the description of RDB: a table with expiries, and a listpack with expiries."""
    when = 4000000000123
    low = when.to_bytes(8, "little").hex()
    values = [
        payload(f"18 {low} 02 01 0161 0178 00 0162 0179", 12),
        payload(f"19 {low} 1f 1f000000 0600 816102 817802 f4{low}09 816202 817902 0001 ff", 12),
    ]
    for value in values:
        r.restore("key", 0, value, replace=True)
        assert r.hgetall("key") == {b"a": b"x", b"b": b"y"}
        assert run(r, "hpexpiretime key fields 2 a b") == [when, -1]


@pytest.mark.slow
def test_payloads_of_valkey_9(r):
    """The version tells Valkey's type 22 from that of Redis, which is refused."""
    when = 4000000000123
    value = f"16 02 0161 0178 {when.to_bytes(8, 'little').hex()} 0162 0179 ffffffffffffffff"
    r.restore("key", 0, payload(value, 80))
    assert r.hgetall("key") == {b"a": b"x", b"b": b"y"}
    assert run(r, "hpexpiretime key fields 2 a b") == [when, -1]
    for version in (12, 15):
        with pytest.raises(redis.ResponseError, match="Bad data format"):
            r.restore("other", 0, payload(value, version))
    with pytest.raises(redis.ResponseError, match="version or checksum"):
        r.restore("other", 0, payload(value, 82))


def test_redis_8_replicates_a_template_without_a_checksum(r):
    """HIMPORT SET of Redis 8.10 arrives at replicas as a RESTORE whose checksum is 0."""
    value = bytes.fromhex("1f 01 02 0166 0167 c001 0178" "0f00") + bytes(8)
    r.restore("key", 0, value)
    assert r.hgetall("key") == {b"f": b"1", b"g": b"x"}


@pytest.mark.slow
def test_a_large_hash_loses_its_fields_and_survives_a_restart():
    with Server() as server:
        r = server.client()
        rng = random.Random(1)
        r.hset("h", mapping={f"f{i}": i for i in range(30000)})
        late = [f"f{i}" for i in range(0, 30000, 3)]
        soon = [f"f{i}" for i in range(1, 30000, 3)]
        when = int(time.time() * 1000) + 1500
        for names, at in ((late, 4000000000000), (soon, when)):
            rng.shuffle(names)
            assert set(r.execute_command("hpexpireat", "h", at, "fields", len(names), *names)) == {1}
        server.restart("kill9")
        r = server.client()
        assert r.execute_command("hpexpiretime", "h", "fields", 3, "f0", "f1", "f2") in (
            [4000000000000, when, -1], [4000000000000, -2, -1])
        wait_until(lambda: r.hlen("h") == 20000)
        assert r.hget("h", "f1") is None and r.hget("h", "f0") == b"0"
        assert len(r.hgetall("h")) == 20000


def test_events(server, form):
    r = server.client()
    r.config_set("hash-max-listpack-entries", FORMS[form][0])
    r.config_set("notify-keyspace-events", "KEA")
    listener = r.pubsub()
    listener.psubscribe("__keyevent@0__:*")

    def events_until(last):
        names = []
        while names[-1:] != [last]:
            message = listener.get_message(timeout=60)
            if message["type"] == "pmessage":
                names.append(message["channel"].decode().removeprefix("__keyevent@0__:"))
        return names

    def events(*lines):
        for line in lines:
            run(r, line)
        r.publish("__keyevent@0__:end", "")
        return events_until("end")[:-1]

    assert events("hset h a 1 b 2 c 3", "hexpire h 100 fields 2 a none") == ["hset", "hexpire"]
    assert events("hpersist h fields 2 a b", "hpersist h fields 1 a") == ["hpersist"]
    assert events("hexpire h 0 fields 1 a", "hexpire h 100 xx fields 1 b") == ["hdel"]
    assert events("hsetex h ex 10 fields 1 d 1", "hgetex h persist fields 1 d") == [
        "hset", "hexpire", "hpersist"]
    assert events("hgetdel h fields 1 d", "hgetdel h fields 1 d") == ["hdel"]
    assert events("hgetdel h fields 2 b c") == ["hdel", "del"]
    assert events("hset h a 1 b 2") == ["hset"]
    run(r, "hpexpire h 10 fields 1 a")
    assert events_until("hexpired") == ["hexpire", "hexpired"]
    run(r, "hpexpire h 10 fields 1 b")
    assert events_until("del") == ["hexpire", "hexpired", "del"]
    assert events() == []
    r.config_set("notify-keyspace-events", "")
    r.config_set("hash-max-listpack-entries", "512")


def test_hashes_equal_a_model(h):
    """Random commands on one hash, compared with a dictionary; expiries are far in the future or in the past."""
    rng = random.Random(7)
    model = {b"a": [b"1", -1], b"b": [b"2", -1], b"c": [b"3", -1]}
    fields = [b"a", b"b", b"c", *(b"field%d" % i for i in range(12))]
    for step in range(3000):
        field, value = rng.choice(fields), b"%d" % step
        draw = rng.randrange(8)
        if draw < 2:
            h.hset("h", field, value)
            model[field] = [value, -1]
        elif draw == 2:
            assert h.hdel("h", field) == (model.pop(field, None) is not None)
        elif draw == 3:
            when = rng.randrange(4 * 10**12, 5 * 10**12)
            code = h.execute_command("hpexpireat", "h", when, "fields", 1, field)
            assert code == [1 if field in model else -2]
            if field in model:
                model[field][1] = when
        elif draw == 4:
            code = h.execute_command("hpexpireat", "h", 1, "fields", 1, field)
            assert code == [2 if model.pop(field, None) else -2]
        elif draw == 5:
            code = h.execute_command("hpersist", "h", "fields", 1, field)
            had = model.get(field, [None, None])[1]
            assert code == [{None: -2, -1: -1}.get(had, 1)]
            if field in model:
                model[field][1] = -1
        elif draw == 6:
            h.execute_command("hsetex", "h", "keepttl", "fields", 1, field, value)
            model[field] = [value, model.get(field, [None, -1])[1]]
        else:
            h.execute_command("hsetex", "h", "pxat", 4 * 10**12 + step, "fields", 1, field, value)
            model[field] = [value, 4 * 10**12 + step]
        if step % 50 == 0:
            assert h.hgetall("h") == {name: pair[0] for name, pair in model.items()}
            asked = list(model) or [b"none"]
            times = h.execute_command("hpexpiretime", "h", "fields", len(asked), *asked)
            assert times == [model[name][1] for name in asked if name in model] or not model
