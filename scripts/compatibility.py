#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares docs/compatibility.md with the commands of a running server.

    scripts/compatibility.py             prints the differences; exit status 1 if there are any
    scripts/compatibility.py --write     sets the page's states to those of the server
    scripts/compatibility.py --port N    uses a running server

The page lists every command and subcommand of Redis up to 7.2, in a table per group: name, first version, state,
remark. `full` and `partial` mean that the server has it (the remark says what is missing of a partial one), `absent`
that it does not (the remark says why). Cairn's own commands are in a separate table with the state `own`.
"""

import argparse
import pathlib
import re
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
PAGE = REPOSITORY / "docs" / "compatibility.md"
ROW = re.compile(r"^\| `([A-Z0-9_. -]+)` \| ([\d.]+|-) \| (full|partial|absent|own) \| (.*?) *\|$")
PRESENT = ("full", "partial", "own")


def page_rows(text):
    """Command -> (version, state, remark), in the page's order."""
    rows = {}
    for line in text.splitlines():
        match = ROW.match(line)
        if match:
            name, since, state, remark = match.groups()
            if name in rows:
                raise ValueError(f"{name} stands on the page twice")
            rows[name] = (since, state, remark)
    return rows


def server_commands(port):
    """The names of all commands of a server, subcommands as 'CONFIG GET'."""
    import redis  # in build/venv; only this function needs it
    client = redis.Redis("127.0.0.1", port, protocol=2)
    client.response_callbacks.clear()
    names = client.execute_command("COMMAND", "LIST")
    client.close()
    return {name.decode().upper().replace("|", " ") for name in names}


def differences(rows, names):
    """The errors of the page, a sentence each."""
    found = []
    for name, (_, state, remark) in rows.items():
        if state in PRESENT and name not in names:
            found.append(f"{name} is {state} on the page, and the server does not have it")
        if state == "absent" and name in names:
            found.append(f"{name} is absent on the page, and the server has it")
        if state in ("partial", "absent") and not remark:
            found.append(f"{name} is {state} without a remark that explains it")
    for name in sorted(names - set(rows)):
        found.append(f"{name} is a command of the server and not on the page")
    return found


def corrected(text, names):
    """The page with the states of the server's commands; a changed state removes the remark."""
    lines = []
    for line in text.splitlines():
        match = ROW.match(line)
        if match:
            name, since, state, _ = match.groups()
            if (state in PRESENT) != (name in names):
                state = "full" if name in names else "absent"
                line = f"| `{name}` | {since} | {state} | |"
        lines.append(line)
    for name in sorted(names - set(page_rows(text))):
        lines.append(f"| `{name}` | - | own | |")
    return "\n".join(lines) + "\n"


def asked_port(options):
    """(port, server started for it or None)."""
    if options.port:
        return options.port, None
    sys.path.insert(0, str(REPOSITORY / "tests" / "integration"))
    from harness import Server
    server = Server()
    return server.port, server


def main():
    """Checks or writes the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="correct the page")
    parser.add_argument("--port", type=int, help="use this running server")
    options = parser.parse_args()
    port, server = asked_port(options)
    names = server_commands(port)
    if server:
        server.close()
    text = PAGE.read_text("utf-8")
    if options.write:
        PAGE.write_text(corrected(text, names), "utf-8")
        text = PAGE.read_text("utf-8")
    found = differences(page_rows(text), names)
    print("\n".join(found) or f"{len(names)} commands and subcommands, as the page says")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
