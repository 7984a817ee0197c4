# SPDX-License-Identifier: BSD-3-Clause
"""Valkey 9 on the other side: as primary, as replica, and as the writer of RDB files and DUMP payloads. Its hashes with
expiring fields have an encoding of their own."""

import random
import shutil
import subprocess

import pytest
import redis
from fake_peers import FakePrimary, give_everything
from field_times import HASHES, LATE_MS, assert_same_times, change_timed, fill_timed, times_of
from harness import Server, tool_path
from load import assert_equal, fill
from pairs import Load, assert_same, follow, start, wait_for_offset
from rdb_files import run_import
from waiting import wait_until

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("diskless", ["yes", "no"])
@pytest.mark.parametrize("kinds", [("valkey", "cairn"), ("cairn", "valkey")], ids="-".join)
def test_a_replica_is_equal(kinds, diskless):
    """A first transfer with all types and with fields that expire, then a load of changes."""
    primary_kind, replica_kind = kinds
    with start(primary_kind, repl_diskless_sync=diskless) as primary, start(replica_kind) as replica:
        fill(primary.client(), seed=3, keys=160, large=(3000,))
        fill_timed(primary.client())
        follow(replica, primary)
        assert_same(primary, replica)
        assert times_of(replica.client()) == times_of(primary.client())
        rng = random.Random(7)
        with Load(primary) as load:
            client = primary.client()
            for _ in range(1500):
                change_timed(client, rng)
            load.run(1500)
        assert_same(primary, replica)
        assert_same_times(primary, replica)


def test_a_replica_of_valkey_becomes_the_primary():
    """Cairn follows Valkey, is promoted with all fields and their times, and Valkey follows it."""
    with start("valkey") as valkey, start("cairn") as cairn:
        fill(valkey.client(), seed=4, keys=80)
        fill_timed(valkey.client())
        follow(cairn, valkey)
        wait_for_offset(valkey, cairn)
        cairn.client().execute_command("REPLICAOF", "NO", "ONE")
        cairn.client().hset("new", mapping={"a": 1, "b": 2})
        cairn.client().execute_command("HPEXPIREAT", "new", LATE_MS, "FIELDS", 1, "a")
        follow(valkey, cairn)
        assert_same(cairn, valkey)
        assert times_of(cairn.client()) == times_of(valkey.client())
        assert valkey.client().execute_command("HPEXPIRETIME", "new", "FIELDS", 2, "a", "b") == [LATE_MS, -1]


def test_fields_expire_on_a_replica_of_valkey():
    """Fields that expired before the first transfer, and those that expire after it, are gone on both."""
    with start("valkey") as valkey, start("cairn") as cairn:
        client = valkey.client()
        client.execute_command("DEBUG", "SET-ACTIVE-EXPIRE", 0)
        client.hset("h", mapping={"gone": 1, "soon": 2, "stays": 3})
        client.execute_command("HPEXPIRE", "h", 1, "FIELDS", 1, "gone")
        wait_until(lambda: client.hget("h", "gone") is None, "the end of the field")
        follow(cairn, valkey)
        assert cairn.client().hgetall("h") == {b"soon": b"2", b"stays": b"3"}
        client.execute_command("HPEXPIRE", "h", 100, "FIELDS", 1, "soon")
        client.execute_command("DEBUG", "SET-ACTIVE-EXPIRE", 1)
        wait_until(lambda: cairn.client().hlen("h") == 1, "the deletions by the primary")
        assert cairn.client().hgetall("h") == {b"stays": b"3"}


def test_times_later_than_redis_permits():
    """Valkey accepts any time. On its replica the field expires in the year 4199, and no command is lost."""
    last = 2**46 - 1
    with start("valkey") as valkey, start("cairn") as cairn:
        client = valkey.client()
        client.execute_command("HSETEX", "before", "PXAT", 2**63 - 1, "FIELDS", 1, "f", "v")
        follow(cairn, valkey)
        client.execute_command("HSETEX", "after", "PXAT", 2**50, "FIELDS", 1, "f", "v")
        client.hset("late", "f", "v")
        client.execute_command("HPEXPIREAT", "late", 2**60, "FIELDS", 1, "f")
        wait_for_offset(valkey, cairn)
        for name in ("before", "after", "late"):
            assert cairn.client().hget(name, "f") == b"v"
            assert cairn.client().execute_command("HPEXPIRETIME", name, "FIELDS", 1, "f") == [last]
        assert "CRITICAL" not in cairn.log_tail()
        cairn.client().execute_command("REPLICAOF", "NO", "ONE")
        with pytest.raises(redis.ResponseError, match="invalid expire time"):
            cairn.client().execute_command("HPEXPIREAT", "late", 2**60, "FIELDS", 1, "f")


def test_files_and_payloads_of_valkey(tmp_path):
    """SAVE of Valkey is imported, and read by a first start; RESTORE takes its DUMP."""
    with start("valkey") as valkey:
        fill(valkey.client(), seed=5, keys=160)
        fill_timed(valkey.client())
        valkey.client().save()
        file = valkey.data_dir / "dump.rdb"
        assert file.read_bytes().startswith(b"VALKEY080")
        done = run_import(file, tmp_path / "data")
        assert done.returncode == 0, done.stderr
        (tmp_path / "first").mkdir()
        shutil.copy(file, tmp_path / "first")
        for folder in ("data", "first"):
            with Server(data_dir=tmp_path / folder) as cairn:
                assert_equal(valkey.client(), cairn.client())
                assert times_of(cairn.client()) == times_of(valkey.client())
                if folder == "data":
                    continue
                for name in HASHES:
                    cairn.client().restore(name, 0, valkey.client().dump(name), replace=True)
                assert times_of(cairn.client()) == times_of(valkey.client())


def test_valkey_loads_an_export(tmp_path):
    """cairn-export --valkey writes a file with which Valkey starts; without it, hashes with times are reported."""
    with start("cairn") as cairn:
        fill(cairn.client(), seed=6, keys=160)
        fill_timed(cairn.client())
        (tmp_path / "valkey").mkdir()
        file = tmp_path / "valkey" / "dump.rdb"
        cairn.shutdown()
        for options in ([], ["--valkey"]):
            done = subprocess.run([tool_path("cairn-export"), "--dir", cairn.data_dir, *options, file], check=True,
                                  capture_output=True, text=True)
            assert ("3 hashes have fields that expire" in done.stderr) == (not options)
        with start("valkey", data_dir=tmp_path / "valkey") as valkey, Server(data_dir=cairn.data_dir) as again:
            assert_equal(again.client(), valkey.client())
            assert times_of(valkey.client()) == times_of(again.client())


def test_a_primary_that_refuses_the_version_is_followed():
    """Redis does not know REPLCONF version, and its refusal is no error."""
    with start("redis") as redis, start("cairn") as cairn:
        redis.client().set("k", "v")
        follow(cairn, redis)
        assert cairn.client().get("k") == b"v"
    with FakePrimary(lambda connection, _: give_everything(connection)) as primary, start("cairn") as cairn:
        follow(cairn, primary)
        assert [b"REPLCONF", b"version", b"9.1.0"] in primary.commands
