#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Servers of older commits, built from the git history at their first use, in 10 minutes each on 2 cores.

    tests/upgrade/older.py            builds all of them, below build/older
"""

import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from own_python import REPOSITORY  # noqa: E402

# The last commit, or an early one, that writes the format.
COMMITS = {1: "47885e7", 2: "2b36a65", 3: "ecd768b"}
FOLDER = REPOSITORY / "build" / "older"
CONFIGURE = ["cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
             "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG", "-DCAIRN_TESTS=OFF"]


def is_known(version):
    """Whether the git history has the commit: a shallow clone has not."""
    return subprocess.run(["git", "cat-file", "-e", f"{COMMITS[version]}^{{commit}}"], cwd=REPOSITORY,
                          capture_output=True, check=False).returncode == 0


def build(version):
    """The path of a server that writes this format. REQUIRES: is_known(version)."""
    server = FOLDER / f"format-{version}" / "cairn-server"
    if server.exists():
        return server
    tree = server.with_name("tree")
    if not tree.exists():
        tree.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "clone", "-q", "--shared", "--no-checkout", REPOSITORY, tree], check=True)
        subprocess.run(["git", "checkout", "-q", COMMITS[version]], cwd=tree, check=True)
    packages = "set -euo pipefail; source scripts/common.sh; install_packages build"
    for command in (["bash", "-c", packages], CONFIGURE, ["ninja", "-C", "build", "cairn-server"]):
        subprocess.run(command, cwd=tree, check=True)
    os.replace(tree / "build" / "cairn-server", server)
    return server


if __name__ == "__main__":
    for number in COMMITS:
        print(build(number))
