# SPDX-License-Identifier: BSD-3-Clause
"""Starts the servers of a benchmark: Cairn with its default configuration, and redis-server.

Both get a free port of 127.0.0.1 and a temporary directory, and end with the program. The tests' harness does the work;
this file only sets the directives of a measurement.
"""

import pathlib
import shlex
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "integration"))

from cgroups import memory_cgroup, start_in  # noqa: E402  (the path is set just above)
from harness import Server, default_command, free_port  # noqa: E402

__all__ = ["ROOT", "Server", "free_port", "memory_cgroup", "start_build", "start_cairn", "start_in", "start_redis",
           "version_of"]


def start_cairn(arguments: str = "", **directives) -> Server:
    """Starts Cairn; `arguments` is text for its command line, such as "--io-threads 2"."""
    return Server(command=default_command() + shlex.split(arguments), **directives)


def start_build(server: str, arguments: str = "", **directives) -> Server:
    """Starts another build of Cairn: the path of its cairn-server."""
    return Server(command=[server] + default_command()[1:] + shlex.split(arguments), **directives)


def start_redis(arguments: str = "", **directives) -> Server:
    """Starts redis-server, without persistence unless the directives enable it."""
    directives = {"save": "", "appendonly": "no", **directives}
    return Server(command=["redis-server"] + shlex.split(arguments), **directives)


def version_of(server: Server) -> str:
    """The server's program name and version."""
    fields = server.client().info("server")
    name = pathlib.Path(server.command[0]).name
    own = fields.get("cairn_version")
    return f"{name} {own or fields.get('redis_version', '?')}"
