# SPDX-License-Identifier: BSD-3-Clause
"""Databases with a storage mode and a durability of their own, in one server: the directive `database`."""

import os
import shutil
import signal
import subprocess

import pytest
import redis
from harness import Server, tool_path
from pairs import follow, start, wait_for_offset
from raw_client import RawClient
from waiting import wait_until, wait_until_refused

# Database 0 is on an SSD, 1 in memory, 2 on a hard disk.
MODES = ["1 storage-mode memory", "2 storage-mode hdd"]


def fill(client, elements=3000):
    """Values of all types, in one row and spread."""
    pipe = client.pipeline(transaction=False)
    pipe.set("string", "value", exat=4_000_000_000)
    pipe.set("number", 17)
    pipe.set("long", b"x" * 300000)
    pipe.set("edited", b"y" * 30000)
    pipe.setrange("edited", 20000, "changed")
    for name, count in (("", elements), (":small", 5)):
        pipe.hset("hash" + name, mapping={f"field{i}": f"value{i}" for i in range(count)})
        pipe.sadd("set" + name, *[f"member{i}" for i in range(count)])
        pipe.zadd("zset" + name, {f"member{i}": i / 2 for i in range(count)})
        pipe.rpush("list" + name, *[f"element{i}" for i in range(count)])
        for i in range(count):
            pipe.xadd("stream" + name, {"field": i}, id=f"{i + 1}-1")
    pipe.execute_command("HEXPIREAT", "hash", 4_000_000_000, "FIELDS", 2, "field1", "field2")
    pipe.execute()


def everything(client):
    """The type, the deadline and a digest of each key."""
    return {key: (client.type(key), client.expiretime(key), client.execute_command("DEBUG", "DIGEST-VALUE", key))
            for key in client.scan_iter(count=1000)}


@pytest.fixture(scope="module")
def mixed_server():
    """A server with one database of each mode."""
    with Server(database=MODES) as server:
        yield server


@pytest.fixture
def mixed(mixed_server):
    """Clients of its databases 0, 1 and 2, which are empty."""
    clients = [mixed_server.client(db=db) for db in range(3)]
    clients[0].flushall()
    return clients


def test_every_type_works_the_same_in_every_mode(mixed):
    """Also after changes and deletions."""
    for client in mixed:
        fill(client)
        client.zremrangebyrank("zset", 100, 199)
        client.hdel("hash", *[f"field{i}" for i in range(500, 900)])
        client.ltrim("list", 10, -10)
        client.delete("set:small")
        client.rename("set", "renamed")
    expected = everything(mixed[0])
    assert len(expected) == 13
    for client in mixed[1:]:
        assert everything(client) == expected
        assert client.zrank("zset", "member1000") == mixed[0].zrank("zset", "member1000")
        assert client.lrange("list", 1000, 1010) == mixed[0].lrange("list", 1000, 1010)
        assert client.xrange("stream", "50-1", "60-1") == mixed[0].xrange("stream", "50-1", "60-1")


def test_info_shows_the_options(mixed):
    """The mode of a database that is not on an SSD, empty or not."""
    mixed[1].set("a", 1)
    keyspace = mixed[0].info("keyspace")
    assert keyspace["db1"]["storage_mode"] == "memory"
    assert keyspace["db1"]["keys"] == 1
    assert keyspace["db2"]["storage_mode"] == "hdd"
    assert "db0" not in keyspace


def test_nothing_of_a_database_in_memory_is_written_to_the_disk(mixed):
    """Neither to the log nor to a table."""
    before = mixed[0].info("rocksdb")
    fill(mixed[1])
    mixed[1].delete("hash", "zset")
    mixed[1].expire("list", 1000)
    after = mixed[0].info("rocksdb")
    # Ids of collections are reserved on disk, a million at a time.
    assert after["wal_bytes"] - before["wal_bytes"] < 100
    assert after["flush_write_bytes"] == before["flush_write_bytes"]


def test_values_move_between_modes(mixed):
    """MOVE and COPY, and back."""
    fill(mixed[0])
    expected = everything(mixed[0])
    at = 0
    for target in (1, 2, 0, 2, 1, 0):
        for key in expected:
            assert mixed[at].move(key, target)
        assert mixed[at].dbsize() == 0
        assert everything(mixed[target]) == expected
        at = target
    for target in (1, 2):
        for key in expected:
            assert mixed[0].copy(key, key, destination_db=target)
        assert everything(mixed[target]) == expected
    mixed[1].flushdb()
    assert everything(mixed[2]) == everything(mixed[0]) == expected


