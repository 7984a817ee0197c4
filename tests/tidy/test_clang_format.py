# SPDX-License-Identifier: BSD-3-Clause
"""C++ and C are formatted by clang-format with the tree's .clang-format.

Tables of rows are left out by `// clang-format off`: it would put each field of a row on a line of its own.
"""

import subprocess

import tree

FORMATTER = ["clang-format-16", "--style=file"]


def differences(paths):
    """What clang-format complains about, a line per place."""
    done = subprocess.run([*FORMATTER, "--dry-run", "-Werror", *map(str, paths)], cwd=tree.ROOT, capture_output=True,
                          text=True, check=False)
    return [line for line in done.stderr.splitlines() if "error:" in line]


def test_the_tree_is_formatted():
    paths = tree.under("src", "tests", "bench", suffixes={".h", ".cc", ".c"})
    assert paths
    assert not differences(paths), f"run: {' '.join(FORMATTER)} -i FILE"


def test_the_test_sees_what_is_not_formatted(tmp_path):
    (tmp_path / "a.cc").write_text("int  Sum(int a,int b){return a+b;}\n")
    assert differences([tmp_path / "a.cc"])
