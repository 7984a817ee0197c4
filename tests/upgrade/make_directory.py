#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes a golden directory: a server of an older commit writes the contents of its format.

    tests/upgrade/make_directory.py SERVER FORMAT        writes tests/upgrade/directories/format-FORMAT.tar.xz

Most of the contents is in tables, because the server was shut down; the rest is in the log, because it was killed. The
directories of the formats 1 to 3 were made with the servers of the commits in older.py, that of format 4 with the
server of ef31c10, 2026-11-27. A directory is never made again, unless a released server wrote the format differently.
"""

import pathlib
import sys
import tarfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import own_python  # noqa: E402

own_python.use()

sys.path.insert(0, str(own_python.REPOSITORY / "tests" / "integration"))

from contents import LATEST, fill, fill_log, modes  # noqa: E402
from harness import Server  # noqa: E402

DIRECTORIES = pathlib.Path(__file__).resolve().parent / "directories"
UNNEEDED = ("LOG", "LOCK", "server.log", "IDENTITY")


def keep(member):
    """Leaves out what the server makes anew, and the owner's name."""
    if pathlib.PurePath(member.name).name.startswith(UNNEEDED):
        return None
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    return member


def main():
    """Fills a new directory twice and packs it."""
    program, version = sys.argv[1], int(sys.argv[2])
    assert 1 <= version <= LATEST
    with Server([program], **modes(version)) as server:
        with server.client(single_connection_client=True) as client:
            fill(client, range(1, version + 1))
        server.restart("shutdown")
        with server.client() as client:
            fill_log(client)
        server.kill9()
        with tarfile.open(DIRECTORIES / f"format-{version}.tar.xz", "w:xz") as archive:
            archive.add(server.data_dir, "data", filter=keep)


if __name__ == "__main__":
    main()
