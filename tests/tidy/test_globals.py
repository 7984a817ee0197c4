# SPDX-License-Identifier: BSD-3-Clause
"""State belongs to an object: variables of a namespace and static variables are constant, with few exceptions."""

import re

import tree

NO_TYPE = "using|typedef|namespace|extern|template|friend|class|struct|enum|union|return|__extension__"
GLOBAL = rf"^(?!(?:{NO_TYPE})\b)\w[\w:<>,*& ]*[ *&]\w+(?:\[\w*\])?(?: = [^;]*|\{{[^;]*\}})?;"
FUNCTION_POINTER = r"^\w+ \(\*\w+\)\(.*\).*;"
STATIC = r"^ +static [^(=;{]+[={;]"
VARIABLE = re.compile(f"{GLOBAL}|{FUNCTION_POINTER}|{STATIC}", re.MULTILINE)
CONSTANT = re.compile(r"\b(?:const|constexpr|thread_local)\b")  # one of a thread is not shared
# Atomics that number things, a setting of the process, what a signal's function needs, and a function that is set
# before the server starts threads.
ALLOWED = {
    "src/acl/users.cc": "last_version",
    "src/base/crash_report.cc": "crash_log",
    "src/base/number.cc": "format",
    "src/base/sharded_counter.h": "next",
    "src/base/thread.cc": "thread_set_up",
    "src/net/io_thread.cc": "last_connection",
}


def variables(text):
    """The declarations of variables in a file's text that are shared by threads and not constant."""
    return [found.group().strip() for found in VARIABLE.finditer(text) if not CONSTANT.search(found.group())]


def test_no_variable_is_global():
    for path in tree.sources():
        for line in variables(tree.text(path)):
            assert ALLOWED.get(str(path), "-") in line, f"{path}: {line}"


def test_a_global_variable_is_found():
    assert variables("constexpr int kA = 1;\nconst std::string kB = Make();\nint Get();\nstruct A {\n  int b = 0;\n};\n"
                     "int Get() {\n  static const int kC = 1;\n  thread_local int d = 2;\n  return d;\n}\n") == []
    for line in ("int count = 0;", "std::atomic<int> count{0};", "void (*hook)() = nullptr;", "  static int calls = 0;",
                 "std::map<int, int> cache;"):
        assert variables(f"namespace a {{\n{line}\n}}\n"), line
