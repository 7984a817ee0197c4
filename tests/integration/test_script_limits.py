# SPDX-License-Identifier: BSD-3-Clause
"""The limits of a script: its time and its memory are bounded, and it can be stopped anywhere."""

import hashlib
import threading

import pytest
import redis

from harness import Server
from raw_client import RawClient
from waiting import wait_until, wait_until_refused

# Each runs forever, or for seconds; the instruction hook alone would stop few of them.
ENDLESS = {
    "handler": "xpcall(function() while true do end end, function() while true do end end)",
    "handler_of_handler": "local function f() xpcall(f, f) while true do end end xpcall(f, f)",
    "pcall": "while true do pcall(function() while true do end end) end",
    "coroutine": "while true do coroutine.resume(coroutine.create(function() while true do end end)) end",
    "wrap": "local f = function() while true do end end while true do pcall(coroutine.wrap(f)) end",
    "rep": "while true do local s = ('x'):rep(10000000) end",
    "pattern": "return (('a'):rep(40)):find(('a*'):rep(40) .. 'b')",
    "gsub": "while true do (('a'):rep(100000)):gsub('.-b', '') end",
    "find": "local s = ('a'):rep(2000000) while true do s:find(s .. 'b', 1, true) end",
    "sort": "local t = {} for i = 1, 1000 do t[i] = i end "
            "while true do table.sort(t, function(a, b) return a > b end) end",
    "sort_strings": "local t = {} for i = 1, 40 do t[i] = ('\\0'):rep(300000) .. i end table.sort(t)",
    "struct": "local s = (' '):rep(8000000) for i = 1, 90 do struct.size(s) end",
    "insert": "local t = {} table.insert(t, -2^31, 1)",
    "concat": "local t = {} for i = 1, 1000 do t[i] = ('x'):rep(1000) end while true do table.concat(t) end",
    "no_memory": "local t = {} while true do pcall(function() for i = 1, 1e9 do t[i] = {} end end) end",
    "collect": "while true do collectgarbage() end",
    "json": "local t = {} for i = 1, 100000 do t[i] = i end while true do cjson.decode(cjson.encode(t)) end",
    "msgpack": "local t = {} for i = 1, 100000 do t[i] = i end while true do cmsgpack.unpack(cmsgpack.pack(t)) end",
    "compile": "local s = ('x = 1 '):rep(100000) while true do loadstring(s) end",
    "reply": "local t = {} for i = 1, 100 do t = {t, t} end return t",
    "reply_of_map": "local t = {} for i = 1, 100 do t = {map = {a = t, b = t}} end return t",
    "calls": "while true do redis.call('get', KEYS[1]) end",
}


class Runner:
    """Runs a script on a thread; `error` is the error that it ended with."""

    def __init__(self, server, script, command="eval"):
        self.error = None
        self.thread = threading.Thread(target=self._run, args=(server, script, command))
        self.thread.start()

    def _run(self, server, script, command):
        try:
            with redis.Redis(port=server.port) as client:
                client.execute_command(command, script, 1, "k")
        except redis.exceptions.RedisError as error:
            self.error = str(error)


def wait_until_busy(client):
    """Waits until a script has run for longer than busy-reply-threshold."""
    assert "BUSY" in wait_until_refused(lambda: client.get("k"), "BUSY")


@pytest.fixture(scope="module")
def impatient():
    """A server with one I/O thread, on which scripts soon count as busy."""
    with Server(busy_reply_threshold=20, io_threads=1) as server:
        server.client().set("k", "v" * 100000)
        yield server


@pytest.mark.parametrize("name", ENDLESS)
def test_a_script_blocks_no_other_client_and_can_be_killed(impatient, name):
    client = impatient.client()
    runner = Runner(impatient, ENDLESS[name])
    wait_until_busy(client)
    assert client.script_kill()
    runner.thread.join(60)
    assert not runner.thread.is_alive()
    assert runner.error.startswith("Script killed by user with SCRIPT KILL..."), runner.error
    assert client.get("k")


