# SPDX-License-Identifier: BSD-3-Clause
"""Attacks on the server that no script may be able to make.

There is a test for each of Redis's and Valkey's advisories about Lua from 2018 to 2025, and for problems found here:
scripts that wrote beyond a buffer, overflowed the stack, or changed the environment of other scripts.
"""

import pytest
import redis

from harness import Server


def error_of(r, script, *args):
    """The script's error; the server must survive it."""
    with pytest.raises(redis.exceptions.ResponseError) as error:
        r.eval(script, 0, *args)
    assert r.ping()
    return str(error.value)


def answer_of(r, script, *args):
    """The script's reply; the server must survive it."""
    answer = r.eval(script, 0, *args)
    assert r.ping()
    return answer


# ---- the advisories

# CVE-2018-11218: cmsgpack.pack of more values than fitted on the stack.
def test_msgpack_makes_room_on_the_stack(r):
    assert answer_of(r, "return #cmsgpack.pack(unpack({1, 2, 3}, 1, 3))") == 3
    packed = "local t = {} for i = 1, ARGV[1] do t[i] = i end return #cmsgpack.pack(unpack(t))"
    assert answer_of(r, packed, 3000) == 127 + 128 * 2 + (3000 - 255) * 3
    assert "Too many arguments" in error_of(r, packed, 7000)
    assert "too many" in error_of(r, "return cmsgpack.unpack(('\\1'):rep(20000))")


# The same advisory: deeply nested values. AddressSanitizer's larger frames exceed the thread's own stack first.
@pytest.mark.measures("the stack")
def test_msgpack_refuses_values_that_are_nested_too_deeply(r):
    nested = "return cmsgpack.unpack(('\\145'):rep(ARGV[1]) .. '\\1')"
    assert "stack overflow" in error_of(r, nested, 100000)
    maps = "return cmsgpack.unpack(('\\129'):rep(ARGV[1]) .. '\\1')"
    assert "stack overflow" in error_of(r, maps, 100000)


# CVE-2018-11219, CVE-2015-8080, CVE-2020-14147: a number in a struct format that overflows an int.
@pytest.mark.parametrize("format", ["i99999999999999999999", "!99999999999", "c2147483648", "I4294967297"])
def test_a_number_in_a_struct_format_does_not_overflow(r, format):
    assert "integral size overflow" in error_of(r, "return struct.pack(ARGV[1], 1)", format)
    assert "integral size overflow" in error_of(r, "return struct.unpack(ARGV[1], 'x')", format)
    assert "integral size overflow" in error_of(r, "return struct.size(ARGV[1])", format)


def test_struct_reads_nothing_beyond_the_data(r):
    for script in ["struct.unpack('I8', '1234')", "struct.unpack('c10', 'short')", "struct.unpack('B', 'x', 2^53)",
                   "struct.unpack('Bc0', '\\255x')", "struct.unpack('dc0', struct.pack('d', 2^63) .. 'x')",
                   "struct.unpack('s', 'no end')", "struct.unpack('c2147483647', 'x')"]:
        error_of(r, "return " + script)
    assert "limit of 32" in error_of(r, "return struct.pack('i33', 1)")


# CVE-2021-32626: replies and values nested so deeply that they overflowed the stack.
def test_deeply_nested_values_get_room_on_the_stack(r):
    with Server() as server:
        client = redis.Connection(port=server.port)
        client.connect()
        client.send_command("eval", "local t = {} t[1] = t return t", 0)
        nested = client._sock.recv(1 << 20)
        assert nested.startswith(b"*1\r\n*1\r\n")
        client.disconnect()
        assert server.client().ping()
    deep = "local t = {} for i = 1, ARGV[1] do t = {t} end return "
    assert "nesting" in error_of(r, deep + "cjson.encode(t)", 5000)
    assert answer_of(r, deep + "#cmsgpack.pack(t)", 5000) == 17
    assert "nested" in error_of(r, "return cjson.decode(('['):rep(100000))")
    error_of(r, "cjson.decode_max_depth(2^31 - 1) return cjson.decode(('['):rep(100000))")
    error_of(r, "cjson.encode_max_depth(2^31 - 1) " + deep + "cjson.encode(t)", 50000)
    assert answer_of(r, "return #{unpack(redis.call('command'))}") > 200


