# SPDX-License-Identifier: BSD-3-Clause
"""Counts the public methods and the fields of C++ classes.

It is not a parser: strings, comments and preprocessor lines are replaced by blanks, and semicolons and braces separate
the members of a class body. Constructors, destructors, operators, deleted functions and constants are not counted.
"""

import re

import functions

CLASS = re.compile(r"\b(class|struct)\s+(?:alignas\([^)]*\)\s+)?(\w+)(?:\s+final)?(?:\s*:[^;{}()]*)?\s*$")
TYPE = re.compile(r"^(template\b.*\b)?(class|struct|enum|union|namespace)\b")
NO_MEMBER = re.compile(r"^(using|friend|typedef|static_assert|template\s*<[^;]*>\s*(using|friend))\b")
ACCESS = re.compile(r"^\s*(public|protected|private)\s*:\s*")


def bodies(code):
    """(kind, name, body) of every class in a blanked source, nested ones included."""
    stack = []
    for position, char in enumerate(code):
        if char == "{":
            head = code[max(code.rfind(c, 0, position) for c in ";{}") + 1:position]
            head = re.sub(r"^\s*(public|protected|private)\s*:", "", head)
            stack.append((CLASS.search(head), position + 1))
        elif char == "}" and stack:
            found, start = stack.pop()
            if found and not re.search(r"\benum\s+(class|struct)", code[:start][-200:].rsplit(";", 1)[-1]):
                yield found[1], found[2], code[start:position]


def members(body, access):
    """(access, declaration without the text in braces) of each member of a class body."""
    depth = parens = 0
    text = ""
    for position, char in enumerate(body):
        if char in "{}":
            depth += 1 if char == "{" else -1
            is_end = depth == 0 and char == "}"
            rest = body[position + 1:].lstrip()
            if is_end and not rest.startswith((";", ",", "{")) and not parens and re.search(r"\)", text):
                char = ";"
            else:
                continue
        elif depth > 0:
            continue
        parens += (char == "(") - (char == ")")
        if char != ";":
            text += char
            continue
        declaration = " ".join(text.split())
        while match := ACCESS.match(declaration):
            access = match[1]
            declaration = declaration[match.end():]
        if declaration:
            yield access, declaration
        text = ""


def without_templates(declaration):
    before = None
    while before != declaration:
        before, declaration = declaration, re.sub(r"<[^<>]*>", "", declaration)
    return declaration


def sizes(source):
    """Name -> (public methods, fields) of every class."""
    code = re.sub(r"^\s*#.*$", "", functions.blank(source), flags=re.MULTILINE)
    found = {}
    for kind, name, body in bodies(code):
        methods = fields = 0
        for access, declaration in members(body, "private" if kind == "class" else "public"):
            if NO_MEMBER.match(declaration) or TYPE.match(declaration) or re.search(r"\boperator\b", declaration):
                continue
            plain = re.sub(r"\balignas\([^)]*\)|\bABSL_\w+\([^)]*\)", "", without_templates(declaration))
            head = plain.split("=", 1)[0]
            if "(" in head:
                is_special = re.search(rf"(~|\b){name}\s*\(", head) or "delete" in plain.split(")")[-1]
                methods += access == "public" and not is_special
            else:
                fields += not re.match(r"^(inline\s+)?static\b", plain)
        found[name] = (methods, fields)
    return found