def test_a_server_with_an_endless_script_can_be_shut_down():
    for name in ["handler", "pattern", "reply"]:
        with Server() as server:
            runner = Runner(server, ENDLESS[name])
            client = server.client()
            wait_until(lambda client=client: any(one["cmd"] == "eval" for one in client.client_list()), "the script")
            server.process.terminate()
            assert server.process.wait(60) == 0, name
            runner.thread.join(60)


def test_loading_a_library_ends_in_time_even_with_pcall(r):
    loop = "#!lua name=slow\nlocal function f() while true do end end "
    for code in ["xpcall(f, f)", "while true do pcall(f) end"]:
        with pytest.raises(redis.exceptions.ResponseError, match="FUNCTION LOAD timeout|nonexistent global"):
            r.function_load(loop + code)
    assert r.ping()


# ---- memory


def lua_bytes(client):
    """Lua's memory in INFO."""
    return int(client.info("memory")["used_memory_lua"])


HUNGRY = [
    "local t = {} for i = 1, 1e9 do t[i] = i end", "local t = {} for i = 1, 1e9 do t[i] = ('x'):rep(1000) .. i end",
    "local s = 'x' while true do s = s .. s end", "return ('x'):rep(1e9)",
    "return table.concat({}, ('x'):rep(1e7), -1e9, 1)",
    "local s = ('x'):rep(1000000) local t = {} for i = 1, 1000 do t[i] = s end return cjson.encode(t)",
    "local s = ('x'):rep(1000000) local t = {} for i = 1, 1000 do t[i] = s end return cmsgpack.pack(t)",
    "local t = {} for i = 1, 1e9 do t[i] = coroutine.create(function() end) end",
    "local t = {} for i = 1, 1e9 do t[i] = redis.call('get', KEYS[1]) .. i end",
    "local t = {} for i = 1, 1e9 do t[i] = loadstring('return ' .. i) end",
    "return ('x'):rep(1000000):gsub('x', ('y'):rep(10000))", "return (('%s'):rep(1000)):format(unpack({}, 1, 0))",
]


@pytest.fixture(scope="module")
def small():
    """A server whose scripts may use 16 MB."""
    with Server(memory_budget="128mb") as server:
        server.client().set("k", "v" * 100000)
        yield server


@pytest.mark.slow
@pytest.mark.parametrize("script", HUNGRY)
def test_the_memory_of_scripts_is_bounded_and_freed(small, script):
    client = small.client()
    with pytest.raises(redis.exceptions.ResponseError, match="not enough memory|no value"):
        client.eval(script, 1, "k")
    # A script that catches the error continues with the rest of its memory.
    caught = "local r = {pcall(loadstring(ARGV[1]))} r = tostring(r[1]) return {r, #('x'):rep(1000000)}"
    assert client.eval(caught, 1, "k", script.replace("KEYS[1]", "'k'")) == [b"false", 1000000]
    assert lua_bytes(client) < 6 << 20


@pytest.mark.slow
def test_a_reply_is_bounded(small):
    client = small.client()
    for script in [ENDLESS["reply"], ENDLESS["reply_of_map"],
                   "local s = ('x'):rep(1000000) local t = {} for i = 1, 1000 do t[i] = s end return t"]:
        with pytest.raises(redis.exceptions.ResponseError, match="the reply of the script exceeds the memory limit"):
            client.eval(script, 0)
    for _ in range(10):
        client.rpush("list", *["x" * 1000] * 2000)
    with pytest.raises(redis.exceptions.ResponseError, match="the reply of the command exceeds the memory limit"):
        client.eval("return #redis.call('lrange', KEYS[1], 0, -1)", 1, "list")
    with pytest.raises(redis.exceptions.ResponseError, match="the reply of the command exceeds the memory limit"):
        client.eval("return #redis.call('lpop', KEYS[1], 20000)", 1, "list")
    assert client.llen("list") == 20000  # a command without a reply has not run
    assert client.eval("local s = ('x'):rep(100000) local t = {} for i = 1, 100 do t[i] = s end return #t", 0) == 100


