# SPDX-License-Identifier: BSD-3-Clause
"""FUNCTION and FCALL: libraries are part of the data, and their functions are called by name."""

import subprocess

import pytest
import redis

from harness import Server, start_redis, tool_path

LIBRARY = """#!lua name=lib
local function add(a, b) return a + b end
redis.register_function('add', function(keys, args) return add(args[1], args[2]) end)
redis.register_function{function_name='read', callback=function(keys) return redis.call('get', keys[1]) end,
                        flags={'no-writes', 'allow-stale'}, description='reads a key'}
redis.register_function('write', function(keys, args) return redis.call('set', keys[1], args[1]) end)
"""

BAD_LIBRARIES = [
    "", "return 1", "#!lua name=x", "#!lua\nreturn 1", "#!lua name=a b\nreturn 1", "#!lua name=a name=b\nx()",
    "#!lua name=a-b\nreturn 1", "#!perl name=x\nreturn 1", "#!lua name=x\nreturn 1", "#!lua name=x\nthis is no lua",
    "#!lua name=x\nerror('boom')", "#!lua name=x\na = 1", "#!lua name=x\nreturn a", "#!lua name=x\nredis.call('ping')",
    "#!lua name=x\nredis.register_function('f')", "#!lua name=x\nredis.register_function()",
    "#!lua name=x\nredis.register_function('f', 1)", "#!lua name=x\nredis.register_function(nil, function() end)",
    "#!lua name=x\nredis.register_function('f', function() end, 3)",
    "#!lua name=x\nredis.register_function('a-b', function() end)",
    "#!lua name=x\nredis.register_function('f', function() end) redis.register_function('f', function() end)",
    "#!lua name=x\nredis.register_function{function_name='f'}",
    "#!lua name=x\nredis.register_function{callback=function() end}",
    "#!lua name=x\nredis.register_function{function_name='f', callback=function() end, flags='no-writes'}",
    "#!lua name=x\nredis.register_function{function_name='f', callback=function() end, flags={'nosuch'}}",
    "#!lua name=x\nredis.register_function{function_name='f', callback=function() end, more=1}",
    "#!lua name=x\nredis.register_function('ADD', function() end)",
]


@pytest.fixture(autouse=True)
def no_functions(server):
    server.client().function_flush()


@pytest.fixture
def empty_pair(pair):
    pair("function", "flush")
    return pair


def test_libraries_are_loaded_listed_called_and_deleted_as_in_redis(empty_pair):
    pair = empty_pair
    pair("function", "load", LIBRARY)
    pair("function", "load", LIBRARY)
    pair("function", "load", "replace", LIBRARY)
    pair("function", "load", "nosuch", LIBRARY)
    pair.lines("""
        fcall add 0 1 2
        fcall ADD 0 1 2
        fcall write 1 k v
        fcall read 1 k
        fcall_ro read 1 k
        fcall_ro write 1 k v
        fcall nosuch 0
        fcall add x
        fcall add 2 a
        fcall add -1
        fcall add
        function stats
        function list libraryname l?b* withcode withcode
        function list libraryname
        function list nosuch
        function list libraryname nosuch
        function delete nosuch
        function delete lib
        function delete
        fcall add 0 1 2
        function list
        function flush nosuch
        function flush async
        function flush sync more
        function nosuch
        function kill
        command getkeys fcall f 2 a b c
    """)


@pytest.mark.parametrize("code", BAD_LIBRARIES)
def test_a_bad_library_is_refused_as_in_redis(empty_pair, code):
    empty_pair("function", "load", LIBRARY)
    empty_pair("function", "load", code)
    empty_pair("function", "stats")


def test_functions_see_their_own_globals(empty_pair):
    code = """#!lua name=x
        redis.register_function('keys', function() return KEYS end)
        redis.register_function('later', function() redis.register_function('y', function() end) end)
        redis.register_function('set', function() a = 1 end)
        redis.register_function('math', function() return math.floor(2.5) end)
        redis.register_function('meta', function() getmetatable(_G).__index['redis'] = 1 end)
        redis.register_function('debug', function() return type(redis.debug) end)
    """
    empty_pair("function", "load", code)
    for name in ("keys", "later", "set", "math", "meta", "debug"):
        empty_pair("fcall", name, "0")


def test_a_dump_can_be_restored_in_redis_and_back(server, redis_server):
    cairn, real = server.client(), redis_server.client()
    real.function_flush()
    for giver, taker in ((cairn, real), (real, cairn)):
        giver.function_flush()
        giver.function_load(LIBRARY)
        payload = giver.function_dump()
        taker.function_flush()
        assert taker.function_restore(payload)
        assert taker.fcall("add", 0, 2, 3) == 5
        assert taker.function_dump() == payload
        for policy in ("APPEND", "REPLACE", "FLUSH"):
            if policy == "APPEND":
                with pytest.raises(redis.exceptions.ResponseError, match="Library lib already exists"):
                    taker.function_restore(payload, policy)
            else:
                assert taker.function_restore(payload, policy)
    with pytest.raises(redis.exceptions.ResponseError, match="payload version or checksum"):
        cairn.function_restore(b"garbage")


@pytest.mark.slow
def test_functions_survive_a_restart_a_crash_and_flushall():
    with Server(appendfsync="always") as server:
        client = server.client()
        client.function_load(LIBRARY)
        client.function_load("#!lua name=gone\nredis.register_function('gone', function() return 1 end)")
        client.function_delete("gone")
        client.flushall()
        for end in (server.kill9, server.shutdown):
            end()
            server.start()
            client = server.client()
            assert client.fcall("add", 0, 20, 22) == 42
            assert client.info("memory")["number_of_libraries"] == 1
            assert client.info("memory")["number_of_functions"] == 3
            with pytest.raises(redis.exceptions.ResponseError, match="Function not found"):
                client.fcall("gone", 0)


def test_a_transaction_sees_its_own_libraries_before_other_clients(server, r):
    with r.pipeline() as pipe:
        pipe.function_load(LIBRARY)
        pipe.fcall("add", 0, 1, 2)
        pipe.execute_command("function", "delete", "lib")
        assert pipe.execute() == [b"lib", 3, b"OK"]
    assert r.function_list() == []


def test_loading_has_a_time_limit(r):
    with pytest.raises(redis.exceptions.ResponseError, match="FUNCTION LOAD timeout"):
        r.function_load("#!lua name=x\nwhile true do end")
    assert r.ping()


def test_functions_are_in_rdb_files(tmp_path):
    with Server() as cairn:
        cairn.client().function_load(LIBRARY)
        cairn.client().save()
        with start_redis(dir=cairn.data_dir) as real:
            assert real.client().fcall("add", 0, 2, 3) == 5
            real.client().function_load("#!lua name=more\nredis.register_function('more', function() return 7 end)")
            real.client().save()
        cairn.shutdown()
        subprocess.run([tool_path("cairn-export"), "--dir", cairn.data_dir, tmp_path / "exported.rdb"],
                       check=True, capture_output=True, timeout=120)
        subprocess.run([tool_path("cairn-import"), "--dir", tmp_path / "data", cairn.data_dir / "dump.rdb"],
                       check=True, capture_output=True, timeout=120)
    with Server(data_dir=tmp_path / "data") as cairn:
        assert cairn.client().fcall("more", 0) == 7
        assert cairn.client().fcall("add", 0, 2, 3) == 5
    with start_redis(dir=tmp_path, dbfilename="exported.rdb") as real:
        assert real.client().fcall("add", 0, 2, 3) == 5
