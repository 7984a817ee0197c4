# SPDX-License-Identifier: BSD-3-Clause
"""Every command is on the compatibility page, in a family of the server's table, and in a test."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

import tree

sys.path[:0] = [str(tree.ROOT / "scripts"), str(tree.ROOT / "tests" / "integration")]

import compatibility  # noqa: E402
import harness  # noqa: E402

SERVER = pathlib.Path(harness.default_command()[0])
FAMILY = re.compile(r"std::span<const CommandRow> (\w+Commands)\(\);")

needs_server = pytest.mark.skipif(not SERVER.exists(), reason=f"{SERVER} is not built")


@pytest.fixture(scope="module")
def names():
    """The server's commands; subcommands as 'CONFIG GET'."""
    if os.environ.get("CAIRN_SERVER", "").startswith("redis-server"):
        pytest.skip("another server's commands are not on our page")
    with harness.Server() as server:
        return compatibility.server_commands(server.port)


@needs_server
def test_the_page_lists_the_servers_commands(names):
    rows = compatibility.page_rows(compatibility.PAGE.read_text("utf-8"))
    assert not compatibility.differences(rows, names)


def test_every_family_is_in_the_table():
    declared = set()
    for header in tree.sources():
        if header.name == "families.h":
            declared |= set(FAMILY.findall(tree.text(header)))
    composition = tree.text(pathlib.Path("src/server/families.cc"))
    for family in declared:
        assert f"{family}()" in composition, f"{family} is not in the server's table"


@needs_server
def test_every_command_is_mentioned_in_a_test(names):
    tests = "\n".join(tree.text(path).lower() for path in tree.under("tests")
                      if path.parts[1] not in ("tidy", "compat"))
    unmentioned = []
    for name in sorted(names):
        # "config get", "config", "get", config_get(): the characters in between are not letters.
        words = [re.escape(word) for word in name.lower().split()]
        mention = r"(?<![a-z])" + r"[^a-z\n]{1,6}".join(words).replace("\\-", "[-_]?") + r"(?![a-z])"
        if not re.search(mention, tests):
            unmentioned.append(name)
    assert not unmentioned


@needs_server
def test_the_reference_page_equals_the_servers_listing():
    listing = subprocess.run([str(SERVER), "--list-directives"], check=True, capture_output=True,
                             text=True).stdout
    assert (tree.ROOT / "docs" / "configuration.md").read_text("utf-8") == listing


@needs_server
def test_the_configuration_file_has_every_directive_once():
    listing = subprocess.run([str(SERVER), "--list-directives"], check=True, capture_output=True,
                             text=True).stdout
    directives = set(re.findall(r"^### `([\w.-]+)", listing, re.MULTILINE))
    directives |= set(re.findall(r"^\| `([\w.-]+)` \|", listing, re.MULTILINE))
    conf = tree.text(pathlib.Path("conf/cairn.conf"))
    # A line of the file, or a commented line of a directive without a default.
    written = re.findall(r"^(?:# )?([a-z][\w.-]+)(?: |$)", conf, re.MULTILINE)
    for directive in directives:
        assert directive in written, f"conf/cairn.conf does not have {directive}"
    active = re.findall(r"^([a-z][\w.-]+)(?: |$)", conf, re.MULTILINE)
    assert set(active) <= directives, set(active) - directives
