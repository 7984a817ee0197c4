# SPDX-License-Identifier: BSD-3-Clause
"""Each example of docs/format.md is a case of tests/golden/, so the page agrees with the encoders."""

import pathlib
import re

import tree

PAGE = tree.text(pathlib.Path("docs/format.md"))
BLOCK = re.compile(r"^```golden\n(.*?)^```", re.MULTILINE | re.DOTALL)


def golden_files():
    """The files of bytes in tests/golden/."""
    return [path for path in tree.under("tests", suffixes={".hex"}) if path.parts[1] == "golden"]


def golden_cases():
    """(bytes, meaning) of every case in tests/golden/."""
    cases = set()
    for path in golden_files():
        bytes_of_case = None
        for line in tree.text(path).splitlines():
            if line.startswith("=>"):
                cases.add((bytes_of_case, line[2:].strip()))
            else:
                bytes_of_case = line.split("#")[0].replace(" ", "")
    return cases


def examples():
    """(bytes, meaning) of every example of the page."""
    for block in BLOCK.findall(PAGE):
        for line in block.splitlines():
            hex_bytes, meaning = line.split(" => ")
            yield hex_bytes.replace(" ", ""), meaning


def test_every_example_is_a_golden_case():
    cases = golden_cases()
    for example in examples():
        assert example in cases


def test_every_golden_format_has_an_example():
    formats = {path.stem for path in golden_files()}
    shown = {meaning.split()[0] for _, meaning in examples()}
    assert formats <= shown
