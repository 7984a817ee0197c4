# SPDX-License-Identifier: BSD-3-Clause
"""Servers of older commits, which write older formats, beside this build: they refuse an upgraded directory, and a pair
of them is upgraded under load. scripts/test --only upgrade_older runs this; the first run builds the servers."""

import older
import pytest
from contents import modes
from harness import Server, default_command
from pairs import Load, assert_same, follow, wait_for_link
from test_directories import unpack

pytestmark = pytest.mark.older

FORMATS = sorted(older.COMMITS)
OPTIONS = {"repl_backlog_size": "64mb"}


@pytest.fixture(params=FORMATS, name="version")
def known_version(request):
    """A format whose commit is in the git history."""
    if not older.is_known(request.param):
        pytest.skip(f"this clone has no commit {older.COMMITS[request.param]}; fetch the whole history")
    return request.param


def test_an_older_server_refuses_an_upgraded_directory(tmp_path, version):
    directory = unpack(version, tmp_path)
    program = [str(older.build(version))]
    with Server(program, data_dir=directory, **modes(version)) as server:
        server.shutdown()
    with Server(data_dir=directory, **modes(version)) as server:
        server.shutdown()
    with pytest.raises(RuntimeError, match=rf"the data is of format 4, this program reads .*{version}"):
        Server(program, data_dir=directory, **modes(version))


def upgrade(server, **directives):
    """Ends a server in order and starts this build on its directory."""
    server.shutdown()
    server.command = default_command()
    server.directives.update(directives)
    server.start()


def test_a_pair_is_upgraded_one_by_one_under_load(version):
    program = [str(older.build(version))]
    with Server(program, **OPTIONS) as first, Server(program, **OPTIONS) as second:
        follow(second, first)
        with Load(first) as load:
            load.run(2000)
            upgrade(second, replicaof=f"127.0.0.1 {first.port}")
            wait_for_link(second)
            load.run(2000)
        assert_same(first, second)

        with second.client() as client:
            client.execute_command("REPLICAOF", "NO", "ONE")
        with Load(second, seed=10) as load:
            load.run(2000)
            upgrade(first, replicaof=f"127.0.0.1 {second.port}")
            wait_for_link(first)
            load.run(2000)
        assert_same(second, first)
        assert second.client().info("stats")["sync_full"] <= 1
