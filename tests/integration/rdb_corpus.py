# SPDX-License-Identifier: BSD-3-Clause
"""Whole RDB files of redis-server: every type in every encoding, expiries, functions, several databases, compressed or
not, with a checksum or without. And files of Valkey 9, whose hashes have fields that expire."""

import shutil

import harness
import test_dump
import test_dump_stream

FUNCTIONS = """#!lua name={name}
redis.register_function('{name}_get', function(keys) return redis.call('GET', keys[1]) end)
redis.register_function{{function_name='{name}_two', callback=function() return 2 end, flags={{'no-writes'}}}}"""
# Files of a few kilobytes each, so that damage in one place affects a relevant part of the keys.
GROUPS = ("string", "list", "set", "hash", "zset", "stream:1", "small")


def belongs(key, group):
    """Whether a key of test_dump.build_corpus belongs to the file of a group."""
    name = key.decode()
    if group == "small":
        return name.endswith((":1", ":3"))
    return name.startswith(group) and not name.startswith("stream:1000")


def fill_everything(client):
    """Several databases with functions, expiries, idle times and consumer groups."""
    client.config_set("maxmemory-policy", "allkeys-lru")  # so the file contains idle times
    for name in ("one", "other"):
        client.function_load(FUNCTIONS.format(name=name), replace=True)
    for db in (0, 3, 15):
        client.execute_command("SELECT", db)
        test_dump_stream.fill(client)
        client.rpush("list", *range(200))
        client.sadd("set", "a", "b")
        client.hset("hash", mapping={"f": 1, "g": "x" * 100})
        client.zadd("zset", {"m": 1, "n": 2.5})
        for number in range(10):
            client.set(f"expiring:{number}", "ab" * 60, pxat=4102444800000 + number)
    client.execute_command("SELECT", 0)


def write_valkey_files(target):
    """Adds files of Valkey to the directory."""
    with harness.start_valkey(dbfilename="good.rdb") as server:
        client = server.client()
        fill_everything(client)
        client.save()
        shutil.copy(server.data_dir / "good.rdb", target / "valkey-all.rdb")
        client.flushall()
        for size in (1, 10, 200):
            client.hset(f"hash:{size}", mapping={f"f{i}": "v" * i for i in range(size)})
            for i in range(0, size, 2):
                client.execute_command("HPEXPIREAT", f"hash:{size}", 4102444800000 + i, "FIELDS", 1, f"f{i}")
        client.save()
        shutil.copy(server.data_dir / "good.rdb", target / "valkey-hashes.rdb")


def write_files(target):
    """Fills the directory `target` with the files of redis-server."""
    server = harness.start_redis(dbfilename="good.rdb")
    number = 0

    def save():
        nonlocal number
        client.config_set("rdbcompression", "no" if number % 2 else "yes")
        client.save()
        shutil.copy(server.data_dir / "good.rdb", target / f"{number:03}.rdb")
        number += 1

    try:
        client = server.client()
        for settings in test_dump.SETTINGS:
            test_dump.configure(client, **settings)
            for group in GROUPS:
                client.flushall()
                for key in test_dump.build_corpus(client):
                    if not belongs(key, group):
                        client.delete(key)
                save()
                save()
            client.flushall()
            fill_everything(client)
            save()
            save()
            client.config_set("maxmemory-policy", "noeviction")
    finally:
        server.close()
