# SPDX-License-Identifier: BSD-3-Clause
"""EVAL, EVALSHA and SCRIPT: a script's environment, its replies and permissions, and its visible effects."""

import select
import shlex
import threading

import pytest
import redis

from harness import Server
from raw_client import RawClient
from waiting import wait_for_blocked, wait_until_refused

REPLIES = [
    "return 1", "return 3.99", "return -7.5", "return 'text'", "return true", "return false",
    "return nil", "return {1,2,{3,'four'},nil,5}", "return {}", "return {ok='fine'}",
    "return {err='ERR own error'}", "return {err='NOCODE'}", "return redis.error_reply('My Err')",
    "return redis.error_reply('ONEWORD')", "return redis.error_reply('-CODE text')",
    "return redis.status_reply('STATUS')", "return redis.status_reply(1)", "return {double=3.25}",
    "return {big_number='12345678901234567890'}", "return {map={a=1}}", "return {set={a=true}}",
    "return {verbatim_string={format='txt',string='words'}}", "return redis.sha1hex('abc')",
    "return {ok='a\\r\\nb'}", "return function() end", "return _G", "return redis.REPL_ALL",
    "redis.setresp(3); return true", "redis.setresp(3); return false",
    "redis.setresp(3); return redis.call('hgetall', 'h')",
    "redis.setresp(3); return redis.call('smembers', 'one')",
    "redis.setresp(3); return redis.call('zscore', 'z', 'a')",
    "redis.setresp(3); return redis.call('get', 'nokey')",
    "redis.setresp(3); return type(redis.call('get', 'nokey'))",
    "return type(redis.call('get', 'nokey'))", "return redis.call('hgetall', 'h')",
    "return redis.call('zrange', 'z', 0, -1, 'withscores')", "return redis.call('set', 'k', 1.5)",
    "return redis.call('set', 'k', 10^15)", "return redis.call('echo', 0.1)",
    "return redis.call('type', 'h')", "return redis.pcall('lpush', 'h', 'x')",
    "return redis.call('sort', 'members', 'by', 'nosort')", "return {redis.call('time')} ~= nil",
    "return math.random() < 1", "math.randomseed(7); return {tostring(math.random()), math.random(99)}",
    "return redis.replicate_commands()", "return redis.breakpoint()", "return redis.REDIS_VERSION ~= nil",
    "return cjson.encode({1,2,{a=1}})", "return cjson.decode('{\"a\":[1,2,{\"b\":null}]}')['a'][1]",
    "return struct.pack('>I2i4s', 258, -2, 'xy')",
    "return {struct.unpack('>I2i4s', '\\1\\2\\255\\255\\255\\254xy\\0')}",
    "return struct.size('!8ihl')",
    "return {struct.unpack('>bBHlfd', struct.pack('>bBHlfd', -1, 255, 65535, -9, 1.5, 2.25))}",
    "return struct.pack('c3c0', 'abcdef', 'all')", "return {struct.unpack('Bc0', '\\3abcd')}",
    "return cmsgpack.pack({1,2,{a=true}}, 'x', -1, 300, 2^40, 0.5)",
    "return {cmsgpack.unpack(cmsgpack.pack(1, 'two', {3,{4}}))}",
    "return {cmsgpack.unpack_one(cmsgpack.pack(1, 2))}", "return {cmsgpack.unpack_limit(cmsgpack.pack(1, 2, 3), 2)}",
    "return {bit.band(0xff, 0x0f), bit.bor(1, 8), bit.bxor(3, 1), bit.lshift(1, 4), bit.tohex(255, -4)}",
    "return #tostring({}) > 0",
    "local t = {} for k in pairs(redis) do if k:sub(1, 7) ~= 'SERVER_' then t[#t+1] = k end end table.sort(t) return t",
    "local t = {} for k in pairs(_G) do if k:sub(1, 2) ~= '__' and k ~= 'server' and k ~= 'os' then t[#t+1] = k end "
    "end table.sort(t) return t",
    "return ('abc'):upper()", "return select('#', pcall(error, 'x'))",
    "local ok, e = pcall(redis.call, 'incr', 'h') return {ok, e}",
    "local ok, e = pcall(error, {err='ERR mine'}) return {ok, e}",
    "local co = coroutine.wrap(function() coroutine.yield(redis.call('echo', 'in')) end) return co()",
]