def test_keys_and_fields_expire_in_every_mode(mixed):
    """By themselves."""
    for client in mixed:
        fill(client, 100)
        client.set("short", "x", px=100)
        client.pexpire("list", 150)
        client.execute_command("HPEXPIRE", "hash", 120, "FIELDS", 1, "field7")
    for client in mixed:
        wait_until(lambda client=client: client.dbsize() == 13, "the deletion of expired keys")
        wait_until(lambda client=client: client.hlen("hash") == 99, "the deletion of an expired field")


def test_swapdb_exchanges_the_modes_until_a_flush(mixed):
    """The rows stay where they are; an emptied database takes its own mode."""
    mixed[0].set("a", 0)
    mixed[1].set("a", 1)
    mixed[0].swapdb(0, 1)
    assert (mixed[0].get("a"), mixed[1].get("a")) == (b"1", b"0")
    keyspace = mixed[0].info("keyspace")
    assert keyspace["db0"]["storage_mode"] == "memory"
    assert "storage_mode" not in keyspace["db1"]
    mixed[0].flushall()
    keyspace = mixed[0].info("keyspace")
    assert "db0" not in keyspace
    assert keyspace["db1"]["storage_mode"] == "memory"


def test_transactions_and_scripts_span_modes(mixed):
    """One EXEC and one script write databases of all modes."""
    pipe = mixed[0].pipeline()
    for db in range(3):
        pipe.execute_command("SELECT", db)
        pipe.set("a", db)
    pipe.execute_command("SELECT", 0)
    pipe.execute()
    assert [client.get("a") for client in mixed] == [b"0", b"1", b"2"]
    script = "for db = 0, 2 do redis.call('select', db) redis.call('hset', 'h', 'f', db) end"
    mixed[0].eval(script, 0)
    assert [client.hget("h", "f") for client in mixed] == [b"0", b"1", b"2"]


@pytest.mark.parametrize("how", ["shutdown", "kill9"])
def test_a_restart_keeps_what_is_on_disk_and_empties_memory(how):
    """Also after kill -9."""
    with Server(database=MODES) as server:
        clients = [server.client(db=db) for db in range(3)]
        for client in clients:
            fill(client)
        expected = everything(clients[0])
        server.restart(how)
        assert everything(clients[0]) == everything(clients[2]) == expected
        assert clients[1].dbsize() == 0
        assert list(clients[1].scan_iter()) == []
        fill(clients[1])
        assert everything(clients[1]) == expected


def last_save(client):
    """The Unix time of the last save of the databases in memory, 0 if there was none."""
    return client.info("persistence")["memory_databases_last_save_time"]


def test_databases_in_memory_are_kept_if_asked_for():
    """By a save at the end of the server, with deadlines and all types; the databases on disk are not in the file."""
    with Server(database=MODES, memory_databases_save=3600) as server:
        for db in (0, 1):
            fill(server.client(db=db))
        server.client(db=1).set("gone", 1, px=1)
        expected = everything(server.client(db=1))
        expected.pop(b"gone", None)
        for how in ("shutdown", "terminate"):
            server.restart(how)
            assert everything(server.client(db=1)) == expected
            server.client(db=0).delete("string")
        server.restart()
        assert server.client(db=0).exists("string") == 0
        server.client(db=1).set("unsaved", 1)
        server.shutdown("nosave")
        server.start()
        assert everything(server.client(db=1)) == expected
        server.client(db=1).flushdb()
        server.restart()
        assert server.client(db=1).dbsize() == 0


@pytest.fixture(name="unsaved")
def fixture_unsaved():
    """A server with a key in memory whose file cannot be written, because a directory has its name."""
    with Server(database=MODES, memory_databases_save=3600) as server:
        (server.data_dir / "memory-databases.rdb" / "full").mkdir(parents=True)
        server.client(db=1).set("k", 1)
        yield server


