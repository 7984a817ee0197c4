# SPDX-License-Identifier: BSD-3-Clause
"""The manual pages name the options that the programs have, and no others."""

import re
import shutil
import subprocess

import pytest

from harness import REPOSITORY, tool_path

PAGES = sorted((REPOSITORY / "docs" / "man").glob("*.1"))


def program_options(program):
    """The options in the program's own words."""
    text = subprocess.run([tool_path(program), "--help"], capture_output=True, text=True, check=False).stdout
    if program == "cairn-server":
        return set(re.findall(r"^  --([\w-]+)", text, re.MULTILINE))
    own = [part for part in text.split("Flags from") if re.match(r"\s*\S*(_main|client_flags)\.cc:", part)]
    return set(re.findall(r"^    -(\w+)", "".join(own), re.MULTILINE))


def page_options(page):
    """The options that have a paragraph, or are the default in one."""
    text = page.read_text().replace("\\-", "-")
    named = set(re.findall(r"^\.(?:BI?|BR|RB) (?:\( )?--([\w-]+)", text.split(".SH OPTIONS")[1], re.MULTILINE))
    return {name for name in named if not name.startswith("no")}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_the_options_of_its_program(page):
    assert page_options(page) == program_options(page.stem)


def test_every_installed_program_has_a_page():
    installed = re.findall(r"cairn-\w+", (REPOSITORY / "conf" / "install.cmake").read_text().split("RUNTIME")[0])
    assert sorted(set(installed)) == [page.stem for page in PAGES]


@pytest.mark.skipif(shutil.which("man") is None, reason="man is not installed")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_man_shows_a_page_without_warnings(page):
    shown = subprocess.run(["man", "--warnings", "-l", page], capture_output=True, text=True, check=False)
    assert shown.returncode == 0 and not shown.stderr
    assert "NAME" in shown.stdout and page.stem in shown.stdout