ERRORS = [
    "error('boom')", "error({err='CODE boom'})", "error()", "return a", "a = 1", "return nil + 1",
    "redis.call()", "redis.call('nosuch')", "redis.call('get')", "redis.call('get', 'h')",
    "redis.call('get', {})", "redis.pcall('get', {})", "return redis.pcall('get', {})", "redis.sha1hex()",
    "redis.call('eval', 'return 1', 0)", "redis.call('multi')",
    "redis.call('subscribe', 'c')", "redis.call('script', 'flush')", "redis.call('config', 'nosuch')",
    "redis.setresp(4)", "redis.setresp()",
    "redis.set_repl(99)", "redis.set_repl()", "redis.log(1)", "redis.log('x', 'y')", "redis.log(9, 'y')",
    "redis.acl_check_cmd('nosuch')", "redis.error_reply()", "return redis.error_reply()", "redis.call = 1",
    "rawset(redis, 'call', 1)", "setmetatable(_G, {})", "_G.x = 1", "getmetatable('').__index = nil",
    "string.x = 1", "print('x')", "dofile('x')", "loadstring(string.dump(function() end))()",
    "unpack({}, 1, 1e8)", "local function f() return f() + 1 end f()", "return {unpack({1,2,3}, -2, 2147483647)}",
    "this is no lua", "#!lua flags=nosuch\nreturn 1", "#!lua nosuch\nreturn 1", "#!perl\nreturn 1", "#!lua",
    "#!lua flags=no-writes\nreturn redis.call('set', 'k', 1)", "redis.register_function('f', function() end)",
    "struct.pack('i99', 1)", "struct.unpack('i4', 'x')", "cmsgpack.unpack('\\147\\1')", "cjson.decode('{')",
    "cmsgpack.unpack_one('x', 9)", "cmsgpack.pack()", "math.random(0)", "xpcall()",
]


def ask(pair, text):
    """Sends every line of `text`, with words quoted as in a shell, and compares the replies."""
    for line in filter(None, map(str.strip, text.splitlines())):
        pair(*shlex.split(line))


def fill(pair):
    ask(pair, """
        hset h f v
        sadd one a
        sadd members c a b d
        zadd z 1.5 a 2 b
        xadd s 1-1 f v
    """)


@pytest.mark.parametrize("script", REPLIES)
def test_a_script_replies_as_in_redis(pair, script):
    fill(pair)
    pair("eval", script, "0")


@pytest.mark.parametrize("script", ERRORS)
def test_a_scripts_errors_equal_redis(pair, script):
    fill(pair)
    pair("eval", script, "0")
    pair("exists", "k")


def test_the_arguments_of_eval_are_checked_as_in_redis(pair):
    ask(pair, """
        eval
        eval x
        eval "return 1" x
        eval "return 1" -1
        eval "return 1" 2 a
        eval "return {KEYS,ARGV}" 2 a b c d
        evalsha x 0
        evalsha ffffffffffffffffffffffffffffffffffffffff 0
        evalsha x notanumber
        script load "return 'loaded'"
        script exists b534286061d4b9e4026607613b95c06c06015ae8 x B534286061D4B9E4026607613B95C06C06015AE8
        evalsha B534286061D4B9E4026607613B95C06C06015AE8 0
        evalsha_ro b534286061d4b9e4026607613b95c06c06015ae8 0
        script flush nosuch
        script flush sync
        evalsha b534286061d4b9e4026607613b95c06c06015ae8 0
        script load "this is no lua"
        script load
        script nosuch
        script exists
        script kill
        script debug no
        script debug what
        eval_ro "return redis.call('set','k',1)" 1 k
        eval_ro "return redis.call('get',KEYS[1])" 1 k
        eval_ro "return redis.call('publish','c','m')" 0
        command getkeys eval "return 1" 2 a b c
        command getkeys evalsha x 1 a
        command getkeys eval "return 1" 0
    """)


