# SPDX-License-Identifier: BSD-3-Clause
"""Where Redis 7.2 and 7.0 differ, Cairn replies like 7.2; Valkey shows how.

The other tests of this folder compare with redis-server 7.0; these would fail with it.
"""


import pytest
from raw_client import Pair, RawClient
from waiting import wait_until

STREAMS = """
xreadgroup group g c streams a b 0
xadd s 5-0 f v
xadd s 7-0 f v
xadd s 9-0 f v
xdel s 9-0
xsetid s 8-0
xsetid s 9-0
xsetid s 20-0 entriesadded 9 maxdeletedid 19-0
xsetid s 18-0
xsetid s 19-0
xinfo stream s
"""

COMMAND_KEYS = """
command getkeys get
command getkeys ping
command getkeys set k
command getkeys nosuch
command getkeys config
command getkeysandflags get
command getkeysandflags ping
command getkeysandflags eval x 0
command getkeys eval x 0
command getkeys
"""


def without_radix_nodes(reply):
    """XINFO's reply without the fields about the server's memory."""
    kind, content = reply
    if kind not in (b"*", b"%") or not content or content[0] != (b"$", b"length"):
        return reply
    pairs = zip(content[::2], content[1::2])
    return [pair for pair in pairs if b"radix" not in pair[0][1]]


def test_streams(newer_pair):
    for line in filter(None, STREAMS.splitlines()):
        newer_pair(*line.split(), normal=without_radix_nodes)


def test_keys_of_a_command(newer_pair):
    newer_pair.lines(COMMAND_KEYS)


DIRECTIVES = """
config set hz 1000
config get hz
config set hz 0
config get hz
config set hz -1
config set hz 2147483648
config set hz 10
config set oom-score-adj-values x
config set oom-score-adj-values 0
config set notify-keyspace-events KEn
config get notify-keyspace-events
config set notify-keyspace-events ''
waitaof 2 0 0
waitaof x 0 0
waitaof 0 x 0
waitaof 0 -1 0
"""


def test_directives_and_waitaof(newer_pair):
    newer_pair.lines(DIRECTIVES)
    newer_pair("config", "set", "oom-score-adj-values", "0 200 9999")


def second(pair):
    """More connections to both servers of a pair."""
    other = Pair.__new__(Pair)
    other.ours, other.theirs = (RawClient(one.socket.getpeername()[1]) for one in (pair.ours, pair.theirs))
    return other


def await_blocked(pair, count=1):
    """Waits until `count` clients of each server are blocked on keys."""
    for client in (pair.ours, pair.theirs):
        wait_until(lambda client=client: b"blocked_clients:%d\r" % count in client("info", "clients")[1], "the waits")


def send(pair, *words):
    """Sends a command to both servers; the replies are read later."""
    pair.ours.send(*words)
    pair.theirs.send(*words)


def assert_same_reply(pair):
    """The replies to the sent commands are equal."""
    mine, theirs = pair.ours.read(), pair.theirs.read()
    assert mine == theirs
    return mine


@pytest.mark.parametrize("end", [
    "del s", "unlink s", "rename s t", "flushdb", "flushall", "set s x", "xgroup destroy s g", "pexpire s 1",
    "copy l s replace", "swapdb 0 5", "move s 7", "lpush other x", "sort l store s",
    "multi|del s|xadd s * f v|exec", "rename l s",
])
def test_a_blocked_reader_of_a_group_gets_an_error_when_the_key_changes(newer_pair, end):
    newer_pair.lines("xgroup create s g $ mkstream\nrpush l 1")
    reader = second(newer_pair)
    send(reader, "xreadgroup", "group", "g", "c", "block", "0", "streams", "s", ">")
    await_blocked(newer_pair)
    newer_pair("xinfo", "consumers", "s", "g", normal=lambda reply: [consumer[1][:4] for consumer in reply[1]])
    for line in end.split("|"):
        newer_pair(*line.split(), normal=lambda reply: reply[0])
    if end == "lpush other x":
        newer_pair("xadd", "s", "1-1", "f", "v")
    assert_same_reply(reader)
    reader.close()


def test_a_blocked_reader_gets_all_entries(newer_pair):
    """There is no limit of a thousand entries, as 7.0 has for a blocked client."""
    reader = second(newer_pair)
    send(reader, "xread", "block", "0", "streams", "s", "$")
    await_blocked(newer_pair)
    newer_pair("multi")
    for number in range(1100):
        newer_pair("xadd", "s", f"{number + 1}-0", "f", "v")
    newer_pair("exec")
    assert len(assert_same_reply(reader)[1][0][1][1][1]) == 1100
    reader.close()


def test_a_blocked_reader_of_several_streams(newer_pair):
    newer_pair.lines("xadd a 1-1 f v\nxadd b 1-1 f v")
    reader = second(newer_pair)
    send(reader, "xread", "block", "0", "streams", "a", "b", "$", "$")
    await_blocked(newer_pair)
    newer_pair("set", "a", "x")
    await_blocked(newer_pair)
    newer_pair("xadd", "b", "2-1", "f", "v")
    assert_same_reply(reader)
    reader.close()


def test_info_counts_blocking_keys_and_denials(newer_pair):
    def fields(client, section, names):
        lines = dict(line.split(b":", 1) for line in client("info", section)[1].split(b"\r\n") if b":" in line)
        return [lines[name] for name in names]

    denied = [b"acl_access_denied_" + what for what in (b"auth", b"cmd", b"key", b"channel")]
    before = [fields(client, "stats", denied) for client in (newer_pair.ours, newer_pair.theirs)]
    newer_pair.lines("xgroup create s g $ mkstream\nacl setuser u on nopass resetkeys -@all +get &a")
    readers = [second(newer_pair) for _ in range(3)]
    send(readers[0], "xreadgroup", "group", "g", "c", "block", "0", "streams", "s", ">")
    send(readers[1], "blpop", "l1", "l2", "0")
    await_blocked(newer_pair, 2)
    readers[2].lines("watch k1 k2\nauth u x\nget k\nset k v\nauth u x\nauth nosuch x")
    names = b"total_blocking_keys", b"total_blocking_keys_on_nokey", b"watching_clients", b"total_watched_keys"
    for client in (newer_pair.ours, newer_pair.theirs):
        assert fields(client, "clients", names) == [b"3", b"1", b"1", b"2"]
    for client, old in zip((newer_pair.ours, newer_pair.theirs), before):
        assert [int(new) - int(was) for new, was in zip(fields(client, "stats", denied), old)] == [1, 1, 1, 0]
    newer_pair.lines("acl deluser u")
    newer_pair("del", "s")
    assert_same_reply(readers[0])
    for reader in readers:
        reader.close()


def test_a_reader_without_entries_in_a_transaction_or_script_becomes_a_consumer(newer_pair):
    newer_pair("xgroup", "create", "s", "g", "$", "mkstream")
    newer_pair("multi")
    newer_pair("xreadgroup", "group", "g", "one", "block", 1, "streams", "s", ">")
    newer_pair("exec")
    script = "return redis.call('xreadgroup', 'group', 'g', ARGV[1], 'block', 1, 'streams', KEYS[1], '>')"
    newer_pair("eval", script, 1, "s", "two")
    newer_pair("xinfo", "consumers", "s", "g", normal=lambda reply: str(reply).count("name"))
    assert len(newer_pair.ours("xinfo", "consumers", "s", "g")[1]) == 2
