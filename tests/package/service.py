# SPDX-License-Identifier: BSD-3-Clause
"""Starts the service of a Debian root as systemd would, as far as that goes without systemd: the unit's command line,
its user, its limit of open files, and its messages."""

import configparser
import os
import resource
import signal
import socket
import subprocess

WAIT_S = 120
UNIT = "usr/lib/systemd/system/cairn.service"


class Unit(configparser.RawConfigParser):
    """A unit file. Names keep their case; of a repeated name the last counts."""

    def __init__(self, path):
        super().__init__(strict=False, interpolation=None)
        self.optionxform = str
        self.read(path)


class Service:
    """The server of a root, from READY=1 until its end."""

    def __init__(self, root):
        self.unit = Unit(root.path / UNIT)["Service"]
        address = root.path / "run" / "notify"
        address.unlink(missing_ok=True)
        self.receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.receiver.bind(str(address))
        self.receiver.settimeout(WAIT_S)
        os.chmod(address, 0o777)
        self.log = root.path / "tmp" / "server.log"
        with open(self.log, "ab") as log:
            self.process = root.spawn(*self.unit["ExecStart"].split(), user=self.unit["User"], stdout=log,
                                      stderr=subprocess.STDOUT, environment={"NOTIFY_SOCKET": "/run/notify"},
                                      preexec_fn=self._limit_files)

    def _limit_files(self):
        limit = min(int(self.unit["LimitNOFILE"]), resource.getrlimit(resource.RLIMIT_NOFILE)[1])
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))

    def __enter__(self):
        assert self.unit["Type"] == "notify"
        try:
            self._expect("READY=1")
        except BaseException:
            self.process.kill()
            raise
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self._expect("STOPPING=1")
            assert self.process.wait(WAIT_S) == 0, self.log.read_text()
        finally:
            if self.process.poll() is None:
                self.process.kill()
            self.receiver.close()

    def _expect(self, line):
        try:
            message = self.receiver.recv(4096).decode()
        except TimeoutError:
            raise AssertionError(f"no {line}; the log: {self.log.read_text()}") from None
        assert line in message.splitlines(), message