def test_errors_keep_earlier_writes(pair):
    ask(pair, """
        eval "redis.call('set','a',1) redis.call('lpush','a','x')" 1 a
        get a
        eval "redis.call('set','b',1) error('stop')" 1 b
        get b
        eval "redis.call('set','c',1) redis.pcall('lpush','c','x') redis.call('set','d',1)" 2 c d
        mget c d
        eval "redis.call('select',3) redis.call('set','there',1)" 0
        exists there
        select 3
        get there
    """)


def test_scripts_in_a_transaction(pair):
    ask(pair, """
        multi
        set k 1
        eval "return redis.call('incr',KEYS[1])" 1 k
        eval "return redis.call('nosuch')" 0
        eval "redis.call('set','other',ARGV[1]) return redis.call('get','other')" 0 v
        incr k
        exec
        mget k other
        multi
        eval "return redis.call('multi')" 0
        exec
    """)


def test_info_counts_scripts_and_the_commands_they_call(r):
    r.script_flush()
    r.config_resetstat()
    with pytest.raises(redis.exceptions.ResponseError, match="WRONGTYPE"):
        r.eval("redis.call('set', 'k', 1) redis.call('get', 'k') return redis.pcall('lpush', 'k', 1)", 0)
    stats = r.info("commandstats")
    assert stats["cmdstat_set"]["calls"] == 1
    assert stats["cmdstat_lpush"]["failed_calls"] == 1
    assert stats["cmdstat_eval"]["calls"] == stats["cmdstat_eval"]["failed_calls"] == 1
    assert r.info("errorstats")["errorstat_WRONGTYPE"]["count"] == 1
    memory = r.info("memory")
    assert memory["number_of_cached_scripts"] == 1
    assert memory["used_memory_lua"] > 10000
    r.script_flush()
    assert r.info("memory")["number_of_cached_scripts"] == 0


def test_acl_rules_apply_within_scripts_and_acl_log_shows_it(server, r):
    r.execute_command("acl", "setuser", "limited", "on", "nopass", "~a*", "+eval", "+get", "+acl|whoami")
    r.acl_log_reset()
    in_script = "ACL failure in script: "
    with redis.Redis(port=server.port, username="limited", password="x") as user:
        assert user.eval("return redis.call('get', KEYS[1])", 1, "ab") is None
        with pytest.raises(redis.exceptions.RedisError, match=in_script + "User limited has no permissions to run"):
            user.eval("return redis.call('set', KEYS[1], 1)", 1, "ab")
        with pytest.raises(redis.exceptions.RedisError, match=in_script + "No permissions to access a key"):
            user.eval("return redis.call('get', 'b')", 0)
        assert user.eval("return {redis.acl_check_cmd('get','a'), redis.acl_check_cmd('get','b')}", 0) == [1, None]
    contexts = [entry["context"] for entry in r.acl_log() if entry["object"] in ("set", "b")]
    assert contexts == ["lua", "lua"]
    r.acl_deluser("limited")


def test_monitor_shows_a_script_before_its_calls(server, r):
    with redis.Redis(port=server.port) as watcher, watcher.monitor() as monitor:
        r.eval("redis.call('set', KEYS[1], 'v')", 1, "k")
        lines = [line for line in (monitor.next_command() for _ in range(4)) if "CLIENT" not in line["command"]]
    assert lines[0]["command"].lower().startswith("eval")
    assert lines[1]["command"] == "set k v" and lines[1]["client_type"] == "lua"


def test_messages_of_a_failed_script_are_still_delivered(server, r):
    with r.pubsub() as pubsub:
        pubsub.subscribe("c")
        assert pubsub.get_message(timeout=60)["type"] == "subscribe"
        with pytest.raises(redis.exceptions.ResponseError):
            r.eval("redis.call('publish', 'c', 'm') error('later')", 0)
        assert pubsub.get_message(timeout=60)["data"] == b"m"


def test_a_script_unblocks_a_client(server, r):
    found = []
    with redis.Redis(port=server.port) as waiter:
        thread = threading.Thread(target=lambda: found.append(waiter.blpop("list", 10)))
        thread.start()
        wait_for_blocked(server)
        r.eval("redis.call('rpush', 'list', 'x', 'y')", 0)
        thread.join()
    assert found == [(b"list", b"x")]
    assert r.lrange("list", 0, -1) == [b"y"]


