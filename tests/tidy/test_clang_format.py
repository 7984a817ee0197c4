# SPDX-License-Identifier: BSD-3-Clause
"""clang-format with the tree's .clang-format formats all C++ and C files.

Tables of rows have `// clang-format off`, because it would put each field of a row on a separate line.
"""

import subprocess

import tree

FORMATTER = ["clang-format-16", "--style=file"]


def differences(paths):
    """The complaints of clang-format, one line each."""
    done = subprocess.run([*FORMATTER, "--dry-run", "-Werror", *map(str, paths)], cwd=tree.ROOT, capture_output=True,
                          text=True, check=False)
    return [line for line in done.stderr.splitlines() if "error:" in line]


def test_the_tree_is_formatted():
    paths = tree.under("src", "tests", "bench", suffixes={".h", ".cc", ".c"})
    assert paths
    assert not differences(paths), f"run: {' '.join(FORMATTER)} -i FILE"


def test_an_unformatted_file_is_found(tmp_path):
    (tmp_path / "a.cc").write_text("int  Sum(int a,int b){return a+b;}\n")
    assert differences([tmp_path / "a.cc"])