# CVE-2022-0543: Debian's Lua offered its package library, which loads any shared object.
def test_a_script_cannot_load_libraries(r):
    names = ["package", "require", "module", "io", "debug", "dofile", "loadfile", "print", "newproxy", "setfenv",
             "getfenv", "loadlib"]
    for name in names:
        assert "nonexistent global variable" in error_of(r, f"return {name}")
        assert answer_of(r, f"return tostring(rawget(_G, '{name}'))") == b"nil"
    names_in_os = answer_of(r, "local names = {} for name in pairs(os) do names[#names + 1] = name end return names")
    assert names_in_os == [b"clock"]


# CVE-2022-24735: a script that replaces functions called by scripts of other users.
SHARED = ["string", "table", "math", "coroutine", "cjson", "cmsgpack", "bit", "struct", "os", "redis", "server",
          "_G",
          "getmetatable('')", "getmetatable('').__index", "getmetatable(_G)", "getmetatable(_G).__index"]
WRITES = ["{0}.evil = 1", "{0}[1] = 1", "rawset({0}, 'evil', 1)", "rawset({0}, 1, 1)", "table.insert({0}, 1)",
          "table.insert({0}, 1, 1)", "setmetatable({0}, {{}})", "table.sort({0})", "table.remove({0}, 1)"]


@pytest.mark.parametrize("table", SHARED)
def test_a_shared_table_cannot_be_written(r, table):
    for write in WRITES:
        answer_of(r, f"pcall(function() {write.format(table)} end)")
    left = f"local t = {table} return type(t) ~= 'table' and {{}} or {{rawget(t, 1), rawget(t, 'evil')}}"
    assert answer_of(r, left) == []


def test_a_write_to_such_a_table_is_an_error(r):
    for write in ["rawset(string, 'x', 1)", "table.insert(string, 'x')", "table.remove(math)", "table.sort(redis)",
                  "setmetatable(_G, {})", "cjson.x = 1", "getmetatable('').__index = 1"]:
        assert "readonly table" in error_of(r, write)


def test_a_librarys_settings_last_until_the_script_ends(r):
    """Redis keeps these settings for all later scripts; here it would depend on the Lua state that they get."""
    changes = "cjson.encode_max_depth(1) cjson.encode_sparse_array(true) cjson.decode_max_depth(1) "
    changes += "cjson.encode_number_precision(3) cjson.encode_invalid_numbers(true) "
    changes += "cjson.decode_invalid_numbers(false) "
    answer_of(r, changes + "cjson.encode_keep_buffer(false) collectgarbage('stop') collectgarbage('setpause', 9)")
    assert answer_of(r, "return cjson.encode({{{3.14159}}})") == b"[[[3.14159]]]"
    assert "sparse" in error_of(r, "return cjson.encode({[1000] = 1})")
    assert "NaN" in error_of(r, "return cjson.encode(0/0)")
    assert answer_of(r, "return tostring(cjson.decode('[[inf]]')[1][1])") == b"inf"
    assert answer_of(r, "return collectgarbage('setpause', 200)") == 200


# CVE-2022-24736: a script that calls with no arguments, or with an unknown command.
def test_malformed_scripts_and_calls_are_errors(r):
    for script in ["redis.call()", "redis.pcall(nil)", "redis.call({})", "redis.call('')", "return redis.call(1)",
                   "error()", "error({})", "error({err=1})", "error({err={}})", "error(setmetatable({}, {}))"]:
        try:
            r.eval(script, 0)
        except redis.exceptions.ResponseError:
            pass
        assert r.ping()


