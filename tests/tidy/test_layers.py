# SPDX-License-Identifier: BSD-3-Clause
"""Dependencies point down: a folder includes and links only what docs/architecture.md allows."""

import re

import pytest

import tree

ARCHITECTURE = tree.ROOT / "docs" / "architecture.md"
INCLUDE = re.compile(r'^#include ([<"])([^>"]+)[>"]', re.MULTILINE)
FORWARD = re.compile(r"^(?:class|struct|enum class) (\w+)(?: : [\w:]+)?;", re.MULTILINE)
DEFINITION = re.compile(r"^(?:class|struct|enum class) (?:\[\[\w+\]\] )?(\w+)(?: final)?(?: : [^;{]*)?\s*\{",
                        re.MULTILINE)
ROOT = "server/server.h"  # the composition root
LIBRARY = re.compile(r"^cairn_folder\((\w+)([^)]*)\)", re.MULTILINE)


def layers():
    """Folder -> (folders it may include, includes that only it may have)."""
    rows = tree.table_with(ARCHITECTURE.read_text("utf-8"), "folder", "one responsibility",
                           "may include", "only it may include")
    allowed = {}
    for folder, _, may, only in rows:
        name = tree.code_spans(folder)[0].rstrip("/")
        above = [row.rstrip("/") for row in tree.code_spans(may)]
        allowed[name] = (set(allowed) if may == "all" else set(above), tree.code_spans(only))
    return allowed


LAYERS = layers()


def test_the_table_lists_the_folders_of_src():
    folders = {path.parts[1] for path in tree.sources() if len(path.parts) > 2}
    assert folders == set(LAYERS)


def test_a_folder_only_allows_folders_above_it_in_the_table():
    order = list(LAYERS)
    for folder, (may, _) in LAYERS.items():
        assert may <= set(order[:order.index(folder)]), folder


@pytest.mark.parametrize("folder", LAYERS)
def test_a_folder_includes_what_it_may(folder):
    may, _ = LAYERS[folder]
    for path in tree.sources():
        if path.parts[1] != folder:
            continue
        for bracket, name in INCLUDE.findall(tree.text(path)):
            if bracket == '"' and "/" in name and name.split("/")[0] in LAYERS:
                assert name.split("/")[0] in may | {folder}, f"{path} includes {name}"
            for other, (_, only) in LAYERS.items():
                if other != folder:
                    assert not any((bracket + name).startswith(start) for start in only), \
                        f"{path} includes {name}, which only {other}/ may"


def declared_from_above(texts):
    """(file, type) of each forward declaration of a type that is defined only in folders that the file's folder may not
    include.

    `texts`: path below src/ -> text.
    """
    homes = {}
    for path, text in texts.items():
        for name in DEFINITION.findall(text):
            homes.setdefault(name, set()).add(path.split("/")[0])
    found = []
    for path, text in texts.items():
        folder = path.split("/")[0]
        may = LAYERS[folder][0] | {folder}
        found += [(path, name) for name in FORWARD.findall(text) if not homes.get(name, may) & may]
    return found


def test_no_type_of_a_folder_above_is_forward_declared():
    texts = {str(path.relative_to("src")): tree.text(path) for path in tree.sources() if len(path.parts) > 2}
    assert not declared_from_above(texts)


def test_a_forward_declaration_of_a_type_from_above_is_found():
    texts = {"server/server.h": "class Server : public Service {\n};\n", "command/context.h": "class Session;\n",
             "command/session.h": "class Session {\n};\n"}
    assert not declared_from_above(texts)
    texts["command/context.h"] += "class Server;\n"
    assert declared_from_above(texts) == [("command/context.h", "Server")]


def test_only_the_composition_root_includes_itself():
    includers = {str(path) for path in tree.sources() if f'#include "{ROOT}"' in tree.text(path)}
    assert includers == {"src/server/server.cc", "src/server/main.cc"}


def test_headers_are_included_from_the_root_of_src():
    for path in tree.sources():
        for bracket, name in INCLUDE.findall(tree.text(path)):
            if bracket == '"' and (tree.ROOT / "src" / name).exists() is False:
                assert not (tree.ROOT / path.parent / name).exists(), f"{path}: {name}"


def test_the_libraries_link_what_the_folders_may_include():
    linked = {}
    for name, words in LIBRARY.findall(tree.text(tree.pathlib.Path("src/CMakeLists.txt"))):
        linked[name] = {word[len("cairn_"):] for word in words.split() if word.startswith("cairn_")}
    assert set(linked) == set(LAYERS)
    for folder, (may, _) in LAYERS.items():
        reached = linked[folder].union(*(linked[below] for below in linked[folder]))
        assert linked[folder] <= may <= reached, f"src/CMakeLists.txt, cairn_folder({folder} ...)"
