# SPDX-License-Identifier: BSD-3-Clause
"""No comment contains a debt marker, no name is empty of meaning, and every file names its licence."""

import re

import tree

# The words are split, so that this file passes its own test.
DEBTS = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "X" + "XX", "HA" + "CK"]) + r")\b")
EMPTY_NAMES = re.compile(r"(Impl|Manager|Helper|Helpers|Util|Utils|Data|Info)(?=[A-Z]|$)")
DEFINED_TYPE = re.compile(r"^\s*(?:class|struct|enum class|enum|using)\s+(\w+)(?!\w|[^\n{=]*;)", re.MULTILINE)
LICENCE = "SPDX-License-Identifier: BSD-3-Clause"


def test_the_tree_has_no_debt_markers():
    for path in tree.files():
        for number, line in enumerate(tree.text(path).splitlines(), 1):
            assert not DEBTS.search(line), f"{path}:{number}"


def test_names_say_something():
    for path in tree.sources():
        camel = "".join(word.capitalize() for word in path.stem.split("_"))
        assert not EMPTY_NAMES.search(camel), path
        for name in DEFINED_TYPE.findall(tree.text(path)):
            assert not EMPTY_NAMES.search(name), f"{path}: {name}"


def test_every_file_of_code_names_its_licence():
    for path in filter(tree.is_code, tree.files()):
        top = tree.text(path).splitlines()[:4]
        assert any(LICENCE in line for line in top), path


def test_no_space_ends_a_line():
    for path in tree.files():
        if tree.is_code(path) or path.suffix in (".md", ".conf", ".cmake"):
            for number, line in enumerate(tree.text(path).splitlines(), 1):
                assert line == line.rstrip(), f"{path}:{number}"