# The error is read after the script, when nothing catches an error or limits the time.
@pytest.mark.parametrize("index", ["function() error('x') end", "function() while true do end end"])
def test_no_code_of_an_error_runs_after_the_script(r, index):
    assert "unknown error" in error_of(r, f"error(setmetatable({{}}, {{__index = {index}}}))")
    code = f"#!lua name=l\nerror(setmetatable({{}}, {{__index = {index}}}))"
    with pytest.raises(redis.exceptions.ResponseError, match="Error registering functions"):
        r.function_load(code)


# CVE-2024-31449: bit.tohex wrote beyond its buffer.
@pytest.mark.parametrize("digits", ["-2147483648", "2147483648", "-2^31", "2^31", "2^32 - 9", "-2^32 - 9", "1e300",
                                    "2^63", "-2^63", "0/0", "1/0", "-1/0", "'0x80000000'", "9", "-9", "2^31 + 0.5"])
def test_tohex_writes_eight_digits_at_most(r, digits):
    assert len(answer_of(r, f"return bit.tohex(65535, {digits})")) <= 8


def test_tohex_still_works(r):
    assert answer_of(r, "return {bit.tohex(255, 4), bit.tohex(-1, -8), bit.tohex(1), bit.tohex(1, 0)}") == [
        b"00ff", b"FFFFFFFF", b"00000001", b""]


# CVE-2024-46981: the garbage collector of a closing state freed objects in use.
def test_states_are_closed_while_garbage_is_collected(r):
    for _ in range(20):
        answer_of(r, "collectgarbage('step', 1) collectgarbage('stop') local t = {} "
                     "for i = 1, 1000 do t[i] = {cmsgpack.pack({i}), cjson.encode({i}), "
                     "coroutine.create(function() end)} end")
        r.script_flush()


# CVE-2025-46817: a range of unpack that overflows an int.
@pytest.mark.parametrize("range", ["0, 2147483647", "-2147483648, 2147483647", "-2147483648, -1", "1, 1e9",
                                   "2^31, 2^32",
                                   "-1, 2^31 - 2"])
def test_unpack_does_not_overflow(r, range):
    assert "too many results to unpack" in error_of(r, f"return {{unpack({{1, 2}}, {range})}}")


# CVE-2025-46818: code that runs as another user through the metatables of basic types.
def test_metatables_of_basic_types_cannot_be_changed(r):
    for value in ["nil", "true", "1", "type", "function() end", "cjson.null", "coroutine.create(function() end)"]:
        answer_of(r, f"pcall(function() getmetatable({value}).__index = type end)")
        assert answer_of(r, f"return tostring(pcall(setmetatable, {value}, {{}}))") == b"false"
    answer_of(r, "pcall(function() getmetatable('').__index = function() return 'evil' end end)")
    answer_of(r, "pcall(rawset, getmetatable(''), '__index', {})")
    assert answer_of(r, "return ('x'):upper()") == b"X"


# CVE-2025-46819: the lexer's counter for the level of a long bracket.
def test_long_brackets_are_read_whatever_their_level(r):
    for code in ["[{0}[x]{0}]", "[{0}[", "[{0}", "--[{0}[x]{0}]", "--[{0}", "[{0}[x]{0}", "[[x]{0}]"]:
        code = "return loadstring('return ' .. ARGV[1]) ~= nil"
        answer_of(r, code, code.format("=" * 300000))


# CVE-2025-49844: the garbage collector freed the name of a chunk during its compilation.
def test_code_is_compiled_while_garbage_is_collected(r):
    script = """
        collectgarbage('setpause', 1) collectgarbage('setstepmul', 100000)
        for i = 1, 100 do
            local code = {}
            for j = 1, 50 do code[j] = 'local s' .. j .. ' = "' .. i .. '-' .. j .. '" .. tostring({})' end
            local f = assert(loadstring(table.concat(code, ' '), '@' .. ('n'):rep(i) .. i))
            f()
        end
        return 'fine'
    """
    assert answer_of(r, script) == b"fine"


