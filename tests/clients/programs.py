# SPDX-License-Identifier: BSD-3-Clause
"""Builds programs that use third-party libraries, and runs them against a server: those of tests/clients and
tests/frameworks.

A program takes a host and a port and prints "NAME: N passed, N failed" as its last line. The folder with its sources is
copied to build/ and built there, once for each version of its sources. A program is skipped, with a visible message, if
its toolchain is missing or too old.
"""

import argparse
import dataclasses
import filecmp
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
sys.path.insert(0, str(HERE.parent / "integration"))

import harness  # noqa: E402

BUILD_LIMIT_S = 900
RUN_LIMIT_S = 600


@dataclasses.dataclass(frozen=True)
class Program:
    """A program: its library, how to get its toolchain's version, how to build and run it."""

    name: str
    library: str
    version: list  # prints the toolchain's version
    at_least: tuple
    build: list
    run: list
    folder: str = ""  # the folder of its sources, if not named like the program

    def source(self, home):
        """The folder with its sources."""
        return home / (self.folder or self.name)

    def target(self, home):
        """The folder in which it is built and run."""
        return REPOSITORY / "build" / home.name / (self.folder or self.name)


def missing_toolchain(program):
    """Why this machine cannot build the program, or None."""
    for command in (program.version, program.build, program.run):
        tool = command[0] if command else program.version[0]
        if not tool.startswith("./") and not shutil.which(tool):
            return f"{tool} is not installed"
    found = subprocess.run(program.version, text=True, capture_output=True, check=False)
    numbers = re.search(r"(\d+)\.(\d+)", re.sub(r"\x1b\[[0-9;]*m", "", found.stdout))
    if not numbers:
        return f"{program.version[0]} does not tell its version"
    if tuple(map(int, numbers.groups())) < program.at_least:
        wanted = ".".join(map(str, program.at_least))
        return f"{program.version[0]} {numbers.group()} is older than {wanted}"
    return None


def source_files(folder):
    """The files of a program's folder, as paths relative to it."""
    return sorted(
        p.relative_to(folder)
        for p in folder.rglob("*")
        if p.is_file() and "__pycache__" not in p.parts
    )


def is_built(program, home):
    """Whether build/ has a finished build of exactly these sources."""
    source, target = program.source(home), program.target(home)
    return (target / "built").exists() and all(
        (target / file).exists() and filecmp.cmp(source / file, target / file, shallow=False)
        for file in source_files(source)
    )


def build(program, home):
    """Copies and builds the program; returns the build's output if it failed."""
    target = program.target(home)
    target.mkdir(parents=True, exist_ok=True)
    (target / "built").unlink(missing_ok=True)
    for file in source_files(program.source(home)):
        (target / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(program.source(home) / file, target / file)
    if program.build:
        print(f"{program.library}: {shlex.join(program.build)}", flush=True)
        done = subprocess.run(
            program.build,
            cwd=target,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=BUILD_LIMIT_S,
            check=False,
        )
        if done.returncode != 0:
            return done.stdout[-3000:]
    (target / "built").touch()
    return None


def run_program(program, home, host, port):
    """Runs the program and prints its output; returns (passed, failed)."""
    try:
        done = subprocess.run(
            [*program.run, host, str(port)],
            cwd=program.target(home),
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=RUN_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        print(f"{program.library}: no end after {RUN_LIMIT_S} s\n{error.stdout or ''}")
        return 0, 1
    print(done.stdout, end="", flush=True)
    counts = re.findall(r"(\d+) passed, (\d+) failed", done.stdout)
    passed, failed = map(int, counts[-1]) if counts else (0, 1)
    if done.returncode != 0 and failed == 0:
        print(f"{program.library}: exit status {done.returncode}")
        failed = 1
    return passed, failed


def try_program(program, home, options):
    """Builds and runs one program; returns (passed, failed, skipped)."""
    reason = missing_toolchain(program)
    if not reason and options.quick and program.build and not is_built(program, home):
        reason = "not built yet, and --quick builds nothing"
    if reason:
        print(f"*** SKIPPED {program.library}: {reason} ***", flush=True)
        return 0, 0, 1
    if not is_built(program, home):
        trouble = build(program, home)
        if trouble:
            print(f"{program.library} does not build:\n{trouble}")
            return 0, 1, 0
    if options.port:
        return *run_program(program, home, options.host, options.port), 0
    command = shlex.split(options.server) if options.server else None
    with harness.Server(command=command) as server:
        counts = run_program(program, home, server.host, server.port)
        if not server.is_running():
            print(f"the server ended with {server.process.returncode}:\n{server.log_tail()}")
    return *counts, 0


def arguments(description, programs):
    """The command line of a `run` script."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", type=lambda t: t.split(","), help=f"e.g. {programs[-1].name}")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, help="a running server; its data will be lost")
    parser.add_argument("--server", help="command line of the server to start")
    options = parser.parse_args()
    unknown = set(options.only or ()) - {program.name for program in programs}
    if unknown:
        parser.error(f"there is no {', '.join(sorted(unknown))}")
    return options


def run_all(description, programs, home):
    """Runs the programs selected on the command line; returns the exit status."""
    options = arguments(description, programs)
    totals = [0, 0, 0]
    try:
        for program in programs:
            if not options.only or program.name in options.only:
                for index, count in enumerate(try_program(program, home, options)):
                    totals[index] += count
    except (RuntimeError, OSError, subprocess.TimeoutExpired) as failure:
        print(f"{home.name}: {failure}", file=sys.stderr)
        return 2
    print(f"{totals[0]} passed, {totals[1]} failed, {totals[2]} skipped")
    return 1 if totals[1] else 0 if totals[0] or options.quick else 2
