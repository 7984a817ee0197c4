# SPDX-License-Identifier: BSD-3-Clause
"""JSON documents as values of a server: what tests/command/json.test cannot see. Replies in RESP3, replication,
restarts, copies, saved files, permissions, WATCH, events, and large documents."""

import json
import pathlib
import time

import pytest
import redis
from harness import default_command
from pairs import follow, start, wait_for_offset
from test_saving import run_tool
from value_copies import COPY_PREFIXES, make_copies, value_digests

DOCUMENTS = {
    "scalar": 1,
    "text": 'quotes " and \\ and é and \U0001f600',
    "empty": {},
    "numbers": [0, -1, 2**53, 1.5, 1e300, -0.0],
    "nested": {"a": {"b": [1, {"c": None}, True, []]}, "": "", "long": "x" * 5000},
    "large": [{"id": n, "name": f"name {n}", "tags": [n % 7, "t" * (n % 50)]} for n in range(3000)],
}


def fill(client, prefix=""):
    """The documents above."""
    for name, document in DOCUMENTS.items():
        client.execute_command("JSON.SET", prefix + name, "$", json.dumps(document))


def assert_same_documents(client, prefix=""):
    """All of them read back."""
    for name, document in DOCUMENTS.items():
        assert json.loads(client.execute_command("JSON.GET", prefix + name)) == document, name


def test_documents_survive_restarts_and_kills(server):
    fill(server.client())
    for how in ("shutdown", "kill9"):
        server.restart(how)
        assert_same_documents(server.client())
    assert {key.decode() for key in server.client().scan_iter(_type="ReJSON-RL")} == set(DOCUMENTS)


def test_copies_and_dumps_are_the_same(r):
    """COPY, RENAME, DUMP and RESTORE, with an expiry."""
    fill(r)
    before = value_digests(r, DOCUMENTS)
    make_copies(r, DOCUMENTS)
    for prefix in COPY_PREFIXES:
        assert value_digests(r, DOCUMENTS, prefix) == before
        assert_same_documents(r, prefix)
    r.execute_command("JSON.SET", "copy:nested", "$.a.b[0]", 2)
    assert r.execute_command("JSON.GET", "renamed:nested", "$.a.b[0]") in (b"[1]", "[1]")


def test_a_saved_file_has_the_documents(server, tmp_path):
    """DEBUG RELOAD, and the tools that write and read a file without a server."""
    client = server.client()
    fill(client)
    client.pexpire("scalar", 10_000_000)
    client.execute_command("DEBUG", "RELOAD")
    assert_same_documents(client)
    server.shutdown()
    run_tool("export", server.data_dir, tmp_path / "file.rdb")
    run_tool("import", tmp_path / "data", tmp_path / "file.rdb")
    with type(server)(dir=tmp_path / "data") as other:
        assert_same_documents(other.client())
        assert other.client().pttl("scalar") > 9_000_000
    server.start()


def test_a_damaged_payload_is_refused(r):
    """Also one with a valid checksum whose text is no JSON: a document that cannot be read must not be stored."""
    r.execute_command("JSON.SET", "j", "$", '{"a":1}')
    payload = r.dump("j").replace(b"1}", b"{}")
    with pytest.raises(redis.ResponseError, match="checksum"):
        r.restore("new", 0, payload)
    r.execute_command("DEBUG", "SET-SKIP-CHECKSUM-VALIDATION", 1)
    try:
        with pytest.raises(redis.ResponseError, match="Bad data format"):
            r.restore("new", 0, payload)
    finally:
        r.execute_command("DEBUG", "SET-SKIP-CHECKSUM-VALIDATION", 0)
    assert not r.exists("new")


CHANGES = [
    ("JSON.SET", "nested", "$.new", '[1,2,3]'),
    ("JSON.NUMINCRBY", "nested", "$.new[*]", 0.1),
    ("JSON.NUMMULTBY", "nested", "$.new[0]", 3),
    ("JSON.ARRAPPEND", "nested", "$.new", '"x"', '{"y":1}'),
    ("JSON.ARRINSERT", "nested", "$.new", 1, '[]'),
    ("JSON.ARRPOP", "nested", "$.new", 0),
    ("JSON.ARRTRIM", "nested", "$.new", 0, 2),
    ("JSON.STRAPPEND", "nested", "$.long", '"tail"'),
    ("JSON.TOGGLE", "nested", "$.a.b[2]"),
    ("JSON.MERGE", "nested", "$", '{"a":null,"merged":{"deep":[1]}}'),
    ("JSON.MSET", "one", "$", "1", "two", "$", '{"a":2}'),
    ("JSON.CLEAR", "large", "$[0].tags"),
    ("JSON.DEL", "large", "$[1:10]"),
    ("JSON.DEL", "empty"),
]


