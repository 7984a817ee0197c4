# SPDX-License-Identifier: BSD-3-Clause
"""`rename-command`: commands with other names, or disabled, compared with redis-server."""

import pytest
import redis
from harness import Server, default_command
from pairs import follow
from raw_client import Pair
from waiting import wait_until

LINES = """
rename-command CONFIG secret-config-b840fc02d524045429941cc15f59e41cb7be6c52
rename-command flushall ""
rename-command incr decr2
"""
HIDDEN = "SECRET-config-b840fc02d524045429941cc15f59e41cb7be6c52"


def with_file(command, path, text, **directives):
    """A server with a configuration file."""
    path.write_text(text, encoding="ascii")
    return Server(command=command + [str(path)], **directives)


@pytest.fixture(scope="module")
def renamed(tmp_path_factory):
    """A server and a redis-server with the same lines."""
    path = tmp_path_factory.mktemp("configurations")
    with with_file(default_command(), path / "ours.conf", LINES) as ours, \
            with_file(["redis-server"], path / "theirs.conf", LINES, save="") as theirs:
        yield ours, theirs


@pytest.fixture(params=[2, 3], ids=["resp2", "resp3"])
def both(renamed, request):
    """Both servers, which get the same commands."""
    pair = Pair(*renamed, request.param)
    yield pair
    pair.close()


def test_clients_can_use_only_the_new_name(both):
    both.lines(f"""
        config get maxmemory
        {HIDDEN} get maxmemory
        {HIDDEN} get
        {HIDDEN}
        {HIDDEN} nonsense
        {HIDDEN} set maxmemory 0
        flushall
        FLUSHALL async
        set n 1
        incr n
        DECR2 n
        decr2
        decr n
        decr2 n extra
        object help nothing
        multi
        config get maxmemory
        exec
        multi
        {HIDDEN} get maxmemory
        decr2 n
        exec
        del n
    """)


# Descriptions of commands keep the original names.
def test_commands_are_described_with_their_original_names(both):
    both("command", "info", HIDDEN, "config", "incr", "decr2", "flushall", normal=lambda reply: leaves_named(reply))
    listed = [name for _, name in both.ours("command", "list")[1]]
    assert b"config" in listed and b"incr" in listed and b"flushall" not in listed
    both("command", "getkeys", "decr2", "k")
    both("command", "getkeys", "incr", "k")
    both("acl", "cat", "nonsense")
    assert (b"$", b"flushall") in both.ours("acl", "cat", "dangerous")[1]


def leaves_named(reply):
    """The name and arity of each described command."""
    return [entry[1][:2] if entry[1] else entry for entry in reply[1]]


def test_acl_rules_use_the_original_names(both):
    for line in (
        "acl setuser u on >p ~* -@all +incr", "acl dryrun u decr2 k", f"acl dryrun u {HIDDEN} get x",
        "acl dryrun u incr k", "acl setuser u +config|get", f"acl dryrun u {HIDDEN} get x", "acl setuser u +flushall",
        "acl setuser u +decr2", "acl deluser u",
    ):
        # The error of Redis 7.2 names the user, that of 7.0 does not.
        both(*line.split(), normal=lambda reply: (reply[0], reply[1].replace(b"User u has", b"This user has")))


def test_scripts_use_the_new_name(both):
    both("eval", "return redis.call('decr2', KEYS[1])", 1, "n")
    both("eval", "return redis.pcall('incr', KEYS[1])['err'] ~= nil", 1, "n")
    both("del", "n")


def test_config_get_and_set_do_not_have_the_directive(renamed):
    for server in renamed:
        assert server.client().execute_command(HIDDEN, "GET", "rename-command") in ([], {})
        with pytest.raises(redis.ResponseError, match="Unknown option or number of arguments"):
            server.client().execute_command(HIDDEN, "SET", "rename-command", "a b")


def test_config_rewrite_keeps_the_lines(tmp_path):
    with with_file(default_command(), tmp_path / "own.conf", LINES) as server:
        server.client().execute_command(HIDDEN, "REWRITE")
        kept = (tmp_path / "own.conf").read_text("ascii")
        for line in LINES.split("\n"):
            assert line in kept


@pytest.mark.parametrize("line, why", [("nonsense x", "No such command in rename-command"),
                                       ("get set", "Target command name already exists"),
                                       ("get", "wrong number of arguments")])
def test_an_invalid_line_ends_the_start(tmp_path, line, why):
    with pytest.raises(RuntimeError, match=why):
        with_file(default_command(), tmp_path / "own.conf", f"rename-command {line}\n")


# A primary replicates commands with their original names, and sometimes verbatim with the new ones.
@pytest.mark.parametrize("primary_lines, name", [(True, "PUT"), (False, "SET")], ids=["put", "set"])
def test_a_replica_understands_both_names(tmp_path, primary_lines, name):
    lines = "rename-command set put\nrename-command del \"\"\nrename-command srem \"\"\n"
    with with_file(default_command(), tmp_path / "a.conf", lines if primary_lines else "") as primary, \
            with_file(default_command(), tmp_path / "b.conf", lines) as replica:
        follow(replica, primary)
        client = primary.client()
        client.sadd("s", *range(10))
        client.spop("s", 3)
        client.execute_command(name, "k", "v")
        wait_until(lambda: replica.client().get("k") == b"v", "the write")
        assert replica.client().smembers("s") == client.smembers("s")