@pytest.mark.parametrize("how", ["SHUTDOWN", "SHUTDOWN NOW", "SHUTDOWN SAVE", signal.SIGTERM, signal.SIGINT], ids=str)
def test_an_end_that_would_lose_databases_in_memory_is_refused(unsaved, how):
    """The server continues and accepts writes; when the file can be written, it ends and has kept them."""
    client = unsaved.client(db=1)
    if isinstance(how, str):
        with pytest.raises(redis.ResponseError, match=r"^Errors trying to SHUTDOWN\. Check logs\.$"):
            client.execute_command(*how.split())
    else:
        unsaved.process.send_signal(how)
        wait_until(lambda: "can't exit" in unsaved.log_tail(), "the refusal", unsaved)
    assert client.incr("k") == 2
    (unsaved.data_dir / "memory-databases.rdb" / "full").rmdir()
    (unsaved.data_dir / "memory-databases.rdb").rmdir()
    unsaved.restart()
    assert client.get("k") == b"2"


@pytest.mark.parametrize("word", ["NOSAVE", "FORCE"])
def test_databases_in_memory_are_lost_if_asked_for(unsaved, word):
    assert unsaved.shutdown(word) == 0


def test_the_last_save_of_memory_may_use_the_room_that_is_kept_free():
    """A refusal would keep the server from ending for the lack of space that is there."""
    with Server(database=MODES, memory_databases_save=3600) as server:
        for number, how in enumerate(["shutdown", "terminate"], 1):
            client = server.client(db=1)
            client.incr("k")
            client.config_set("min-free-disk", "1000000gb")
            wait_until(lambda: client.info("cairn")["disk_level"] != "plenty", "a low disk", server)
            server.restart(how)
            assert int(server.client(db=1).get("k")) == number


def test_a_second_interrupt_ends_the_save_of_memory():
    """The save takes too long for the operator."""
    with Server(database=MODES, memory_databases_save=3600, rdb_key_save_delay=50000) as server:
        server.client(db=1).mset({f"k{number}": number for number in range(2000)})
        server.process.send_signal(signal.SIGTERM)
        wait_until(lambda: list(server.data_dir.glob("memory-databases.rdb.*.tmp")), "the save", server)
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(5) == 1


@pytest.mark.slow
def test_a_signal_ends_an_endless_script_that_writes_to_memory():
    """Its writes are dropped, and those of others are saved."""
    with Server(database=MODES, memory_databases_save=3600, busy_reply_threshold=10) as server, \
            RawClient(server.port) as script:
        client = server.client(db=1)
        client.set("other", 1)
        script("select", "1")
        script.send("eval", "redis.call('set', KEYS[1], 1) while true do end", "1", "k")
        assert "BUSY" in wait_until_refused(client.dbsize)
        assert server.terminate() == 0
        server.start()
        assert sorted(server.client(db=1).keys()) == [b"other"]


def test_the_first_save_of_memory_waits_for_its_interval():
    """However long the machine has been up."""
    with Server(database=MODES) as server:
        client = server.client(db=1)
        client.set("a", 1)
        client.config_set("memory-databases-save", 30)
        client.blpop("nothing", 0.5)  # several looks of the background thread
        assert last_save(client) == 0


@pytest.mark.slow
def test_databases_in_memory_are_saved_in_the_background():
    """A kill loses what changed after the last save, and nothing older; without changes nothing is saved."""
    with Server(database=MODES, memory_databases_save=1) as server:
        client = server.client(db=1)
        client.set("a", 1)
        wait_until(lambda: last_save(client) > 0, "the save")
        first = (server.data_dir / "memory-databases.rdb").stat().st_mtime_ns
        client.blpop("nothing", 2.5)  # two intervals
        assert (server.data_dir / "memory-databases.rdb").stat().st_mtime_ns == first
        client.config_set("memory-databases-save", 3600)
        client.set("b", 1)
        server.restart("kill9")
        assert server.client(db=1).keys() == [b"a"]


def test_a_damaged_save_of_memory_is_not_taken_for_an_empty_one():
    """The start fails, names the file and keeps it. Keys of a database that is on disk now are skipped."""
    with Server(database=MODES, memory_databases_save=3600) as server:
        server.client(db=1).mset({f"key:{i}": i for i in range(5000)})  # loaded by several commits
        server.shutdown()
        path = server.data_dir / "memory-databases.rdb"
        whole = path.read_bytes()
        path.write_bytes(whole[:-20])
        with pytest.raises(RuntimeError, match="memory-databases.rdb.*move the file away"):
            server.start()
        assert path.read_bytes() == whole[:-20]
        path.write_bytes(whole)
        server.directives["database"] = ["3 storage-mode memory"]
        server.start()
        assert server.client(db=1).dbsize() == 0
        assert "keys of other databases skipped: 5000" in server.log_path.read_text()


