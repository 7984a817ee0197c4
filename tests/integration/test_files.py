# SPDX-License-Identifier: BSD-3-Clause
"""Files that the server writes: none of them replaces one of RocksDB's, and other users cannot read them."""

import os
import pathlib
import stat

import pytest
import redis
from harness import Server, default_command
from raw_client import RawClient

STORE_NAMES = ("CURRENT", "LOCK", "IDENTITY", "MANIFEST-000123", "OPTIONS-000007", "000005.sst", "000900.log", "LOG",
               "000003.blob", "archive")


def test_save_replaces_only_rdb_files():
    """SAVE with `dbfilename CURRENT` overwrote RocksDB's file, and the database did not open again."""
    with Server(enable_protected_configs=True) as server:
        client = server.client()
        client.set("k", "v")
        mine = server.data_dir / "mine"
        mine.write_text("not to be lost")
        for name in (*STORE_NAMES, "mine"):
            with pytest.raises(redis.ResponseError, match="dbfilename"):
                client.config_set("dbfilename", name)
        mine.unlink()
        client.config_set("dbfilename", "mine")
        mine.write_text("not to be lost")
        for words in (["SAVE"], ["DEBUG", "RELOAD"], ["SHUTDOWN", "SAVE"]):
            with pytest.raises(redis.ResponseError):
                client.execute_command(*words)
        assert mine.read_text() == "not to be lost" and "is not an RDB file" in server.log_tail()
        mine.write_text("")
        assert client.save() and client.save()
        assert mine.read_bytes().startswith(b"REDIS")
        server.restart()
        assert server.client().get("k") == b"v"


@pytest.mark.parametrize("directive", ["dbfilename", "aclfile", "pidfile", "logfile", "unixsocket", "listen"])
def test_no_directive_names_a_file_of_the_database(directive, tmp_path):
    """A log, a pid file or a socket that replaced CURRENT would lose the data."""
    with Server(data_dir=tmp_path) as server:
        server.client().set("k", "v")
        server.shutdown()
        current = (tmp_path / "CURRENT").read_bytes()
        value = {"dbfilename": "CURRENT", "aclfile": "./CURRENT", "listen": f"unix:{tmp_path}/x/../CURRENT"}.get(
            directive, tmp_path / "CURRENT")
        server.directives[directive] = value
        with pytest.raises(RuntimeError, match=f"{directive} names a file of the database"):
            server.start()
        del server.directives[directive]
        assert (tmp_path / "CURRENT").read_bytes() == current
        assert server.start().client().get("k") == b"v"


@pytest.mark.parametrize("directive", ["unixsocket", "listen"])
def test_a_unix_socket_replaces_only_a_socket(directive, tmp_path):
    """The server reports it; it crashed when a `listen` line failed."""
    path = tmp_path / "mine"
    path.write_text("not to be lost")
    with pytest.raises(RuntimeError, match="exited with 1 at start(.|\n)*cannot listen on .*: Address already in use"):
        Server(**{directive: f"unix:{path}" if directive == "listen" else path})
    assert path.read_text() == "not to be lost"


def modes(folder):
    """{path: permissions} of the folder and everything in it."""
    return {path: stat.S_IMODE(path.lstat().st_mode) for path in [folder, *folder.rglob("*")]}


@pytest.mark.slow
def test_others_cannot_read_what_the_server_writes(tmp_path):
    """With the usual umask, 022, everything was readable by all users."""
    command = ["sh", "-c", 'umask 022; exec "$@"', "sh", *default_command()]
    data = tmp_path / "data"
    acl = tmp_path / "users.acl"
    acl.write_text("user default on nopass ~* &* +@all\n")
    acl.chmod(0o604)
    with Server(command, dir=data, logfile=tmp_path / "log", pidfile=tmp_path / "pid", unixsocket=tmp_path / "socket",
                unixsocketperm=777, aclfile=acl) as server:
        client = server.client()
        client.set("k", "x" * 100_000)
        client.save()
        client.execute_command("COMPACT")
        client.execute_command("ACL", "SAVE")
        assert modes(data)[data] == 0o750 and modes(data)[data / "dump.rdb"] == 0o640
        assert not [(path, oct(mode)) for path, mode in modes(data).items() if mode & 0o027]
        assert len(modes(data)) > 8
        found = {path.name: mode for path, mode in modes(tmp_path).items()}
        assert (found["log"], found["pid"]) == (0o640, 0o640)
        assert found["socket"] == 0o777  # as configured
        assert found["users.acl"] == 0o604  # existing permissions are kept


def test_symbolic_links_are_not_followed(tmp_path):
    """Temporary names were predictable, and the server wrote through existing links."""
    victim = tmp_path / "victim"
    victim.write_text("not to be lost")
    pid = tmp_path / "pid"
    pid.symlink_to(victim)
    acl = tmp_path / "users.acl"
    acl.write_text("user default on nopass ~* &* +@all\n")
    with Server(pidfile=pid, aclfile=acl) as server, RawClient(server.port) as client:
        for i in range(5):
            (server.data_dir / f"dump.rdb.{server.pid}-{i}.tmp").symlink_to(victim)
        pathlib.Path(f"{acl}.{server.pid}.tmp").symlink_to(victim)
        assert client("save") == client("acl", "save") == (b"+", b"OK")
        assert victim.read_text() == "not to be lost"
        assert "Writing the pidfile" in server.log_tail()
        assert stat.S_ISREG(os.lstat(server.data_dir / "dump.rdb").st_mode)
