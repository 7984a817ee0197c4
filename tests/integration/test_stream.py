# SPDX-License-Identifier: BSD-3-Clause
"""Streams compared with redis-server: both get the same commands and must give the same replies.

tests/types/stream_test.cc tests the type itself. This file tests what clients see, in both protocols, and durability.
Times and Redis 7.2's additions to XINFO are removed from replies.
"""

import threading
import time

import pytest
import redis
from waiting import wait_for_blocked

REFUSED = """
xadd s * a
xadd s 1-1 a 1 b
xadd s 0-0 a 1
xadd s maxlen x * a 1
xadd s maxlen -1 * a 1
xadd s maxlen 1 minid 1 * a 1
xadd s limit 5 * a 1
xadd s maxlen = 1 limit 5 * a 1
xadd s maxlen ~ 1 limit -1 * a 1
xadd s x-1 a 1
xadd s - a 1
xadd string * a 1
xadd s nomkstream * a 1
xtrim s maxlen
xtrim s limit 1
xtrim s maxlen 1 other 1
xtrim string maxlen 1
xlen string
xrange s x +
xrange s (18446744073709551615-18446744073709551615 +
xrange s - (0-0
xrange s - + count
xrange s - + count x
xrange string - +
xdel s x
xdel string 1-1
xsetid s 1-1
xsetid string 1-1
xsetid s 1-1 entriesadded -1
xsetid s 1-1 maxdeletedid 2-1
xread streams s
xread count 1 s 0
xread group g c streams s 0
xread noack streams s 0
xread block x streams s 0
xread block -1 streams s 0
xread streams s >
xread streams string 0
xreadgroup group g c streams s >
xreadgroup noack count 1 streams s >
xreadgroup group g c streams string >
xgroup create s g $
xgroup create s g
xgroup create s g x mkstream
xgroup create s g 0 other
xgroup create s g 0 mkstream entriesread -2
xgroup setid s g 0
xgroup destroy s g
xgroup createconsumer s g c
xgroup delconsumer s g c
xgroup create string g 0
xgroup other s g
xgroup create s
xack s g 1-1
xack string g 1-1
xpending s g
xpending s g - +
xpending s g - + x
xpending s g idle 1 - +
xpending string g
xclaim s g c 0 1-1
xclaim s g c x 1-1
xautoclaim s g c 0 0
xautoclaim s g c x 0
xautoclaim s g c 0 0 count 0
xinfo stream s
xinfo groups s
xinfo consumers s g
xinfo stream string
xinfo other s
"""

LOG = """
xadd s 1-1 a 1
xadd s 1-1 a 1
xadd s 1-* a 2 b 3
xadd s 2 a x
xadd s 2-* a 4
xadd s 5-5 b -7 a 8
xadd s 5-4 a 9
xadd s 18446744073709551615-18446744073709551614 a 1
xadd s 18446744073709551615-* a 1
xadd s * a 1
xdel s 18446744073709551615-18446744073709551615 18446744073709551615-18446744073709551614
xlen s
xrange s - +
xrange s - + count 2
xrange s - + count 0
xrange s - + count -1
xrange nokey - + count 0
xrange s (1-1 (5
xrange s 1 2
xrange s 2 1
xrevrange s + -
xrevrange s + - count 1
xrevrange s (5-5 1-2
xread streams s 0
xread count 1 streams s other 1-1 0
xread streams s 9
xread streams s $
xinfo stream s
xdel s 1-1
xdel s 1-1 7-7
xinfo stream s
xtrim s maxlen 2
xtrim s minid 5
xinfo stream s
xtrim s maxlen 0
xinfo stream s
xlen s
del s
xadd s 10-1 f v
xtrim s maxlen 0
xsetid s 20-1 entriesadded 40 maxdeletedid 3-3
xinfo stream s
xadd s nomkstream maxlen 3 30-1 f v
xadd s minid = 30-2 30-2 f v
xsetid s 30-1
xsetid s 30-2 entriesadded 0
object encoding s
type s
copy s t
xrange t - +
rename t u
xlen u
del u
xlen u
"""

