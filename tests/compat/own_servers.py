# SPDX-License-Identifier: BSD-3-Clause
"""Redis's suite with servers that it starts itself: its files about replication, RDB files, users and settings.

The source tree has no programs. src/redis-server becomes a script that runs the server under test with the
configuration file of the suite; the other programs are the machine's. The suite waits for the server's process id in
its log, in Redis's format.
"""

import os
import pathlib
import random
import re
import shlex
import shutil

UNITS = [
    "integration/replication",
    "integration/replication-2",
    "integration/replication-3",
    "integration/replication-4",
    "integration/psync2",
    "integration/psync2-reg",
    "integration/psync2-pingoff",
    "integration/block-repl",
    "integration/corrupt-dump",
    "integration/convert-zipmap-hash-on-load",
    "integration/convert-ziplist-hash-on-load",
    "integration/convert-ziplist-zset-on-load",
    "unit/acl",
    "unit/acl-v2",
    "unit/auth",
    "unit/pubsubshard",
    "unit/limits",
    "unit/networking",
    "unit/obuf-limits",
    "unit/client-eviction",
    "unit/introspection",
    "unit/info",
    "unit/wait",
    "unit/slowlog",
    "unit/pause",
    "unit/pendingquerybuf",
]
# Tests that run a random number of times: one pass is enough.
CHANCE = {"integration/psync2", "integration/psync2-reg"}
# The random parts in the names of a file's tests: numbers of servers, and counters.
DRAWN = {"integration/psync2": re.compile(r"(?<=#)\d+|(?<=x = )\d+|(?<=CYCLE )\d+")}
DENIED_TAGS = ["large-memory", "cluster"]

STARTER = """#!/bin/sh
# Made by tests/compat/own_servers.py.
exec $SUITE_SERVER "$@"
"""
PROGRAMS = ("redis-cli", "redis-benchmark", "redis-check-rdb", "redis-check-aof")
FIRST_PORTS, PORTS = range(26000, 32000, 1000), 1000  # other runs may use some of them


class SuiteServers:
    """Servers that the suite starts and stops; it searches free ports itself."""

    def __init__(self, tree, command, first_ports=FIRST_PORTS):
        self.first_ports = first_ports
        starter = tree / "src" / "redis-server"
        starter.write_text(STARTER)
        starter.chmod(0o755)
        for name in PROGRAMS:
            link = tree / "src" / name
            link.unlink(missing_ok=True)
            link.symlink_to(shutil.which(name) or pathlib.Path("/nowhere") / name)
        self.environment = dict(os.environ, SUITE_SERVER=shlex.join(command))

    def where(self):
        """The suite's options."""
        return ["--baseport", str(random.choice(self.first_ports)), "--portcount", str(PORTS)]

    def prepare(self):
        """Does nothing: each file starts its own servers."""

    def is_alive(self):
        """Always true: the suite itself notices a dead server."""
        return True

    def close(self):
        """Does nothing: the suite's servers end with it."""
