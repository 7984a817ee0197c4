# SPDX-License-Identifier: BSD-3-Clause
"""The files of the repository for the tidy tests.

These are all files of the working tree except those that .gitignore names: build output, data, caches.
"""

import functools
import os
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
CODE_SUFFIXES = {".h", ".cc", ".c", ".py", ".sh", ".js", ".go", ".java", ".rs"}


IGNORED = {".git", "build", "data", "__pycache__", ".pytest_cache", ".ruff_cache", ".cache"}


@functools.cache
def files():
    """All files, as paths relative to the root, sorted."""
    found = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in IGNORED]
        found += [pathlib.Path(folder, name).relative_to(ROOT) for name in names
                  if not name.endswith(".pyc") and name not in IGNORED]
    return sorted(found)


@functools.cache
def text(path):
    """A file's text; empty for one that is not text."""
    try:
        return (ROOT / path).read_text("utf-8")
    except UnicodeDecodeError:
        return ""


def under(*folders, suffixes=None):
    """The files below one of the folders, with one of the suffixes."""
    return [path for path in files()
            if path.parts[0] in folders and (suffixes is None or path.suffix in suffixes)]


@functools.cache
def is_code(path):
    """Whether the file is code: by its suffix, or a script by its first line."""
    return path.suffix in CODE_SUFFIXES or (not path.suffix and text(path).startswith("#!"))


def sources():
    """The C++ of the server."""
    return under("src", suffixes={".h", ".cc"})


def tables(markdown):
    """The tables of a page, each a list of rows, each a list of cells; the header row comes first."""
    found = []
    rows = []
    for line in markdown.splitlines() + [""]:
        if line.startswith("|"):
            cells = re.split(r"(?<!\\)\|", line.strip().strip("|"))
            rows.append([cell.strip() for cell in cells])
        elif rows:
            found.append([row for row in rows if set("".join(row)) - set("-: ")])
            rows = []
    return found


def table_with(markdown, *header):
    """The rows below the header of the table that starts with these column names."""
    for rows in tables(markdown):
        if rows[0][:len(header)] == list(header):
            return rows[1:]
    raise AssertionError(f"no table with the columns {', '.join(header)}")


def code_spans(cell):
    """The texts between backquotes."""
    return re.findall(r"`([^`]+)`", cell)
