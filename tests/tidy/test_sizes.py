# SPDX-License-Identifier: BSD-3-Clause
"""Files, functions and lines have a maximum length. The limits are never raised."""

import ast

import functions
import tree

MOST_FILE_LINES = 800
MOST_FUNCTION_LINES = 120
MOST_COLUMNS = 120


def code_files():
    """All files that people write, code and pages, without data."""
    return [path for path in tree.files()
            if tree.is_code(path) or path.suffix in (".md", ".txt", ".cmake", ".conf")]


def test_no_file_is_too_long():
    directives = {"docs/configuration.md", "conf/cairn.conf"}  # one section per directive
    for path in code_files():
        if str(path) not in directives:
            assert tree.text(path).count("\n") <= MOST_FILE_LINES, path


def test_no_line_of_code_is_too_long():
    for path in filter(tree.is_code, tree.files()):
        for number, line in enumerate(tree.text(path).splitlines(), 1):
            assert len(line) <= MOST_COLUMNS, f"{path}:{number}"


def test_no_cpp_function_is_too_long():
    for path in tree.under("src", "tests", "bench", suffixes={".h", ".cc"}):
        for first, lines, head in functions.functions(tree.text(path)):
            assert lines <= MOST_FUNCTION_LINES, f"{path}:{first} {head}"


def test_no_python_function_is_too_long():
    for path in filter(tree.is_code, tree.files()):
        if path.suffix != ".py" and "python" not in tree.text(path).split("\n", 1)[0]:
            continue
        for node in ast.walk(ast.parse(tree.text(path), str(path))):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                lines = node.end_lineno - node.lineno + 1
                assert lines <= MOST_FUNCTION_LINES, f"{path}:{node.lineno} {node.name}"


def test_the_length_of_functions_is_measured():
    source = """
namespace a {
struct S { int x; S() : x(1) {
  } };
// } {
constexpr int kTable[] = {1,
  2};
Result<void> Long(const char* s = "}{",
                  int y) const {
  if (y) {
    for (;;) { }
  }
}
}
"""
    measured = [(first, lines) for first, lines, _ in functions.functions(source)]
    assert measured == [(3, 2), (8, 6)]
