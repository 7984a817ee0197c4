# SPDX-License-Identifier: BSD-3-Clause
"""Memory cgroups, versions 1 and 2; making one needs root."""

import contextlib
import os
import pathlib
import tempfile


def _root():
    """The folder of the groups, and the name of the file with the limit."""
    first = pathlib.Path("/sys/fs/cgroup/memory")
    return (first, "memory.limit_in_bytes") if first.is_dir() else (pathlib.Path("/sys/fs/cgroup"), "memory.max")


def may_make():
    """Whether this user may make groups."""
    return os.access(_root()[0], os.W_OK)


@contextlib.contextmanager
def memory_cgroup(limit_bytes: int):
    """A cgroup with this limit; yields the file a process id is to be written to."""
    root, name = _root()
    group = pathlib.Path(tempfile.mkdtemp(prefix="cairn-", dir=root))
    try:
        (group / name).write_text(str(limit_bytes), encoding="ascii")
        yield group / "cgroup.procs"
    finally:
        group.rmdir()


def start_in(group, server):
    """Starts a server, now and later, in the cgroup that memory_cgroup made."""
    server.command = ["sh", "-c", f'echo $$ > {group}; exec "$@"', "sh", *server.command]
    server.start()
