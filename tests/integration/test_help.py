# SPDX-License-Identifier: BSD-3-Clause
"""HELP of every command with subcommands: a heading, then the subcommands, ending with HELP."""

import pytest

# The calls are client help, command help, config help, debug help, function help, latency help, memory help,
# module help, object help, script help and slowlog help.
CONTAINERS = ["client", "command", "config", "debug", "function", "latency", "memory", "module",
              "object", "script", "slowlog"]


@pytest.mark.parametrize("name", CONTAINERS)
def test_help_starts_and_ends_as_in_redis(pair, name):
    def frame(reply):
        kind, lines = reply
        return kind, [line[0] for line in lines], lines[0], lines[-2:]

    # Redis has more subcommands of some commands; the first and last lines and the kind of each line are the same.
    mine, theirs = (frame(client(name, "help")) for client in (pair.ours, pair.theirs))
    assert mine[0] == theirs[0] and set(mine[1]) == set(theirs[1])
    assert mine[2:] == theirs[2:]


@pytest.mark.parametrize("name", CONTAINERS)
def test_help_takes_no_argument(pair, name):
    if name != "debug":
        pair(name, "help", "x")


def test_help_lists_exactly_the_existing_subcommands(pair):
    for name in CONTAINERS:
        reply = pair.ours("command", "info", name)[1][0][1]
        subcommands = [entry[1][0][1].decode().split("|")[1].upper() for entry in reply[9][1]]
        text = [line.decode() for _, line in pair.ours(name, "help")[1]]
        for subcommand in subcommands:
            assert any(line.startswith(subcommand) for line in text), (name, subcommand)
