# SPDX-License-Identifier: BSD-3-Clause
"""docs/guide.md: its configuration lines and its commands do what the page says, with the addresses and ports of this
test. systemctl and apt are left to test_package.py."""

import contextlib
import re
import subprocess

import pytest
from harness import REPOSITORY, Server, free_port, tool_path
from waiting import wait_until

GUIDE = (REPOSITORY / "docs" / "guide.md").read_text()
DESCRIBED = re.compile(r"   +\S.*$")  # what a command shows, behind it
PASSWORD = "a-long-password"


def blocks(section):
    """The indented blocks of a section: lists of lines."""
    text = GUIDE.split(f"## {section}\n")[1].split("\n## ")[0]
    found = [[]]
    for line in text.splitlines():
        if line.startswith("    "):
            found[-1].append(line.strip())
        elif found[-1]:
            found.append([])
    return [block for block in found if block]


def directives(*names):
    """The configuration lines of the sections, as a dictionary."""
    lines = [line for name in names for block in blocks(name) for line in block]
    known = ("bind", "requirepass", "memory-budget", "masterauth", "repl-backlog-size", "backup-dir")
    return dict(line.split(None, 1) for line in lines if line.split()[0] in known)


def run(line, ports, paths):
    """Runs a command of the page; returns its output."""
    words = re.sub(r"^sudo (-u cairn )?", "", DESCRIBED.sub("", line)).split()
    host = words[words.index("-h") + 1] if "-h" in words else "10.0.0.1"
    if "-h" in words:
        del words[words.index("-h"):words.index("-h") + 2]
    words = [str(ports[host]) if word == "6380" else str(ports["sentinel"]) if word == "26379" else word
             for word in words]
    words = [re.sub("|".join(paths), lambda found: str(paths[found[0]]), word) for word in words]
    if words[0].startswith("cairn-"):
        words[0] = tool_path(words[0])
    environment = {"REDISCLI_AUTH": PASSWORD, "PATH": "/usr/bin:/bin"}
    done = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, (line, done.stdout, done.stderr)
    assert not re.match(r"ERR|NOAUTH|NOPERM|MISCONF|WRONGPASS|Invalid", done.stdout), (line, done.stdout)
    return done.stdout


def commands(section):
    """The commands of a section that run here."""
    for block in blocks(section):
        for line in block:
            if line.startswith(("redis-cli", "sudo cairn-", "sudo -u cairn cairn-")):
                yield line


@pytest.fixture(name="pair")
def a_and_b(tmp_path):
    """Both servers of the page, the second one a replica, and the paths of the page in this test."""
    settings = {**directives("One server", "A backup", "A pair"), "memory-budget": "64mb", "bind": "127.0.0.1"}
    with contextlib.ExitStack() as stack:
        ports, servers = {}, []
        for address in ("10.0.0.1", "10.0.0.2"):
            settings["backup-dir"] = tmp_path / "backups" if not ports else ""
            conf = tmp_path / f"{address}.conf"
            port = free_port()
            follows = f"replicaof 127.0.0.1 {ports['10.0.0.1']}\n" if ports else ""
            conf.write_text("".join(f'{name} "{value}"\n' for name, value in settings.items()) + follows)
            servers.append(stack.enter_context(Server([str(tool_path("cairn-server")), str(conf)], port=port)))
            ports[address] = port
        (tmp_path / "backups").mkdir()
        paths = {"/srv/backups": tmp_path / "backups", "/etc/cairn/cairn.conf": tmp_path / "10.0.0.1.conf"}
        yield servers, ports, paths


def start_sentinels(stack, folder, ports):
    """Starts three Sentinels with the lines of the page."""
    lines = "\n".join(next(block for block in blocks("Sentinel") if block[0].startswith("bind"))[1:])
    lines = lines.replace("10.0.0.1 6380", f"127.0.0.1 {ports['10.0.0.1']}")
    sentinels = []
    for number in range(3):
        conf = folder / f"sentinel-{number}.conf"
        port = free_port()
        conf.write_text(f"port {port}\nbind 127.0.0.1\ndir {folder}\n{lines}\n")
        process = subprocess.Popen(["redis-server", str(conf), "--sentinel"], stdout=subprocess.DEVNULL)
        stack.callback(process.wait)
        stack.callback(process.kill)
        sentinels.append(port)
    for port in sentinels:
        ping = ["redis-cli", "-p", str(port), "ping"]
        wait_until(lambda ping=ping: not subprocess.run(ping, capture_output=True, check=False).returncode, "Sentinel")
    return sentinels


@pytest.mark.slow
def test_every_command_of_the_page_works(pair, tmp_path):
    servers, ports, paths = pair
    for section in ("One server", "A backup"):
        for line in commands(section):
            run(line, ports, paths)
    with servers[0].client(password=PASSWORD) as client:
        wait_until(lambda: client.execute_command("BACKUP", "LIST"), "the backup", servers[0])
    with servers[1].client(password=PASSWORD) as client:
        wait_until(lambda: client.info("replication")["master_link_status"] == "up", "the link", servers[1])
    for line in commands("A pair"):
        shown = run(line, ports, paths)
        assert "master_link_status:up" in shown or shown == "hello\n"

    with contextlib.ExitStack() as stack:
        ports["sentinel"] = start_sentinels(stack, tmp_path, ports)[0]
        first, quorum, failover, last = commands("Sentinel")
        wait_until(lambda: "OK 3 usable Sentinels" in run(quorum, ports, paths), "the Sentinels")
        assert str(ports["10.0.0.1"]) in run(first, ports, paths)
        wait_until(lambda: run(failover, ports, paths) == "OK\n", "a replica that the Sentinels know")
        wait_until(lambda: str(ports["10.0.0.2"]) in run(last, ports, paths), "the failover")