def test_a_script_breaks_a_watch(server, r):
    r.set("k", 1)
    with redis.Redis(port=server.port) as other:
        with r.pipeline() as pipe:
            pipe.watch("k")
            other.eval("redis.call('set', KEYS[1], 2)", 1, "k")
            pipe.multi()
            pipe.set("k", 3)
            with pytest.raises(redis.WatchError):
                pipe.execute()
    assert r.get("k") == b"2"


def test_a_long_script_gives_the_same_reply(r):
    """Many rows or many steps exceed the fast lane's budget: the script starts over, and no write happens twice."""
    r.rpush("log", "x")
    steps = "redis.call('rpush', 'log', 'y') local n = 0 for i = 1, 3000000 do n = n + 1 end return n"
    assert r.eval(steps, 1, "log") == 3000000
    rows = """
        redis.call('incr', 'runs')
        for i = 1, 5000 do redis.call('set', 'k' .. i, i) end
        return redis.call('dbsize')
    """
    assert r.eval(rows, 0) == 5002
    assert r.get("runs") == b"1" and r.llen("log") == 2


def test_pcall_does_not_catch_the_end_of_a_run_that_must_start_over(r):
    script = """
        local n = 0
        local ok = pcall(function() for i = 1, 5000 do redis.call('get', 'k' .. i) n = n + 1 end end)
        local co = coroutine.create(function() for i = 1, 3000000 do n = n + 1 end end)
        return {tostring(ok), tostring(coroutine.resume(co)), n}
    """
    assert r.eval(script, 0) == [b"true", b"true", 3005000]


@pytest.mark.parametrize("script", [
    "redis.call('blpop', 'none', 0)", "redis.pcall('brpop', 'none', 0)", "redis.call('blmpop', 0, 1, 'none', 'left')",
    "redis.call('blmove', 'none', 'b', 'left', 'left', 0)", "redis.call('brpoplpush', 'none', 'b', 0)",
    "redis.call('bzpopmin', 'none', 0)", "redis.call('bzpopmax', 'none', 0)",
    "redis.call('bzmpop', 0, 1, 'none', 'min')",
    "redis.call('xread', 'block', 0, 'streams', 'none', '$')", "redis.call('wait', 3, 0)", "redis.call('wait', 0, 0)",
    "redis.call('blpop', 'l', 0)", "redis.call('blmove', 'l', 'm', 'left', 'right', 0)",
    "redis.call('bzpopmin', 'z', 0)",
    "redis.pcall('xreadgroup', 'group', 'g', 'c', 'block', 0, 'streams', 'none', '>')",
])
def test_blocking_commands_run_in_a_script_without_blocking(newer_pair, script):
    newer_pair("rpush", "l", "a", "b")
    newer_pair("zadd", "z", 1, "a")
    newer_pair("eval", f"local r = {script} return {{type(r), r}}", 0)


def test_time_stands_still_in_a_script(newer_pair):
    waits = "local a = redis.call('time') for i = 1, 300000 do end local b = redis.call('time') "
    newer_pair("eval", waits + "return {a[1] == b[1], a[2] == b[2], #a}", 0)
    newer_pair("eval", "local times = {} for i = 1, 2000 do times[redis.call('time')[2]] = true end "
                       "local n = 0 for _ in pairs(times) do n = n + 1 end return n", 0)


@pytest.mark.parametrize("raised", ["{}", "{err = {}}", "{ok = 'x'}", "{err = 'CODE x'}", "nil", "1", "{err = 1}"])
def test_an_error_always_has_a_code(newer_pair, raised):
    """Valkey omits the script's name; otherwise both are the same."""
    mine, theirs = (client("eval", f"error({raised})", 0) for client in (newer_pair.ours, newer_pair.theirs))
    assert mine[0] == theirs[0] == b"-"
    assert mine[1].split(b" script: ")[0] == theirs[1].split(b" script: ")[0]
    newer_pair("eval", f"local ok, e = pcall(error, {raised}) return {{type(ok), type(e)}}", 0)