def test_byte_code_is_refused(r):
    assert "byte code" in error_of(r, "return assert(loadstring(string.dump(function() end)))")
    assert "byte code" in error_of(r, "local d = string.dump(function() end) return assert(load(function() "
                                      "local x = d d = nil return x end))")
    assert "byte code" in error_of(r, "\x1bLua")


# ---- found here

def test_the_recursion_of_a_pattern_is_limited(r):
    assert "pattern too complex" in error_of(r, "return (('a'):rep(120000)):find(('a?'):rep(120000))")
    for item in ["a-", "()", "("]:
        error_of(r, "return (('a'):rep(300000)):match(ARGV[1]:rep(200000) .. 'b')", item)
    assert answer_of(r, "return {(('a'):rep(20)):find(('a?'):rep(20))}") == [1, 20]


def test_patterns_match_as_in_lua(r):
    cases = """
        local t = {}
        local function add(...) t[#t + 1] = cjson.encode({...}) end
        add(('hello world'):find('o w')) add(('hello'):find('l+')) add(('a.b'):find('.', 1, true))
        add(('key = value'):match('^(%w+)%s*=%s*(%w+)$')) add(('x'):rep(3, '-')) add((' trim '):match('^%s*(.-)%s*$'))
        add(('THE (quick) fox'):find('%((%a+)%)')) add(('f(a(b)c)d'):match('%b()')) add(('aa bb'):gsub('%w', '%0%0'))
        add(('abc'):gsub('', '-')) add(('abc'):gsub('b', {b = 'x'}))
        add(('abc'):gsub('%w', function(c) return c:upper() end))
        add(('hello'):gsub('l', 'L', 1)) add(('THE END'):find('%f[%a]%a+%f[%A]', 2)) add(('abab'):match('(a)(b)%1%2'))
        add(('a-b'):gsub('[%-]', '+')) add((']x'):match('[]x]+')) add(('^x'):match('[%^x]+')) add(('abc'):find('b', -1))
        add(('abc'):match('()b()')) add(('x^y'):gmatch('^')())
        add(('a\\0b'):find('%z')) add(('abc'):sub(-2), ('abc'):sub(2, 10))
        local words = {} for k, v in ('a=1, b=2'):gmatch('(%w+)=(%w+)') do words[#words + 1] = k .. v end
        add(unpack(words))
        return t
    """
    assert answer_of(r, cases) == [
        b"[5,7]", b"[3,4]", b"[2,2]", b'["key","value"]', b'["xxx"]', b'["trim"]', b'[5,11,"quick"]', b'["(a(b)c)"]',
        b'["aaaa bbbb",4]', b'["-a-b-c-",4]', b'["axc",1]', b'["ABC",3]', b'["heLlo",1]', b"[5,7]", b'["a","b"]',
        b'["a+b",1]', b'["]x"]', b'["^x"]', b"{}", b"[2,3]", b'["^"]', b"[2,2]", b'["bc","bc"]', b'["a1","b2"]']
    for bad in ["('x'):find('[a')", "('x'):find('%')", "('x'):find('(x')", "('x'):match('x)')", "('x'):find('%1')",
                "('x'):find('%f')", "('x'):find('%b')", "('x'):gsub('x', '%2')", "('x'):gsub('x')"]:
        error_of(r, "return " + bad)


def test_the_nesting_of_coroutines_is_limited(r):
    assert "C stack overflow" in error_of(r, "local function f() coroutine.wrap(f)() end f()")
    deep = "local function f() return coroutine.resume(coroutine.create(f)) end return tostring(select(2, f()))"
    answer_of(r, deep)
    assert "stack overflow" in error_of(r, "local function f() return f() + 1 end f()")
    assert "too many syntax levels" in error_of(r, "return assert(loadstring(('('):rep(100000)))")
    error_of(r, "local t = setmetatable({}, {}) getmetatable(t).__index = function(t, k) return t[k] end return t.x")
    error_of(r, "return ('x'):gsub('x', function() return ('x'):gsub('x', loadstring(ARGV[1])) end) + nil", "error()")