GROUPS = """
xadd s 1-1 a 1
xadd s 2-1 a 2
xadd s 3-1 b 3
xadd s 4-1 a 4
xadd s 5-1 a 5
xgroup create s g 0
xgroup create s g 0
xgroup create s end $
xgroup create new g $ mkstream
xgroup create s read 2-1 entriesread 2
xreadgroup group g c count 2 streams s >
xreadgroup group g d count 1 streams s >
xreadgroup group g c streams s 0
xreadgroup group g c count 1 streams s 1-1
xreadgroup group g e streams s 0
xgroup createconsumer s end c
xreadgroup group end c streams s >
xreadgroup group g c streams s $
xreadgroup group read c noack count 1 streams s >
xinfo groups s
xpending s g
xpending s end
xpending s nogroup
xack s g 1-1 1-1 9-9
xack s nogroup 1-1
xpending s g
xdel s 2-1
xreadgroup group g c streams s 0
xclaim s g d 0 2-1 3-1
xclaim s g e 0 3-1 justid
xclaim s g e 0 4-1
xclaim s g e 0 4-1 force retrycount 7 justid
xclaim s g e 99999 4-1
xclaim s g e 0 4-1 other
xclaim s g e 0 x
xclaim s g e 0 4-1 lastid 4-1
xpending s g
xautoclaim s g f 0 0 count 1
xautoclaim s g f 0 0 justid
xautoclaim s g f 0 (4-1
xdel s 4-1
xautoclaim s g f 0 - count 5
xgroup createconsumer s g new
xgroup createconsumer s g new
xgroup delconsumer s g f
xgroup delconsumer s g f
xgroup setid s g 3-1
xgroup setid s g 0 entriesread 0
xgroup setid s g $ entriesread
xinfo groups s
xreadgroup group g c streams s >
xreadgroup group g c streams s new > >
xinfo groups s
xgroup destroy s end
xgroup destroy s end
xinfo stream s
copy s t
xinfo groups t
xpending t g
"""


def plain(reply):
    """A reply without the parts that differ: the depth of Redis's radix tree, times, 7.2's additions."""
    kind, content = reply
    if not isinstance(content, list):
        return reply
    items = [plain(item) for item in content]
    out = []
    skip = False
    for item in items:
        if skip:
            skip = False
        elif item[1] in (b"inactive", b"active-time", b"radix-tree-nodes", b"idle", b"seen-time"):
            skip = True
        else:
            out.append(item)
    return kind, out


def run(pair, text):
    for line in filter(None, map(str.strip, text.splitlines())):
        pair(*line.split(), normal=plain)


@pytest.mark.parametrize("text", [REFUSED, LOG, GROUPS], ids=["refused", "log", "groups"])
def test_replies_equal_redis(pair, text):
    pair("set", "string", "text")
    run(pair, text)


def without_times(reply):
    """XPENDING's and XINFO's entries, with times replaced by 0."""
    kind, content = plain(reply)
    if isinstance(content, list):
        return kind, [without_times(item) for item in content]
    if kind == b":" and int(content) > 10**6:
        return kind, b"time"
    return kind, content


def test_pending_entries_in_full(pair):
    run(pair, "\n".join(f"xadd s {n}-1 f {n}" for n in range(1, 31)) + "\nxgroup create s g 0")
    for consumer, count in (("a", 12), ("b", 3), ("a", 5)):
        run(pair, f"xreadgroup group g {consumer} count {count} streams s >")
    for form in ("full", "full count 3", "full count 0"):
        pair("xinfo", "stream", "s", *form.split(), normal=without_times)
    for form in ("- + 100", "3 (7-1 100", "- + 2 a", "- + 100 b", "- + 0", "- + 10 nobody"):
        ours = pair.ours("xpending", "s", "g", *form.split())
        theirs = pair.theirs("xpending", "s", "g", *form.split())
        # The third of an entry's four fields is its idle time.
        assert [e[1][:2] + e[1][3:] for e in ours[1]] == [e[1][:2] + e[1][3:] for e in theirs[1]]
    assert pair.ours("xpending", "s", "g", "idle", "60000", "-", "+", "9") == (b"*", [])
    pair("debug", "digest-value", "s")


def test_long_streams(pair):
    for n in range(1, 2001):
        pair("xadd", "s", f"{n}-0", "field", "x" * (n % 90), *(["odd", n] if n % 7 == 0 else []))
    for edge in (1, 2, 99, 100, 101, 999, 1999, 2000):
        pair("xrange", "s", edge, "+", "count", "3")
        pair("xrevrange", "s", edge, "-", "count", "3")
        pair("xread", "count", "2", "streams", "s", edge)
    for n in range(100, 500, 3):
        pair("xdel", "s", f"{n}-0")
    for length in (1800, 1799, 1000, 350, 7):
        pair("xtrim", "s", "maxlen", length)
        pair("xrange", "s", "-", "+", "count", "2")
        pair("xlen", "s")
    pair("xrange", "s", "-", "+")


def blocked(server, *command, others=0):
    """Runs a blocking command in a thread, while `others` are blocked already; returns (thread, replies)."""
    answers = []
    client = server.client()
    client.response_callbacks.clear()
    thread = threading.Thread(target=lambda: answers.append(client.execute_command(*command)))
    thread.start()
    wait_for_blocked(server, others + 1)
    return thread, answers