@pytest.mark.slow
@pytest.mark.parametrize("add, scan", [
    ("hset many {0} {1}", "hscan"), ("sadd many {1}", "sscan"), ("zadd many {0} {1}", "zscan")])
def test_a_scan_in_a_script_is_whole_or_an_error(small, add, scan):
    """Its elements are written apart from the cursor. They reached the limit, and the reply had only some of them."""
    client = small.client()
    for i in range(7):
        client.execute_command(*add.format(i, f"{i}" * 3_000_000).split())
    with pytest.raises(redis.exceptions.ResponseError, match="the reply of the command exceeds the memory limit"):
        client.eval(f"return #redis.call('{scan}', KEYS[1], 0, 'count', 100)[2]", 1, "many")
    client.delete("many")


def test_what_a_script_writes_and_publishes_is_bounded(small):
    """It waits in memory for the commit. The calls before the error keep their effect."""
    client = small.client()
    subscriber = client.pubsub()
    subscriber.subscribe("channel")
    assert subscriber.get_message(timeout=5)["type"] == "subscribe"
    publish = "local s = ('x'):rep(1000000) for i = 1, 1000 do redis.call('publish', KEYS[1], s) end"
    write = "local s = ('x'):rep(1000000) for i = 1, 1000 do redis.call('set', KEYS[1], i .. s) end"
    caught = """for i = 1, 100 do
                  local r = redis.pcall('append', KEYS[1], ARGV[1])
                  if type(r) == 'table' then return r end
                end"""
    for script, key in ((publish, "channel"), (write, "written"), (caught, "appended")):
        with pytest.raises(redis.exceptions.ResponseError, match="changes of the script exceed the memory limit"):
            client.eval(script, 1, key, "x" * 1000000)
    assert 10 < int(client.get("written")[:-1000000]) < 30
    assert client.strlen("appended") >= 3_000_000
    subscriber.close()
    assert client.eval("return redis.call('set', KEYS[1], ('x'):rep(1000000))", 1, "written") == b"OK"


def test_a_change_of_the_memory_budget_changes_the_memory_of_scripts():
    with Server(memory_budget="128mb") as server:
        client = server.client()
        script = "return #('x'):rep(20000000)"
        with pytest.raises(redis.exceptions.ResponseError, match="not enough memory"):
            client.eval(script, 0)
        client.config_set("memory-budget", "1gb")
        assert client.eval(script, 0) == 20000000


# ---- the script cache


def test_scripts_loaded_only_by_eval_are_evicted(r):
    """As in Redis 7.4: the 500 most recently used ones stay, and so do those of SCRIPT LOAD."""
    r.script_flush()
    loaded = r.script_load("return 'loaded'")
    often = "return 'often'"
    first, kept = sha_of("return 0"), sha_of(often)
    for i in range(600):
        assert r.eval(f"return {i}", 0) == i
        assert r.eval(often, 0) == b"often"
    assert r.script_exists(loaded, kept, first, sha_of("return 599")) == [True, True, False, True]
    assert r.info("memory")["number_of_cached_scripts"] == 501
    with pytest.raises(redis.exceptions.NoScriptError):
        r.evalsha(first, 0)
    assert r.evalsha(kept, 0) == b"often" and r.evalsha(loaded, 0) == b"loaded"
    assert r.eval("return 0", 0) == 0 and r.evalsha(first, 0) == 0


def sha_of(script):
    """The script's SHA-1, its key in the cache."""
    return hashlib.sha1(script.encode()).hexdigest()


