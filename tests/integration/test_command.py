# SPDX-License-Identifier: BSD-3-Clause
"""COMMAND compared with redis-server 7.0 and Valkey for every command that both have.

Clients and proxies learn from COMMAND where keys are and what a command does, so its replies must be Redis's own. Only
names that Redis lacks may differ.
"""

import pytest

from raw_client import leaves, unordered

CALLS = """
command getkeys get k
command getkeys mset a 1 b 2
command getkeys set k v get
command getkeys del a b c
command getkeys object encoding k
command getkeys object encoding
command getkeys object nosuch k
command getkeys zunionstore d 2 a b
command getkeys zunionstore d 3 a b
command getkeys zunionstore d x a b
command getkeys zunionstore d 0 a
command getkeys zunion 0 a
command getkeys lmpop 2 a b left
command getkeys blpop a b 0
command getkeys lmove a b left right
command getkeys copy a b db 1
command getkeys nosuch k
command getkeys ping x
command getkeys get k more
command getkeysandflags set k v
command getkeysandflags set k v get
command getkeysandflags set k v ex 10 GET
command getkeysandflags mset a 1 b 2
command getkeysandflags zunionstore d 2 a b
command getkeysandflags lmove a b left right
command getkeysandflags del a b
command getkeysandflags nosuch k
command nosuch
command count x
command list foo
command list filterby
command list filterby pattern
command list filterby color red
command list filterby pattern x y
command list filterby module json
command list filterby aclcat nosuch
command info nosuch nosuch|x get|x config|nosuch a|b|c
command docs nosuch
command getkeys
command help x
"""

# Redis 7.2 gives these another arity, other tips or other flags than 7.0. All are as in Valkey.
OF_REDIS_7_2 = {
    "zrank", "zrevrank", "acl|deluser", "acl|save", "acl|setuser", "client|setname", "cluster|shards",
    "cluster|slots", "command|getkeys", "command|getkeysandflags", "config|resetstat", "config|rewrite",
    "latency|reset", "msetnx", "randomkey", "scan", "blmove", "blpop", "brpop", "brpoplpush", "bzpopmax", "bzpopmin",
    "wait",
}

# Commands whose description in Valkey 9.1 differs from Redis 7.2.
ONLY_IN_VALKEY = {
    "allow_busy": "client|caching client|getname client|getredir client|id client|no-evict client|no-touch "
                  "client|reply client|setinfo client|setname select",
    "no_multi": "client|reply multi watch",
    "stale or loading": "cluster|info cluster|myid cluster|myshardid cluster|nodes memory|malloc-stats "
                        "memory|purge script|exists script|flush",
    "arity": "cluster|replicate script|debug",
    "skip_commandlog": "exec",
    "blocking": "wait",
    "not noscript": "waitaof",
    "key flags": "georadius georadiusbymember sinterstore hgetex hsetex",
}
# The commands of Redis 7.4 and 8.0 for fields that expire; Valkey has them with other flags and tips.
OF_REDIS_8 = {"hexpire", "hexpireat", "hpexpire", "hpexpireat", "httl", "hpttl"}


def names(client):
    """The names of all commands and subcommands."""
    return {name.decode() for name in leaves(client("command", "list"))}


def common_names(pair):
    """The names both servers know."""
    shared = names(pair.ours) & names(pair.theirs)
    assert len(shared) > 100
    return sorted(shared)


@pytest.fixture
def common(pair):
    """The names that redis-server has too."""
    return common_names(pair)


def info_of(client, name, known):
    """COMMAND INFO's array for one command in a form that can be compared: its sets are sorted (key specifications are
    already), and only subcommands that both servers have are kept."""
    kind, fields = client("command", "info", name)[1][0]
    subcommands = sorted(each[1][0][1].decode() for each in fields[9][1])
    ordered = [field if i == 8 else unordered(field) for i, field in enumerate(fields[:9])]
    return kind, ordered, [each for each in subcommands if each in known]


def assert_same_info(pair, known, left_out):
    """COMMAND INFO of all `known` commands is the same, except for those in `left_out`."""
    different = []
    for name in sorted(set(known) - left_out):
        mine, theirs = (info_of(client, name, known) for client in (pair.ours, pair.theirs))
        if mine != theirs:
            different.append(f"{name}\n  ours   {mine}\n  theirs {theirs}")
    assert not different, "\n".join(different)


def test_info_is_that_of_redis(pair, common):
    assert_same_info(pair, common, OF_REDIS_7_2)


def test_info_is_that_of_redis_7_2(newer_pair):
    left_out = set(" ".join(ONLY_IN_VALKEY.values()).split()) | OF_REDIS_8
    assert_same_info(newer_pair, common_names(newer_pair), left_out)


def test_replies_equal_redis(pair):
    pair.lines(CALLS)


def test_every_command_is_described(pair):
    every = names(pair.ours)
    top = {name for name in every if "|" not in name}
    assert pair.ours("command", "count") == (b":", str(len(top)).encode())
    assert {one[1][0][1].decode() for one in pair.ours("command")[1]} == top
    assert {one[1][0][1].decode() for one in pair.ours("command", "info")[1]} == top
    kind, docs = pair.ours("command", "docs")
    assert {name[1].decode() for name in docs[::2]} == top
    assert kind in b"*%"


def fields_of(map_reply):
    """A map reply, of either protocol, as a dictionary of names."""
    content = map_reply[1]
    return {name[1].decode(): value for name, value in zip(content[::2], content[1::2])}


def test_docs_agree_with_redis_on_facts(pair, common):
    """Summaries are our own; the version and group of a command are facts."""
    for name in common:
        mine, theirs = (fields_of(fields_of(client("command", "docs", name))[name])
                        for client in (pair.ours, pair.theirs))
        assert mine["since"] == theirs["since"], name
        assert mine["group"] == theirs["group"], name
        assert mine["summary"][1] and mine["complexity"][1], name


def test_docs_describe_the_keys_of_redis(pair, common):
    """The same number of key arguments, found by the same key specifications."""
    def keys(client, name):
        found = []

        def collect(argument):
            fields = fields_of(argument)
            if "key_spec_index" in fields:
                found.append(fields["key_spec_index"])
            for each in fields.get("arguments", (b"*", []))[1]:
                collect(each)
        docs = fields_of(fields_of(client("command", "docs", name))[name])
        for argument in docs.get("arguments", (b"*", []))[1]:
            collect(argument)
        return found

    for name in common:
        assert keys(pair.ours, name) == keys(pair.theirs, name), name


@pytest.mark.parametrize(
    "category", ["keyspace", "read", "WRITE", "string", "dangerous", "connection"])
def test_categories_hold_the_commands_they_hold_in_redis(pair, common, category):
    mine, theirs = (set(leaves(client("command", "list", "filterby", "aclcat", category)))
                    for client in (pair.ours, pair.theirs))
    shared = {name.encode() for name in common}
    assert mine & shared == theirs & shared


def test_list_filters_by_pattern(pair):
    assert sorted(leaves(pair.ours("command", "list", "filterby", "pattern", "GET*"))) == sorted(
        name.encode() for name in names(pair.ours) if name.startswith("get"))
