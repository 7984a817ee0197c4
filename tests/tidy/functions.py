# SPDX-License-Identifier: BSD-3-Clause
"""Measures the length of the functions of a C++ file.

It is not a parser: strings and comments are replaced by blanks. Then every brace after a closing parenthesis (and its
qualifiers) at namespace or class level starts a function.
"""

import re

BLANKED = re.compile(r'//[^\n]*|/\*.*?\*/|R"\((?:.*?)\)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'',
                     re.DOTALL)
# Text between the parameters and the body: qualifiers, a trailing type, initialisers.
FUNCTION = re.compile(r"\)\s*(const|noexcept|override|final|mutable|&&?|->\s*[\w:<>*& ]+|\s)*"
                      r"(:\s*[^;{}]*(\{[^{}]*\}[^;{}]*)*)?$")
TRANSPARENT = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b[^;(){}=]*$")

WITHIN = "within a function or a value"


def blank(source):
    """The source with comments and strings replaced by blanks; line numbers stay."""
    return BLANKED.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), source)


def functions(source):
    """(first line, lines, head) of every function body at namespace or class level."""
    code = blank(source)
    found = []
    stack = []  # for each open brace: None for a scope, WITHIN, or the start and head of a function
    head_start = 0
    for position, char in enumerate(code):
        if char == ";" and not any(stack):
            head_start = position + 1
        if char == "{":
            head = code[head_start:position]
            if any(stack):
                stack.append(WITHIN)
            elif TRANSPARENT.search(head):
                stack.append(None)
                head_start = position + 1
            else:
                stack.append((head_start, head) if FUNCTION.search(head) else WITHIN)
        elif char == "}" and stack:
            entry = stack.pop()
            if entry not in (None, WITHIN):
                start = entry[0] + len(entry[1]) - len(entry[1].lstrip())
                first = code.count("\n", 0, start) + 1
                lines = code.count("\n", start, position) + 1
                found.append((first, lines, " ".join(entry[1].split())))
            if not any(stack):
                head_start = position + 1
    return found