def test_a_mode_changes_while_the_database_is_empty():
    """CONFIG SET adds to what is configured; CONFIG REWRITE is covered by test_config.py."""
    with Server() as server:
        client, third = server.client(), server.client(db=3)
        third.set("a", 1)
        with pytest.raises(redis.ResponseError, match="database 3 has keys; its storage-mode can change while it is "
                                                      "empty"):
            client.config_set("database", "3 storage-mode memory")
        assert client.config_get("database")["database"] == ""
        third.delete("a")
        client.config_set("database", "3 storage-mode memory")
        client.config_set("database", "4 storage-mode hdd durability none")
        assert client.config_get("database")["database"] == "3 storage-mode memory\n4 storage-mode hdd durability none"
        fill(third)
        fill(server.client(db=4))
        keyspace = client.info("keyspace")
        assert keyspace["db3"]["storage_mode"] == "memory"
        assert keyspace["db4"]["storage_mode"] == "hdd"
        assert keyspace["db4"]["durability"] == "none"
        client.config_set("database", "4 durability always")
        assert client.info("keyspace")["db4"]["durability"] == "always"
        with pytest.raises(redis.ResponseError, match="database 16 is beyond"):
            client.config_set("database", "16 storage-mode hdd")


def syncs(client):
    """The syncs of the log so far."""
    return client.info("rocksdb")["wal_syncs"]


def test_durability_is_that_of_the_database():
    """A write to database 1 is synced before its reply; those to others are not."""
    with Server(appendfsync="no", database=["1 durability always"]) as server:
        client, synced = server.client(), server.client(db=1)
        before = syncs(client)
        for i in range(20):
            client.set("a", i)
        assert syncs(client) == before
        for i in range(20):
            synced.set("a", i)
        assert syncs(client) >= before + 20


def test_a_database_may_opt_out_of_always():
    """With `appendfsync always`, writes to database 1 do not wait."""
    with Server(appendfsync="always", database=["1 durability none"]) as server:
        client, unsynced = server.client(), server.client(db=1)
        client.set("a", 1)
        before = syncs(client)
        for i in range(20):
            unsynced.set("a", i)
        assert syncs(client) == before
        client.set("a", 2)
        assert syncs(client) == before + 1


def used(client):
    """Bytes of tables of databases in memory."""
    return client.info("cairn")["used_database_bytes"]


def is_accepted(client):
    """Whether a write is; it writes an existing key."""
    try:
        return client.set("key:0", "again")
    except redis.exceptions.OutOfMemoryError:
        return False


def test_a_full_memory_refuses_writes_and_serves_the_rest():
    """With noeviction; deletions make room."""
    with Server(memory_budget="128mb", memory_databases_limit="8mb", database=MODES) as server:
        client, disk = server.client(db=1), server.client()
        value = os.urandom(1000)
        written = 0
        with pytest.raises(redis.exceptions.OutOfMemoryError):
            for written in range(1000000):
                client.set(f"key:{written}", value if written == 17 else os.urandom(1000))
        assert written > 2000
        disk.set("a", 1)
        assert client.get("key:17") == value
        client.delete(*[f"key:{i}" for i in range(1, written - 100)])
        wait_until(lambda: is_accepted(client), "room for writes")
        assert client.dbsize() == 101


def test_a_full_memory_refuses_what_other_databases_send():
    """The limit is that of the database to which a command adds data: COPY, MOVE, MULTI, and scripts that call them."""
    with Server(memory_budget="128mb", database=MODES) as server:
        client, disk = server.client(db=1), server.client()
        for key in (f"key:{i}" for i in range(8)):
            client.set(key, os.urandom(500000))
        disk.set("a", 1)
        client.config_set("memory-databases-limit", "1mb")
        wait_until(lambda: not is_accepted(client), "OOM")
        transaction = disk.pipeline()
        transaction.execute_command("SELECT", 1)
        transaction.set("b", 1)
        for send in (lambda: disk.copy("a", "b", destination_db=1),
                     lambda: disk.move("a", 1),
                     transaction.execute,
                     lambda: disk.eval("return redis.call('copy', KEYS[1], KEYS[2], 'DB', 1)", 2, "a", "b"),
                     lambda: disk.eval("return redis.call('move', KEYS[1], 1)", 1, "a")):
            with pytest.raises(redis.ResponseError, match="command not allowed when used memory"):
                send()
        assert client.dbsize() == 8
        assert disk.copy("a", "b")
        assert client.copy("key:0", "c", destination_db=0)


