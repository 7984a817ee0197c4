# SPDX-License-Identifier: BSD-3-Clause
"""The known faults of the simulation (tests/simulation/mutations) still fit the code."""

import subprocess

import tree

PATCH = tree.ROOT / "tests" / "simulation" / "mutations" / "faults.patch"


def test_the_patch_of_known_faults_applies():
    command = ["patch", "-p1", "--dry-run", "--force", "--fuzz=0", "-i", PATCH]
    done = subprocess.run(command, cwd=tree.ROOT, stdout=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 0, done.stdout
