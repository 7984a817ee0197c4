# SPDX-License-Identifier: BSD-3-Clause
"""Scripts and functions: random bodies of a small grammar, which call commands of other families. No body depends on
time, random numbers or the order of a table's keys."""

from families import wrapped
from step import NOTHING, UNORDERED, command

FAILING = (
    "error('mine')", "x = 1", "undefined()", "redis.setresp(3)", "redis.setresp(4)", "redis.nosuch()",
)  # fmt: skip
LIBRARIES = (b"one", b"two")


def number(s):
    """A number, as a literal of Lua."""
    return s.pick("0", "1", "-1", "3.7", "1e3", "2^53", "100", "7 % 3", "1/3", "0x10", "-2.5")


def text(s):
    """A string, as an expression of Lua."""
    return s.pick(
        "''", "'a'", "'text'", "'10'", "ARGV[1]", "KEYS[1]", "'a\\0b'", "string.rep('ab', 3)",
        "('x'):upper()", "tostring(12)", "tostring(1.5)", "string.format('%05.1f|%d|%s', 3.14159, 7, 'x')",
        "string.sub('hello', 2, -2)", "table.concat({1, 2, 'c'}, '-')", "redis.sha1hex('x')",
        "cjson.encode({1, 2, {3, 'x'}})", "cjson.encode({a = 1})", "cjson.encode('a\"b')",
        "tostring(nil)", "type({})", "string.byte('A') .. ''", "('abc'):gsub('b', 'x')",
    )  # fmt: skip


def expression(s, depth=2):
    """Any value."""
    kinds = ["number", "text", "literal", "call"] + (["table", "logic", "library"] if depth else [])
    kind = s.rng.choice(kinds)
    if kind == "number":
        return number(s)
    if kind == "text":
        return text(s)
    if kind == "literal":
        return s.pick("nil", "true", "false", "#ARGV", "#KEYS", "{}")
    if kind == "call":
        return call(s)
    inner = [expression(s, depth - 1) for _ in range(3)]
    if kind == "table":
        return "{%s}" % ", ".join(inner[: s.rng.randint(0, 3)])
    if kind == "logic":
        return s.pick("(%s and %s)", "(%s or %s)", "(%s == %s)", "(%s ~= %s)") % tuple(inner[:2])
    return s.pick(
        "tonumber(%s)" % text(s),
        "cjson.decode('[1, 2.5, \"x\", null, {\"a\": [true]}]')[%d]" % s.rng.randint(1, 4),
        "cmsgpack.unpack(cmsgpack.pack(%s))" % s.pick(number(s), text(s), "{1, 2, 3}", "true"),
        "struct.unpack('>I2', struct.pack('>I2', 515))",
        "bit.bxor(%d, %d)" % (s.rng.randint(0, 2**31), s.rng.randint(0, 255)),
        "bit.tohex(%d)" % s.rng.randint(0, 2**31),
        "redis.status_reply(%s)" % s.pick("'FINE'", "''", "'a b'"),
        "redis.error_reply(%s)" % s.pick("'ERR mine'", "'mine'", "'-MY err'", "''"),
        "math.floor(%s)" % number(s),
        "select('#', %s)" % ", ".join(inner[:2]),
        "unpack({%s})" % ", ".join(inner[:2]),
        "{err = %s}" % s.pick("'My err'", "'ERR x'"),
        "{ok = 'yes'}",
        "{double = 2.5}",
        "pcall(error, %s)" % s.pick("'x'", "{err = 'ERR y'}"),
        "redis.acl_check_cmd('%s', 'string:1')" % s.pick("get", "set", "nosuch"),
    )


def quoted(word):
    """Bytes as a literal of Lua."""
    return '"%s"' % "".join("\\%03d" % byte for byte in word)


