#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Builds redis-server 8 for tests, from the source package of Debian's newest suite.

    tests/compat/redis8.py      prints the path of the server and of the suite that belongs to it

Only tests/compat/redis8_suite and tests/pairs/run --newer use it: a build takes minutes. The tree is in the user's
cache directory and not in the repository, so all working copies share one build. It is built once; a marker file says
that it is complete.
"""

import os
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import redis_source  # noqa: E402

# No TLS and no allocator of its own: the build needs only a C compiler and a C++ compiler. Neither changes a reply.
MAKE = ["nice", "-n", "19", "make", "-j2", "BUILD_TLS=no", "MALLOC=libc"]


def cache_dir():
    """The directory of the build."""
    home = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(home) / "cairn-tests" / "redis8"


def build():
    """The tree of Redis 8, fetched and built if it is missing. Raises FetchError if that is not possible."""
    if not shutil.which("make"):
        raise redis_source.FetchError("make is missing")
    tree = redis_source.fetch(cache_dir(), redis_source.REDIS_8)
    marker = cache_dir() / "built"
    if not marker.exists():
        redis_source.run(MAKE, cwd=tree)
        marker.touch()
    return tree


def server_path():
    """The program redis-server of Redis 8."""
    return build() / "src" / "redis-server"


def main():
    """Prints the paths."""
    print(server_path())
    print(build() / "tests")


if __name__ == "__main__":
    try:
        main()
    except (redis_source.FetchError, OSError) as failure:
        print(f"redis8: {failure}", file=sys.stderr)
        sys.exit(2)