def busy_replies(server, kill):
    """Runs an endless script; returns the replies to other clients meanwhile, and the script's own error."""
    told = {}
    with redis.Redis(port=server.port) as runner, redis.Redis(port=server.port) as other:
        def run():
            try:
                runner.eval("while true do pcall(function() while true do end end) end", 0)
            except redis.exceptions.ResponseError as error:
                told["runner"] = str(error)
        thread = threading.Thread(target=run)
        thread.start()
        told["other"] = wait_until_refused(lambda: other.get("k"), "BUSY")
        kill(other, told)
        thread.join(60)
    return told


def test_a_script_that_takes_too_long_makes_the_server_busy_until_it_is_killed(server, r):
    r.config_set("lua-time-limit", 50)
    assert r.config_get("busy-reply-threshold") == {"busy-reply-threshold": "50"}

    def kill(other, told):
        with pytest.raises(redis.exceptions.RedisError, match="BUSY"):
            other.execute_command("function", "kill")
        with pytest.raises(redis.exceptions.RedisError, match="BUSY"):
            other.execute_command("function", "stats")
        assert other.script_kill()
    told = busy_replies(server, kill)
    assert "You can only call SCRIPT KILL or SHUTDOWN NOSAVE" in told["other"]
    assert told["runner"].startswith("Script killed by user with SCRIPT KILL...")
    assert "on @user_script:1." in told["runner"]
    with pytest.raises(redis.exceptions.ResponseError, match="No scripts in execution right now"):
        r.script_kill()
    r.config_set("lua-time-limit", 5000)


def test_the_longest_threshold_never_makes_the_server_busy(server, r):
    r.config_set("busy-reply-threshold", (1 << 63) - 1)
    with RawClient(server.port) as runner:
        runner.send("eval", "for i = 1, 3000000 do end return 1", 0)
        while not select.select([runner.socket], [], [], 0)[0]:
            assert r.get("k") is None
        assert runner.read() == (b":", b"1")
    r.config_set("busy-reply-threshold", 5000)


def test_a_script_that_has_written_cannot_be_killed_but_the_server_can_be_stopped():
    with Server(busy_reply_threshold=50) as server:
        with redis.Redis(port=server.port) as runner, redis.Redis(port=server.port) as other:
            other.set("before", 1)

            def run():
                with pytest.raises(redis.exceptions.RedisError):
                    runner.eval("redis.call('set', KEYS[1], 1) while true do end", 1, "k")
            thread = threading.Thread(target=run)
            thread.start()
            wait_until_refused(other.ping, "BUSY")
            with pytest.raises(redis.exceptions.RedisError, match="already executed write"):
                other.script_kill()
            with pytest.raises(redis.exceptions.RedisError, match="BUSY"):
                other.execute_command("shutdown")
            assert server.shutdown("nosave") == 0
            thread.join(60)
        server.start()
        assert server.client().mget("before", "k") == [b"1", None]


def test_scripts_and_functions_know_valkeys_names(newer_pair):
    for script in ("return server.call('echo', 'a')", "return tostring(server == redis)", "return server.REPL_ALL",
                   "return type(server.REDIS_VERSION)", "return type(server.SERVER_NAME)",
                   "return type(os.clock())", "return os.clock() >= 0",
                   "local t = {} for k in pairs(os) do t[#t+1] = k end return t"):
        newer_pair("eval", script, "0")
    newer_pair("function", "load", "replace", "#!lua name=l\nserver.register_function('f', function() "
               "return {server.call('echo', 'b'), type(server.SERVER_NAME), type(os.clock())} end)")
    newer_pair("fcall", "f", "0")
    newer_pair("function", "flush")


def test_show_returns_the_text_of_a_script(newer_pair):
    digest = newer_pair.ours("script", "load", "return 'shown'")[1]
    newer_pair.theirs("script", "load", "return 'shown'")
    newer_pair("script", "show", digest)
    newer_pair("script", "show", digest.upper())
    newer_pair("script", "show", "0" * 40)
    newer_pair("script", "show")
    newer_pair("script", "show", digest, "x")