@pytest.mark.slow
def test_the_memory_of_cached_scripts_and_libraries_is_bounded(small):
    client = small.client()
    client.script_flush()
    comment = "--" + "x" * 200000
    for i in range(60):
        assert client.eval(f"return {i} {comment}", 0) == i
    memory = client.info("memory")
    assert memory["used_memory_scripts_eval"] <= 4 << 20 and lua_bytes(client) < 6 << 20
    with pytest.raises(redis.exceptions.OutOfMemoryError, match="SCRIPT FLUSH frees it"):
        for i in range(60):
            client.script_load(f"return -{i} {comment}")
    with pytest.raises(redis.exceptions.OutOfMemoryError, match="libraries of functions"):
        for i in range(60):
            function = f"redis.register_function('f{i}', function() return {i} end) {comment}"
            client.function_load(f"#!lua name=l{i}\n{function}")
    assert client.info("memory")["used_memory_functions"] <= 4 << 20
    assert client.fcall("f3", 0) == 3
    client.script_flush()
    client.function_flush()
    assert client.info("memory")["used_memory_scripts_eval"] == 0


@pytest.mark.measures("memory")
def test_script_load_keeps_no_script_that_it_refuses(small):
    """The Lua states kept them, outside every limit."""
    client = small.client()
    before = small.resident_bytes()
    scripts = [f"return {i} --" + "x" * 4_300_000 for i in range(20)]
    for script in scripts:
        with pytest.raises(redis.exceptions.OutOfMemoryError, match="SCRIPT FLUSH frees it"):
            client.script_load(script)
    assert small.resident_bytes() < before + (60 << 20)
    with pytest.raises(redis.exceptions.NoScriptError):
        client.evalsha(sha_of(scripts[0]), 0)


def test_function_restore_counts_descriptions(small):
    """A library of a few bytes can give long descriptions to many functions."""
    client = small.client()
    with Server(memory_budget="1gb") as large:
        giver = large.client()
        for i in range(10):
            function = f"{{function_name='f{i}', description=('x'):rep(900000), callback=function() end}}"
            giver.function_load(f"#!lua name=l{i}\nredis.register_function{function}")
        payload = giver.function_dump()
    assert len(payload) < 2000
    with pytest.raises(redis.exceptions.OutOfMemoryError, match="libraries of functions would exceed"):
        client.function_restore(payload)
    assert client.function_list() == []


# ---- what a run keeps until it ends


def test_a_script_writes_at_most_a_megabyte_to_the_log(small):
    client = small.client()
    lines = "local s = ('x'):rep(400000) for i = 1, 9 do redis.log(redis.LOG_WARNING, 'line ' .. i .. s) end"
    assert client.eval(lines, 0) is None
    log = small.log_path.read_text("utf-8")
    assert "line 1xxx" in log and "line 3xxx" in log and "line 4xxx" not in log
    assert f"Script {sha_of(lines)} logged more than 1048576 bytes. The rest of its lines was dropped." in log


def test_a_monitor_sees_at_most_4_mb_of_a_scripts_calls(small):
    client = small.client()
    with RawClient(small.port) as monitor:
        assert monitor("monitor") == (b"+", b"OK")
        large = "redis.call('set', KEYS[1], ('x'):rep(5000000))"
        client.eval(f"redis.call('ping') {large} redis.call('strlen', KEYS[1])", 1, "m")
        lines = [monitor.read()[1].split(b"] ")[1]]
        while b"more calls" not in lines[-1]:
            lines.append(monitor.read()[1].split(b"] ")[1])
    assert lines[-2:] == [b'"ping"', b'"..." "more calls: 2"']
    client.delete("m")


def test_all_errors_of_a_script_are_counted(small):
    client = small.client()
    client.config_resetstat()
    client.set("k", "v" * 100000)
    client.eval("for i = 1, 1000 do redis.pcall('incr', KEYS[1]) end", 1, "k")
    assert client.info("errorstats")["errorstat_ERR"]["count"] == 1000
    assert client.info("commandstats")["cmdstat_incr"]["failed_calls"] == 1000