def call(s):
    """A call of a random command, sometimes invalid."""
    how = s.pick("redis.call", "redis.pcall", "redis.pcall")
    if s.chance(0.15):
        return how + s.pick("()", "('nosuch')", "('get')", "('get', {})", "('eval', 'x', 0)", "('ping', 'x')", "(1)")
    return "%s(%s)" % (how, ", ".join(map(quoted, wrapped.words(s))))


def body(s):
    """A script."""
    lines = []
    for _ in range(s.rng.randint(0, 3)):
        lines.append(
            s.pick(
                "local a = %s" % expression(s),
                "if %s then return %s end" % (expression(s), expression(s)),
                "for i = 1, 2 do %s end" % call(s),
                "local ok, e = pcall(function() return %s end)" % expression(s),
                call(s),
                s.rng.choice(FAILING) if s.chance(0.2) else "local b = 1",
            )
        )
    lines.append("return " + expression(s))
    return " ".join(lines).encode("latin-1")


def arguments(s):
    """The number of keys, the keys and arguments."""
    if s.chance(0.06):
        return [s.pick(b"-1", b"x", b"3", b"")]
    return [b"1", s.any_key(), s.value()]


def script(s):
    """EVAL and EVAL_RO."""
    return command(s.pick("EVAL", "EVAL", "EVAL_RO"), body(s), arguments(s), mutable=NOTHING)


def loaded(s):
    """SCRIPT LOAD, EXISTS and EVALSHA of the same script."""
    source = s.pick("return 1", "return KEYS[1]", "return redis.call('get', KEYS[1])", "return {1, 2")
    import hashlib

    digest = hashlib.sha1(source.encode()).hexdigest()
    return [
        command("SCRIPT", "LOAD", source, mutable=NOTHING),
        command("SCRIPT", "EXISTS", digest, "0" * 40, mutable=NOTHING),
        command(s.pick("EVALSHA", "EVALSHA_RO"), digest, arguments(s), mutable=NOTHING),
    ]


def library(s):
    """FUNCTION LOAD of a library with one function."""
    name = s.rng.choice(LIBRARIES).decode()
    head = s.pick("#!lua name=%s" % name) if s.chance(0.9) else s.pick("", "#!lua", "#!js name=x", "#!lua name=a-b")
    flags = s.pick("", ", flags = {'no-writes'}", ", flags = {'nosuch'}")
    code = "%s\nredis.register_function{function_name = 'f_%s', callback = function(KEYS, ARGV) return %s end%s}" % (
        head, name, expression(s), flags,
    )  # fmt: skip
    replace = [b"REPLACE"] if s.chance(0.7) else []
    return command("FUNCTION", "LOAD", replace, code.encode("latin-1"), mutable=NOTHING)


def function(s):
    """FCALL."""
    name = b"f_" + s.rng.choice(LIBRARIES) if s.chance(0.9) else b"nosuch"
    return command(s.pick("FCALL", "FCALL", "FCALL_RO"), name, arguments(s), mutable=NOTHING)


def management(s):
    """Other subcommands of FUNCTION and SCRIPT."""
    words = s.pick(
        [b"FUNCTION", b"LIST", b"WITHCODE"],
        [b"FUNCTION", b"LIST", b"LIBRARYNAME", b"o*"],
        [b"FUNCTION", b"LIST", b"NOPE"],
        [b"FUNCTION", b"DELETE", s.rng.choice(LIBRARIES)],
        [b"FUNCTION", b"RESTORE", b"x"],
        [b"FUNCTION", b"FLUSH", s.pick(b"SYNC", b"ASYNC", b"NOPE")],
        [b"FUNCTION", b"NOPE"],
        [b"FUNCTION", b"KILL"],
        [b"SCRIPT", b"FLUSH", s.pick(b"SYNC", b"NOPE")],
        [b"SCRIPT", b"KILL"],
        [b"SCRIPT", b"NOPE"],
    )
    return command(words[0].decode(), words[1:], rule=UNORDERED, mutable=NOTHING)


COMMANDS = [(14, script), (2, loaded), (3, library), (5, function), (2, management)]