def test_json_of_a_large_string_fits(r):
    """lua-cjson reserves six bytes per byte and counts in an int, which 360 MB overflow."""
    assert answer_of(r, "return #cjson.encode(('\\1'):rep(1000000))") == 6000002
    with Server(memory_budget="256mb") as server:
        client = server.client()
        assert "not enough memory" in error_of(client, "return #cjson.encode(('x'):rep(360000000))")
        assert "not enough memory" in error_of(client, "local s = ('x'):rep(2000000) return cjson.encode({s,s,s,s,s,s,"
                                                       "s,s,s,s,s,s,s,s,s,s,s,s})")


@pytest.mark.parametrize("script", [
    "return ('x'):rep(2^31 - 1)", "return ('x'):rep(1e8):rep(1e9)", "return ('%99.99f'):format(-1e308)",
    "return ('%' .. ('0'):rep(1000) .. 'd'):format(1)", "return ('%999d'):format(1)",
    "return ('%s'):format(('x'):rep(1000))",
    "return ('%-+ #0-+ #0d'):format(1)", "return table.concat({}, 'x', 1, 2^31 - 1)",
    "return table.concat({1}, 'x', 2^31 - 1)",
    "return table.concat({}, ('x'):rep(1000000), -2^31, 2^31 - 1)", "return ('x'):byte(1, 2^31 - 1)",
    "return (('x'):rep(1000000)):byte(1, -1)", "return string.char(256)", "return ('x'):sub(-2^31, 2^31 - 1)",
    "table.sort({3, 1, 2, 5, 4, 7, 6}, function() return true end)", "table.sort({1, 'a', {}})",
    "local t = {} for i = 1, 100 do t[i] = i end table.sort(t, function(a, b) t[a] = nil return true end)",
    "return table.insert({}, -99999, 1)", "return table.insert({1, 2}, 2^31 - 1, 1)", "return table.remove({1}, -2^31)",
    "return select(-2^31, 1)", "return select(2^31 - 1, 1)", "return tonumber('z', 36)", "return tonumber('1', 99)",
    "return math.random(0)", "return math.random(2^31 - 1, -2^31)", "return math.ldexp(1, 2^31)",
    "return math.fmod(1, 0)",
    "return bit.lshift(1, 2^40)", "return bit.rol(1, 0)", "return coroutine.wrap(coroutine.yield)()",
    "return coroutine.resume(coroutine.running())", "return collectgarbage('setpause', -1)", "return gcinfo()",
    "return setmetatable({}, {__gc = type, __mode = 'kv'})", "return cjson.decode('\"\\\\ud800\"')",
    "return cjson.encode({[2^53] = 1})", "return cjson.encode({[1] = 1, [2^31] = 2})", "return cjson.new().encode(1)",
    "return cmsgpack.unpack_limit('\\1', -1)", "return cmsgpack.unpack_one('\\1', 2^62)",
    "return cmsgpack.unpack('\\221\\255\\255\\255\\255')",
    "return cmsgpack.unpack('\\223\\255\\255\\255\\255')", "return cmsgpack.unpack('\\219\\255\\255\\255\\255x')",
    "return cmsgpack.unpack('\\129\\192\\1')", "return load(function() return {} end)", "return load(error)",
    "return next({}, 'x')",
    "return string.dump(type)", "return xpcall(error, error)", "return pcall(pcall, pcall)",
    "return tostring(setmetatable({}, {__tostring = error}))",
])
def test_odd_arguments_do_no_harm(r, script):
    try:
        r.eval(script, 0)
    except redis.exceptions.ResponseError:
        pass
    assert r.ping()
