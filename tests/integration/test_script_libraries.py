# SPDX-License-Identifier: BSD-3-Clause
"""The libraries of scripts compared with Valkey's: struct, cmsgpack, cjson, bit and patterns, with random arguments.

Each call is in a pcall, so the values or the library's own error are compared. Seeds are fixed.
"""

import random

import pytest

# Runs the code in ARGV[1] with the other arguments and returns its results with their types.
SHOW = """
local function show(value, depth)
    if type(value) == 'number' then return ('n%.17g'):format(value) end
    if type(value) ~= 'table' then return type(value):sub(1, 1) .. tostring(value) end
    if depth > 40 then return 'deep' end
    local parts = {}
    for k, v in pairs(value) do parts[#parts + 1] = show(k, depth + 1) .. '=' .. show(v, depth + 1) end
    table.sort(parts)
    return '{' .. table.concat(parts, ',') .. '}'
end
local f = assert(loadstring(ARGV[1]))
local function gather(...)
    local shown = {}
    for i = 1, select('#', ...) do shown[i] = show((select(i, ...)), 0) end
    return shown
end
return gather(pcall(f, unpack(ARGV, 2)))
"""

NUMBERS = ["0", "1", "-1", "2", "7.5", "-0.5", "127", "128", "255", "256", "-128", "-129", "32767", "32768", "65535",
           "65536", "-32768", "-32769", "2^31", "2^31 - 1", "-2^31", "-2^31 - 1", "2^32", "2^32 - 1", "2^53", "-2^53",
           "2^62",
           "1e15", "1e16", "0.1", "1/3", "1e100", "-1e-7", "3.14159265358979"]
TEXTS = ["''", "'a'", "'abc'", "'a\\0b'", "('x'):rep(31)", "('x'):rep(32)", "('y'):rep(255)", "('z'):rep(256)",
         "('w'):rep(65536)", "'\\1\\127\\200\"/\\\\'", "'\\n\\r\\t'", "'12'", "'0x10'"]


def struct_call(chance):
    """A call of struct with an often invalid format."""
    letters = "<>! bBhHlLTifdsxcI=z"
    form = "".join(chance.choice(letters) + chance.choice(["", "", "", "0", "1", "2", "3", "4", "5", "8", "16"])
                   for _ in range(chance.randint(1, 6)))
    if chance.random() < 0.5:
        args = ", ".join(chance.choice(NUMBERS[:28] + TEXTS[:6]) for _ in range(chance.randint(0, 6)))
        return [f"return struct.pack({form!r}{', ' + args if args else ''})"]
    if chance.random() < 0.2:
        return [f"return struct.size({form!r})"]
    data = bytes(chance.choice([0, 1, 2, 127, 128, 255, 65]) for _ in range(chance.randint(0, 24)))
    place = chance.choice(["", "", ", 1", ", 2", ", 0", ", 100", ", -1"])
    return [f"return struct.unpack({form!r}, (...){place})", data]


def pack_call(chance):
    """A call of cmsgpack.pack with values of all kinds."""
    def value(depth):
        kind = chance.randint(0, 9)
        if kind < 4 or depth > 3:
            return chance.choice(NUMBERS + ["0/0", "1/0", "-1/0", "2^63", "2^64", "-2^63"])
        if kind < 6:
            return chance.choice(TEXTS)
        if kind == 6:
            return chance.choice(["nil", "true", "false", "cjson.null", "type", "{}"])
        if kind == 7:
            return "{[%s] = %s}" % (chance.choice(["1", "2", "'a'", "1.5", "-1", "2^40", "true"]), value(depth + 1))
        return "{" + ", ".join(value(depth + 1) for _ in range(chance.choice([1, 2, 3, 15, 16]))) + "}"
    return [f"return cmsgpack.pack({', '.join(value(0) for _ in range(chance.randint(0, 3)))})"]


def unpack_call(chance):
    """A call that reads bytes, most of them types of MessagePack."""
    types = [0x00, 0x7f, 0x80, 0x81, 0x82, 0x90, 0x91, 0x92, 0xa0, 0xa1, 0xa3, 0xbf, 0xe0, 0xff, *range(0xc0, 0xe0)]
    data = bytes(chance.choice(types) if chance.random() < 0.6 else chance.choice([0, 0, 1, 2, 65, 255])
                 for _ in range(chance.randint(0, 20)))
    call = chance.choice(["unpack(...)", "unpack(...)", "unpack_one(...)", "unpack_one((...), 1)",
                          "unpack_one((...), -1)",
                          "unpack_one((...), 30)", "unpack_limit((...), 2)", "unpack_limit((...), 0)",
                          "unpack_limit((...), 0, 2)", "unpack_limit((...), 1, 3)", "unpack_limit((...), -1, 3)"])
    return [f"return cmsgpack.{call}", data]


