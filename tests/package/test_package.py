# SPDX-License-Identifier: BSD-3-Clause
"""The Debian package in a fresh Debian: it installs, its service serves, an upgrade keeps data and configuration, and a
purge leaves nothing."""

import os
import re
import shutil
import stat
import subprocess

import pytest
from harness import free_port
from service import UNIT, Service

CONF = "etc/cairn/cairn.conf"


def configure(root, **directives):
    """Changes directives in the configuration file, as an administrator would."""
    path = root.path / CONF
    text = path.read_text()
    for name, value in directives.items():
        text, found = re.subn(rf"(?m)^{name.replace('_', '-')} .*$", f"{name.replace('_', '-')} {value}", text)
        assert found == 1, name
    path.write_text(text)


def cli(port, *words):
    """The reply of the server, by redis-cli."""
    done = subprocess.run(["redis-cli", "-p", str(port), *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def permissions(root, path):
    """The owner's name, the group's name and the mode of a file in the root."""
    return root.run("stat", "-c", "%U %G %a", f"/{path}").strip()


def test_a_service_is_installed_upgraded_and_purged(root, older_package, package):
    before = root.files()
    accounts = (root.path / "etc/passwd").read_text()
    moved = root.path / "var/lib/cairn/moved"  # the data of another machine, whose user had another number
    moved.parent.mkdir()
    moved.touch()
    os.chown(moved, 12345, 12345)
    root.install(older_package)
    assert permissions(root, "var/lib/cairn") == "cairn cairn 750"
    assert permissions(root, "var/lib/cairn/moved").startswith("cairn cairn ")
    assert permissions(root, CONF) == "cairn cairn 640"
    assert permissions(root, "etc/cairn") == "root cairn 2770"
    assert (root.path / "etc/systemd/system/multi-user.target.wants/cairn.service").is_symlink()

    port = free_port()
    configure(root, port=port, timeout=77)
    with Service(root):
        assert cli(port, "SET", "key", "value") == "OK"
        assert cli(port, "CONFIG", "SET", "maxclients", "1234") == "OK"
        assert cli(port, "CONFIG", "REWRITE") == "OK"
        assert "process_supervised:systemd" in cli(port, "INFO", "server")
        assert int(cli(port, "CONFIG", "GET", "maxclients").split()[1]) == 1234
    assert stat.S_IMODE((root.path / CONF).stat().st_mode) == 0o640

    root.install(package)
    assert permissions(root, CONF) == "cairn cairn 640"
    with Service(root):
        assert cli(port, "GET", "key") == "value"
        assert cli(port, "CONFIG", "GET", "timeout") == "timeout\n77"
        assert cli(port, "CONFIG", "GET", "maxclients") == "maxclients\n1234"

    root.run("dpkg", "--remove", "cairn")
    assert (root.path / CONF).exists() and (root.path / "var/lib/cairn/CURRENT").exists()
    root.install(package)
    with Service(root):
        assert cli(port, "GET", "key") == "value"

    root.run("dpkg", "--purge", "cairn")
    root.run("apt-get", "autoremove", "--purge", "-q", "-y")
    backups = {"etc/passwd-", "etc/group-", "etc/shadow-", "etc/gshadow-"}  # made by userdel
    assert root.files() - before <= backups
    assert (root.path / "etc/passwd").read_text() == accounts


def test_the_package_names_its_contents(package):
    def show(flag):
        return subprocess.run(["dpkg-deb", flag, package], capture_output=True, text=True, check=True).stdout

    control = show("--info")
    assert "Package: cairn\n" in control
    assert "conffiles" not in control  # the server changes its configuration file, so dpkg would ask at each upgrade
    for library in ("librocksdb", "libjemalloc2", "libssl3", "libevent-2.1-7"):
        assert (library in control) == (library != "librocksdb")  # RocksDB is linked into the program
    contents = show("--contents")
    for path in ("usr/bin/cairn-server", "usr/bin/cairn-check", "usr/share/man/man1/cairn-server.1", UNIT,
                 "usr/lib/sysusers.d/cairn.conf", "usr/share/cairn/cairn.conf", "usr/share/doc/cairn/copyright"):
        assert f" ./{path}\n" in contents, path
    assert all(" root/root " in line for line in contents.splitlines())


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_systemd_understands_the_unit(root, package):
    root.install(package)
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", f"--root={root.path}",
                           "cairn.service"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
