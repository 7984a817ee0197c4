# SPDX-License-Identifier: BSD-3-Clause
"""Shared by the experiments of docs/decisions/: the compared servers, and the load generators in C."""

import shlex
import subprocess

from servers import ROOT, default_command


def read_cases(options: list[str] | None) -> dict[str, list[str]]:
    """The values of --case, "NAME=COMMAND", as command lines by name; by default the current build."""
    cases = (option.partition("=") for option in options or [])
    return {name: shlex.split(command) for name, _, command in cases} or {"today": default_command()}


def compile_program(name: str) -> str:
    """Compiles lab/NAME.c if it is newer than its program; returns the program's path."""
    source = ROOT / "bench" / "lab" / f"{name}.c"
    program = ROOT / "build" / "bench" / name
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        program.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cc", "-O2", "-Wall", "-o", str(program), str(source)], check=True)
    return str(program)