def json_call(chance):
    """A call of cjson.decode with a text that is nearly JSON, or of cjson.encode. Valkey keeps settings, so each call
    uses a new instance."""
    if chance.random() < 0.4:
        value = chance.choice(NUMBERS + TEXTS + ["nil", "true", "{}", "{1, 2, {3}}", "{a = 1}", "{[1] = 1, [3] = 3}",
                                                 "type",
                                                 "{[12] = 1}", "{[1.5] = 1}", "{[true] = 1}", "0/0", "1/0",
                                                 "cjson.null",
                                                 "{1, nil, 3}", "{[0] = 1}", "{[-1] = 1}", "{{}, {{}}}"])
        start = chance.choice(["", "", "cjson.encode_sparse_array(true) ", "cjson.encode_number_precision(3) ",
                               "cjson.encode_invalid_numbers(true) ", "cjson.encode_invalid_numbers('null') ",
                               "cjson.encode_max_depth(1) ", "cjson.encode_sparse_array(false, 0) "])
        return [f"local cjson = cjson.new() {start}return cjson.encode({value})"]
    pieces = ['{', '}', '[', ']', ',', ':', '"a"', '"b\\n"', '"\\u00e9"', '"\\ud83d\\ude00"', '"\\ud83d"', '"\\x"',
              '"open',
              "1", "-1.5e3", "0x1F", "01", "nan", "inf", "-inf", "+1", "true", "false", "null", "nul", " ", "\n",
              "tru", ".5", "-"]
    if chance.random() < 0.5:
        text = "".join(chance.choice(pieces) for _ in range(chance.randint(1, 8)))
    else:
        text = chance.choice(['[1,2,%s]', '{"a":%s}', '{"a":[%s,{}]}', '[[%s]]', '%s', '{"a":1,%s}',
                              '[%s,]', '%s\0x', '{%s:1}'])
        text = text % chance.choice(pieces)
    start = chance.choice(["", "", "cjson.decode_invalid_numbers(false) ", "cjson.decode_max_depth(1) "])
    return [f"local cjson = cjson.new() {start}return cjson.decode(...)", text]


def bit_call(chance):
    """A call of bit."""
    name = chance.choice("tobit bnot band bor bxor lshift rshift arshift rol ror bswap tohex".split())
    numbers = NUMBERS[:30] + ["2^51 + 1", "-7.5", "0.5", "1.5", "2.5", "'12'", "'x'", "nil", "true", "33", "-8", "9"]
    return [f"return bit.{name}({', '.join(chance.choice(numbers) for _ in range(chance.randint(0, 3)))})"]


def pattern_call(chance):
    """A call that matches an often invalid pattern against a short text of few letters."""
    items = ["a", "b", ".", "%a", "%d", "%w", "%s", "%S", "%z", "[ab]", "[^a]", "[a-c]", "[%d-]", "[]]", "[]", "[",
             "(", ")", "()", "(a", "b)", "%1", "%b()", "%f[%a]", "%f", "%", "^", "$", "-", "*", "?", "+", "\0"]
    suffixes = ["", "", "", "*", "+", "-", "?"]
    pattern = chance.choice(["", "^"]) + "".join(
        chance.choice(items[:16] if chance.random() < 0.8 else items)
        + chance.choice(suffixes) for _ in range(chance.randint(1, 5)))
    text = "".join(chance.choice("aab b1(c)-]\0") for _ in range(chance.randint(0, 12)))
    call = chance.choice([
        "string.find(...)", "string.match(...)", "string.gsub(s, p, '<%0>')", "string.gsub(s, p, '%1%%')",
        "string.gsub(s, p, '%')",
        "string.gsub(s, p, {a = 'A', b = false})", "string.gsub(s, p, string.upper, 2)", "string.gsub(s, p, type)",
        "string.find(s, p, -2)", "string.find(s, p, 3, true)", "string.match(s, p, 20)", "gather(string.gmatch(s, p))"])
    head = ("local s, p = ... local function gather(f) local t = {} "
            "for a, b in f do t[#t + 1] = tostring(a) .. tostring(b) end return t end ")
    return [f"{head}return {call}", text, pattern]


@pytest.mark.parametrize("make", [struct_call, pack_call, unpack_call, json_call, bit_call, pattern_call])
def test_a_library_gives_the_same_results_as_valkeys(newer_pair, make):
    chance = random.Random(22)
    for _ in range(1000):
        call = [word if isinstance(word, bytes) else word.encode() for word in make(chance)]
        mine, theirs = (client("eval", SHOW, 0, *call) for client in (newer_pair.ours, newer_pair.theirs))
        assert mine == theirs, call


def test_messages_have_the_same_limit_of_nesting_as_in_valkey(newer_pair):
    for start in [b"\x91", b"\x81\x01"]:
        for depth in (15, 16, 33, 190):
            newer_pair("eval", SHOW, 0, "return cmsgpack.unpack(...)", start * depth + b"\x01")
    for depth in (15, 16, 17, 100):
        newer_pair("eval", SHOW, 0, f"local t = 1 for i = 1, {depth} do t = {{t}} end return cmsgpack.pack(t)")
