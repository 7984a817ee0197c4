#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares docs/commands.md with the commands of a running server.

    scripts/compatibility.py             prints the differences; exit status 1 if there are any
    scripts/compatibility.py --write     sets the page's states to those of the server
    scripts/compatibility.py --port N    uses a running server

The page lists every command and subcommand of Redis 7.2, Redis 8.10 and Valkey 9.1, in a table per group: a column for
each of these servers, and a remark. scripts/commands.tsv says which of them has the command; `-` stands for one that
does not. `full` and `partial` mean that Cairn has it (the remark says what is missing of a partial one), `absent` that
it does not (the remark says why). Cairn's own commands have `-` in all columns.
"""

import argparse
import csv
import pathlib
import re
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
PAGE = REPOSITORY / "docs" / "commands.md"
COMMANDS = REPOSITORY / "scripts" / "commands.tsv"
SERVERS = ("redis7.2", "redis8.10", "valkey9.1")  # in the order of the columns
CELL = "(full|partial|absent|-)"
ROW = re.compile(rf"^\| `([A-Z0-9_. -]+)` \| {CELL} \| {CELL} \| {CELL} \| (.*?) *\|$")
MISSING = "not built"


def servers_of_commands():
    """Command -> the names of the servers that have it."""
    with COMMANDS.open(encoding="utf-8", newline="") as table:
        return {row["command"]: row["servers"].split(",") for row in csv.DictReader(table, delimiter="\t")}


def page_rows(text):
    """Command -> (cells, remark), in the page's order."""
    rows = {}
    for line in text.splitlines():
        match = ROW.match(line)
        if match:
            name, *cells, remark = match.groups()
            if name in rows:
                raise ValueError(f"{name} stands on the page twice")
            rows[name] = (tuple(cells), remark)
    return rows


def state_of(cells):
    """full, partial or absent; own: no other server has the command."""
    return next((cell for cell in cells if cell != "-"), "own")


def cells_of(state, servers):
    """The cells of a command with this state."""
    return tuple(state if server in servers else "-" for server in SERVERS)


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
    servers = servers_of_commands()
    for name, (cells, remark) in rows.items():
        state = state_of(cells)
        if cells != cells_of(state, servers.get(name, ())):
            found.append(f"the columns of {name} do not agree with {COMMANDS.name}")
        if state != "absent" and name not in names:
            found.append(f"{name} is {state} on the page, and the server does not have it")
        if state == "absent" and name in names:
            found.append(f"{name} is absent on the page, and the server has it")
        if state in ("partial", "absent") and not remark:
            found.append(f"{name} is {state} without a remark that explains it")
    for name in sorted((names | set(servers)) - set(rows)):
        found.append(f"{name} is a command and not on the page")
    return found


def line_of(name, state, servers, remark):
    """A row of the page."""
    return f"| `{name}` | {' | '.join(cells_of(state, servers))} | {remark} |".replace("|  |", "| |")


def corrected(text, names):
    """The page with the states of the server's commands; a changed state removes the remark."""
    servers = servers_of_commands()
    lines = []
    for line in text.splitlines():
        match = ROW.match(line)
        if match:
            name, *cells, remark = match.groups()
            state = state_of(cells)
            if (state != "absent") != (name in names):
                state, remark = ("full", "") if name in names else ("absent", MISSING)
            line = line_of(name, state, servers.get(name, ()), remark)
        lines.append(line)
    for name in sorted((names | set(servers)) - set(page_rows(text))):
        state = "absent" if name not in names else "full" if name in servers else "own"
        lines.append(line_of(name, state, servers.get(name, ()), MISSING if state == "absent" else ""))
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