def test_a_flush_frees_the_memory():
    """Without further writes."""
    with Server(memory_budget="128mb", database=MODES) as server:
        client = server.client(db=1)
        for i in range(100):
            client.mset({f"key:{i}:{j}": os.urandom(1000) for j in range(200)})
        wait_until(lambda: used(client) > 10 << 20, "flushes of memtables")
        client.flushdb()
        wait_until(lambda: used(client) < 1 << 20, "the compaction")


def test_keys_are_evicted_by_the_policy():
    """allkeys-lru: writes go on, old keys go, and subscribers hear of it."""
    with Server(memory_budget="128mb", memory_databases_limit="8mb", maxmemory_policy="allkeys-lru",
                notify_keyspace_events="Ee", database=MODES) as server:
        client = server.client(db=1)
        events = server.client(db=1).pubsub()
        events.subscribe("__keyevent@1__:evicted")
        count = 40000
        pipe = client.pipeline(transaction=False)
        for i in range(count):
            pipe.set(f"key:{i}", os.urandom(600))
            if i % 100 == 99:
                pipe.execute()
                wait_until(lambda: used(client) < 9 << 20, "the eviction")
        # Keys are counted as evicted just after they have gone.
        wait_until(lambda: client.dbsize() == count - client.info("stats")["evicted_keys"], "the count")
        assert client.info("stats")["evicted_keys"] > 0
        newest = sum(client.exists(f"key:{i}") for i in range(count - 500, count))
        oldest = sum(client.exists(f"key:{i}") for i in range(500))
        assert newest > oldest
        heard = [events.get_message(timeout=60) for _ in range(2)]
        assert heard[1]["data"].startswith(b"key:")


@pytest.mark.slow
def test_a_replica_has_the_databases_in_memory_too():
    """After its own restart and after that of its primary."""
    with (start("cairn", database=MODES) as primary, start("cairn", database=MODES) as replica):
        fill(primary.client(db=1))
        fill(primary.client(db=2))
        follow(replica, primary)
        for db in (1, 2):
            primary.client(db=db).incr("number")
        wait_for_offset(primary, replica)
        expected = everything(primary.client(db=1))
        for db in (1, 2):
            assert everything(replica.client(db=db)) == expected
        replica.restart()
        follow(replica, primary)
        wait_until(lambda: replica.client(db=1).dbsize() == len(expected), "the transfer", replica)
        assert everything(replica.client(db=1)) == everything(replica.client(db=2)) == expected
        primary.restart()
        wait_until(lambda: replica.client(db=1).dbsize() == 0, "the transfer of what is left", replica)
        assert everything(replica.client(db=2)) == expected


@pytest.mark.slow
def test_rows_of_a_hard_disk_are_checked_and_compacted():
    """By COMPACT and cairn-check."""
    with Server(database=MODES) as server:
        clients = [server.client(db=db) for db in range(3)]
        for client in clients:
            fill(client)
        clients[2].flushdb()
        fill(clients[2])
        for client in clients:
            client.execute_command("COMPACT")
        expected = everything(clients[0])
        assert everything(clients[1]) == everything(clients[2]) == expected
        server.shutdown()
        checked = subprocess.run([str(tool_path("cairn-check")), str(server.data_dir)], capture_output=True, text=True,
                                 check=False)
        assert checked.returncode == 0, checked.stdout + checked.stderr
        salvaged = server.data_dir.with_name(server.data_dir.name + "-salvaged")
        subprocess.run([str(tool_path("cairn-check")), f"--salvage={salvaged}", str(server.data_dir)], check=True,
                       capture_output=True)
        try:
            with Server(data_dir=salvaged, database=MODES) as other:
                assert everything(other.client(db=2)) == expected
        finally:
            shutil.rmtree(salvaged)
