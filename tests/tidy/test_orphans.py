# SPDX-License-Identifier: BSD-3-Clause
"""Every file is included, linked, run or described somewhere."""

import pathlib
import re

import tree

LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
PAGES = [path for path in tree.files() if path.suffix == ".md"]


def test_every_header_is_included():
    code = "".join(tree.text(path) for path in tree.under("src", "tests", suffixes={".h", ".cc"}))
    cmake = tree.text(pathlib.Path("src/CMakeLists.txt"))
    for path in tree.sources():
        name = path.relative_to("src").as_posix()
        if path.suffix == ".h":
            assert f'"{name}"' in code or name in cmake, path


def test_every_source_file_has_a_header_or_a_table_of_rows():
    for path in tree.sources():
        if path.suffix != ".cc" or path.name == "main.cc":
            continue
        own = path.with_suffix(".h").relative_to("src").as_posix()
        others = re.findall(r'#include "([^"]+)"', tree.text(path))
        folder = [name for name in others if name.startswith(path.parts[1] + "/")]
        assert own in others or folder, f"{path} implements nothing that is declared"


def links(page):
    """(link target, resolved path) of a page's links to files."""
    for target in LINK.findall(tree.text(page)):
        if "://" not in target and not target.startswith("mailto:"):
            resolved = (tree.ROOT / page.parent / target).resolve()
            yield target, resolved


def test_links_have_a_target():
    for page in PAGES:
        for target, resolved in links(page):
            assert resolved.exists(), f"{page}: {target}"


def test_every_page_is_linked_from_the_readme():
    reached = set()
    waiting = [pathlib.Path("README.md")]
    while waiting:
        page = waiting.pop()
        if page in reached:
            continue
        reached.add(page)
        for _, resolved in links(page):
            if resolved.suffix == ".md" and resolved.is_relative_to(tree.ROOT):
                waiting.append(resolved.relative_to(tree.ROOT))
    assert set(PAGES) <= reached


def test_every_top_level_entry_is_described():
    architecture = tree.text(pathlib.Path("docs/architecture.md"))
    for entry in sorted({path.parts[0] for path in tree.files() if len(path.parts) > 1}):
        assert f"`{entry}/`" in architecture, f"{entry}/ is not on docs/architecture.md"


def test_every_file_that_pages_name_exists():
    named = re.compile(r"`((?:src|tests|docs|scripts|bench|conf|third_party)/[\w./-]+)`")
    for page in PAGES:
        for name in named.findall(tree.text(page)):
            assert (tree.ROOT / name).exists(), f"{page}: {name}"


def test_every_part_of_the_test_suite_exists_and_is_run():
    runner = tree.text(pathlib.Path("scripts/run_tests.py"))
    folders = {path.parts[1] for path in tree.under("tests") if len(path.parts) > 2}
    unit = {path.parts[1] for path in tree.sources()} | {"golden"}  # ctest runs these
    for folder in sorted(folders - unit):
        assert f"tests/{folder}" in runner, f"scripts/run_tests.py does not run tests/{folder}"
