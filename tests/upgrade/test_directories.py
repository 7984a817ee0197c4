# SPDX-License-Identifier: BSD-3-Clause
"""A directory of every format of the disk that a released or a main build has written opens with all its values, and a
directory of a later format is refused with words and keeps its values."""

import pathlib
import shutil
import subprocess
import tarfile

import pytest
from contents import LATEST, fill, fill_log, modes, read
from harness import Server, tool_path

DIRECTORIES = pathlib.Path(__file__).resolve().parent / "directories"
FORMATS = range(1, LATEST + 1)


def unpack(version, folder):
    """The golden directory of a format, in a folder."""
    with tarfile.open(DIRECTORIES / f"format-{version}.tar.xz") as archive:
        archive.extractall(folder)
    return folder / "data"


def check(directory):
    """The output of cairn-check, which must find the directory whole."""
    done = subprocess.run([tool_path("cairn-check"), directory], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def expected():
    """The values that a server of this build has after the same commands, by format."""
    values = {}
    for version in FORMATS:
        with Server(**modes(version)) as server, server.client(single_connection_client=True) as client:
            fill(client, range(1, version + 1))
            fill_log(client)
            values[version] = read(client, version)
    return values


@pytest.mark.slow
@pytest.mark.parametrize("version", FORMATS)
def test_a_directory_is_upgraded_with_all_its_values(tmp_path, version, expected):
    directory = unpack(version, tmp_path)
    check(directory)
    with Server(data_dir=directory, **modes(LATEST)) as server:
        with server.client(single_connection_client=True) as client:
            assert read(client, version) == expected[version]
            fill(client, range(version + 1, LATEST + 1))  # what only later formats can hold
        server.restart("kill9")
        with server.client(single_connection_client=True) as client:
            assert read(client, LATEST) == expected[LATEST]
        server.shutdown()
    check(directory)


def write_format(directory, version):
    """Sets the format row of a directory."""
    subprocess.run(["ldb", f"--db={directory}", "--try_load_options", "--hex", "put", "0x" + b"format".hex(),
                    f"0x{version:02x}" + b"cairn".hex()], check=True, capture_output=True)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("ldb") is None, reason="ldb of rocksdb-tools is not installed")
def test_a_later_format_is_refused_with_words_and_keeps_its_values(tmp_path, expected):
    directory = unpack(LATEST, tmp_path)
    write_format(directory, LATEST + 1)
    words = f"the data is of format {LATEST + 1}, this program reads formats 1 to {LATEST}"
    with pytest.raises(RuntimeError, match=words):
        Server(data_dir=directory)
    for program, *arguments in (("cairn-export", "--dir", directory, tmp_path / "dump.rdb"),
                                ("cairn-import", "--dir", directory, "-"), ("cairn-check", directory)):
        done = subprocess.run([tool_path(program), *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, check=False)
        assert done.returncode != 0 and words in done.stdout + done.stderr, program
    write_format(directory, LATEST)
    with Server(data_dir=directory, **modes(LATEST)) as server, \
            server.client(single_connection_client=True) as client:
        assert read(client, LATEST) == expected[LATEST]
