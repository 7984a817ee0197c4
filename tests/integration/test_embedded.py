# SPDX-License-Identifier: BSD-3-Clause
"""The installed library: a program is built against it and run, and a server reads what it has written."""

import os
import pathlib
import subprocess

import pytest

from harness import REPOSITORY, SANITIZER, Server, default_command

SOURCE = REPOSITORY / "tests" / "embedded" / "sessions.cc"
BUILD = pathlib.Path(default_command()[0]).parent


def run(*command, **environment):
    """The program's output; the test fails if it does."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, env={**os.environ, **environment},
                          check=False)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


@pytest.mark.skipif(not (BUILD / "src" / "libcairn.a").exists(), reason="the library of this build is not built")
@pytest.mark.skipif(bool(SANITIZER), reason="a program is linked without the sanitizer")
@pytest.mark.slow
def test_a_program_is_built_against_the_installed_library(tmp_path):
    prefix, program, data = tmp_path / "prefix", tmp_path / "sessions", tmp_path / "data"
    run("cmake", "--install", BUILD, "--prefix", prefix, "--component", "embedded")
    [package] = prefix.rglob("cairn.pc")
    flags = run("pkg-config", "--cflags", "--libs", "cairn", PKG_CONFIG_PATH=str(package.parent)).split()
    run("c++", "-std=c++20", "-Wall", "-Werror", SOURCE, "-o", program, *flags)
    lines = run(program, data).splitlines()
    assert "session:1 is alice's" in lines and "session:1=alice" in lines
    assert not any(line.startswith("session:3=") for line in lines)
    with Server(data_dir=data, memory_budget="64mb") as server:
        client = server.client()
        assert client.get("session:1") == b"alice"
        assert 1_700_000 < client.pttl("session:1") <= 1_800_000
        assert client.exists("session:2", "session:3") == 0
        client.set("session:4", "dave")
        server.shutdown()
    assert "session:4=dave" in run(program, data)