@pytest.mark.slow
@pytest.mark.parametrize("files", ["yes", "no"])
def test_a_replica_has_the_same_documents(files):
    """First by a transfer, of files or of an RDB file, then by the commands."""
    with start("cairn", repl_sync_files=files) as primary, start("cairn", repl_sync_files=files) as replica:
        client = primary.client()
        fill(client)
        follow(replica, primary)
        wait_for_offset(primary, replica)
        assert_same_documents(replica.client())
        for change in CHANGES:
            client.execute_command(*change)
        wait_for_offset(primary, replica)
        for key in client.keys():
            assert replica.client().execute_command("JSON.GET", key) == client.execute_command("JSON.GET", key), key
        assert not replica.client().exists("empty")


def test_merge_of_many_members_takes_linear_time(server):
    """In a quadratic time these would take minutes."""
    client = server.client()
    members = [f'"member:{number}":{number}' for number in range(200_000)]
    client.execute_command("JSON.SET", "many", "$", "{" + ",".join(members) + "}")
    started = time.monotonic()
    client.execute_command("JSON.MERGE", "many", "$", "{" + ",".join(reversed(members)) + ',"new":null}')
    assert time.monotonic() - started < 10
    assert client.execute_command("JSON.OBJLEN", "many", "$") == [200_000]
    nulls = ",".join(f'"member:{number}":null' for number in range(0, 200_000, 2))
    client.execute_command("JSON.MERGE", "many", "$", "{" + nulls + ',"new":1}')
    assert client.execute_command("JSON.OBJLEN", "many", "$") == [100_001]
    assert time.monotonic() - started < 20


def test_the_hashes_of_names_have_a_random_seed():
    """Abseil's seed is an address, so clients could choose names that collide if the server had a fixed address."""
    elf_type = pathlib.Path(default_command()[0]).read_bytes()[16:18]
    assert int.from_bytes(elf_type, "little") == 3, "ET_DYN, a position-independent executable"


def test_resp3_replies(server):
    """RedisJSON's types of RESP3: a number in an array is a number, and TYPE replies arrays."""
    client = server.client(protocol=3)
    client.response_callbacks.clear()
    client.execute_command("JSON.SET", "j", "$", '{"n":1,"b":true,"s":"x","a":[1.5,null]}')
    assert client.execute_command("JSON.NUMINCRBY", "j", "$.n", 2) == [3]
    assert client.execute_command("JSON.TYPE", "j", "$.n") == [[b"integer"]]
    assert client.execute_command("JSON.TOGGLE", "j", "$.b") == [0]
    assert client.execute_command("JSON.ARRLEN", "j", "$.*") == [None, None, None, 2]
    assert client.execute_command("JSON.GET", "none") is None


def test_acl_categories(r):
    """@json, as Redis 8 has it, beside @read and @write."""
    assert "json.set" in r.acl_cat("json") and "json.get" in r.acl_cat("json")
    assert "json.set" in r.acl_cat("write") and "json.get" in r.acl_cat("read")
    assert "json.get" not in r.acl_cat("write")
    r.acl_setuser("reader", enabled=True, nopass=True, keys="*", categories=["+@json", "-@write"])
    try:
        assert r.acl_dryrun("reader", "json.get", "j") in (b"OK", "OK")
        assert b"no permissions" in r.execute_command("ACL", "DRYRUN", "reader", "json.set", "j", "$", "1")
    finally:
        r.acl_deluser("reader")


def test_a_change_within_a_document_is_a_change_of_the_key(server, r):
    """WATCH, tracking and events see it; a command that changes nothing is no change."""
    r.execute_command("JSON.SET", "j", "$", '{"a":1}')
    with r.pipeline() as pipe:
        pipe.watch("j")
        r.execute_command("JSON.NUMINCRBY", "j", "$.a", 1)
        pipe.multi()
        pipe.set("done", 1)
        with pytest.raises(redis.WatchError):
            pipe.execute()
    r.config_set("notify-keyspace-events", "KEA")
    try:
        events = server.client().pubsub(ignore_subscribe_messages=True)
        events.subscribe("__keyspace@0__:j")
        events.get_message(timeout=1)
        r.execute_command("JSON.DEL", "j", "$.none")
        r.execute_command("JSON.SET", "j", "$.a", "5")
        message = events.get_message(timeout=5)
        while message is None:
            message = events.get_message(timeout=5)
        assert message["data"] == b"json.set"
        events.close()
    finally:
        r.config_set("notify-keyspace-events", "")


def test_a_large_document_is_read_and_changed_in_parts(r):
    """8 MB: a path reads and writes a part of it, and a wrong path is an error that leaves it as it was."""
    r.execute_command("JSON.SET", "j", "$", json.dumps({f"field {n}": "v" * 1000 for n in range(8000)}))
    assert json.loads(r.execute_command("JSON.GET", "j", '$["field 7999"]')) == ["v" * 1000]
    r.execute_command("JSON.SET", "j", '$["field 5"]', '"short"')
    assert json.loads(r.execute_command("JSON.GET", "j", '$["field 5"]')) == ["short"]
    assert r.execute_command("JSON.OBJLEN", "j", "$") == [8000]
    with pytest.raises(redis.ResponseError):
        r.execute_command("JSON.SET", "j", "$[", "1")
    assert r.execute_command("JSON.OBJLEN", "j", "$") == [8000]
    assert r.memory_usage("j") > 8_000_000