@pytest.mark.parametrize("created", [False, True])
def test_xread_blocks_until_a_new_entry(server, r, created):
    if created:
        r.xadd("s", {"old": 1}, id="1-1")
    thread, answers = blocked(server, "xread", "block", "20000", "streams", "s", "$")
    r.xack("s", "g", "1-1")
    r.xadd("s", {"new": 2}, id="2-1")
    r.xadd("s", {"newer": 3}, id="3-1")
    thread.join(60)
    assert answers[0][0][0] == b"s"
    assert answers[0][0][1][0] == [b"2-1", [b"new", b"2"]]


def test_xread_plus_reads_the_last_entry(r):
    """The id + of Redis 7.4 and later. An entry that XDEL deleted is not the last one."""
    assert r.xread({"s": "+"}) in (None, [], {})
    for n in ("1-0", "2-0", "3-0", "3-18446744073709551615"):
        r.xadd("s", {"f": n}, id=n)
    r.xadd("t", {"f": 1}, id="5-0")

    def read(*words):
        return r.execute_command("XREAD", *words)

    last = [[b"s", [(b"3-18446744073709551615", {b"f": b"3-18446744073709551615"})]]]
    assert read("COUNT", 3, "BLOCK", 10, "STREAMS", "s", "+") == last
    assert [name for name, _ in read("STREAMS", "s", "t", "nosuch", "+", "+", "+")] == [b"s", b"t"]
    r.xdel("s", "3-18446744073709551615", "3-0")
    assert read("STREAMS", "s", "+")[0][1][0][0] == b"2-0"
    r.xtrim("s", maxlen=0, approximate=False)
    assert read("STREAMS", "s", "+") in (None, [], {})
    r.set("text", "x")
    with pytest.raises(redis.ResponseError, match="WRONGTYPE"):
        read("STREAMS", "text", "+")
    r.xgroup_create("t", "g", "0")
    with pytest.raises(redis.ResponseError, match="The [+] ID is meaningless in the context of XREADGROUP"):
        r.execute_command("XREADGROUP GROUP g c STREAMS t +")


def test_xread_plus_blocks_on_an_empty_stream(server, r):
    thread, answers = blocked(server, "xread", "block", "20000", "streams", "s", "+")
    with r.pipeline(transaction=True) as both:
        both.xadd("s", {"f": 1}, id="1-0").xadd("s", {"f": 2}, id="2-0").execute()
    thread.join(60)
    assert answers == [[[b"s", [[b"2-0", [b"f", b"2"]]]]]]


def test_every_blocked_reader_is_served(server, r):
    waiting = [blocked(server, "xread", "block", "20000", "streams", "s", "$", others=others)
               for others in range(5)]
    r.xadd("s", {"f": 1}, id="1-1")
    for thread, answers in waiting:
        thread.join(60)
        assert answers == [[[b"s", [[b"1-1", [b"f", b"1"]]]]]]


def test_blocked_consumers_of_a_group_share_new_entries(server, r):
    r.xgroup_create("s", "g", "$", mkstream=True)
    command = "xreadgroup group g {} count 1 block 20000 streams s >"
    waiting = [blocked(server, *command.format(name).split(), others=others) for others, name in enumerate("ab")]
    r.xadd("s", {"f": 1}, id="1-1")
    r.xadd("s", {"f": 2}, id="2-1")
    for thread, _ in waiting:
        thread.join(60)
    assert sorted(answers[0][0][1][0][0] for _, answers in waiting) == [b"1-1", b"2-1"]
    assert r.xpending("s", "g")["pending"] == 2


def test_blocking_until_the_timeout(r):
    started = time.monotonic()
    assert r.xread({"s": "$"}, block=50) in (None, [], {})
    assert time.monotonic() - started > 0.04


def test_a_stream_survives_a_restart(server, r):
    for n in range(1, 301):
        r.xadd("s", {"n": n}, id=f"{n}-0")
    r.xgroup_create("s", "g", "0")
    r.xreadgroup("g", "c", {"s": ">"}, count=10)
    r.xdel("s", "5-0")
    before = r.execute_command("debug", "digest")
    server.kill9()
    server.start()
    r = server.client()
    assert r.execute_command("debug", "digest") == before
    assert r.xpending("s", "g")["pending"] == 10
    assert r.xlen("s") == 299


@pytest.mark.parametrize("container", ["xgroup help", "xinfo help"])
def test_help_names_the_subcommands(r, container):
    lines = r.execute_command(*container.split())
    assert lines[0].startswith(container.split()[0].upper().encode())
    assert lines[-2] == b"HELP"


def test_a_group_and_a_consumer_may_be_called_streams(pair):
    """The keys are behind the option STREAMS, not behind such a name."""
    pair.lines("""
        xgroup create s streams $ mkstream
        xgroup create s g $
        xadd s 1-1 a 1
        xreadgroup group streams c streams s >
        xreadgroup count 1 group g streams streams s >
        xreadgroup noack group g streams streams s >
        xreadgroup group streams streams streams s 0
        command getkeys xreadgroup group g c streams s >
    """)
