# SPDX-License-Identifier: BSD-3-Clause
"""One tclsh that runs one file of Redis's Tcl suite, unmodified, and reports every test.

The suite has a "test server", which assigns files and prints results, and "test clients", which run them. Its test
server stops at the first exception and does not list passed tests. So this module takes its place: it listens, a test
client connects, and it sends the client code to evaluate and a file to run.

Before the file it sends a prelude, which replaces two procedures in that process:
  * `send_data_packet` reports one line per event, with the text in hex, so no server reply can be mistaken for framing.
  * `test` opens a new connection after a failure. A test that fails halfway leaves unread replies, or the connection in
    RESP3, and would make the next tests fail.

Events are (kind, text, milliseconds): testing, ok, err, skip, ignore, exception, done.
"""

import os
import signal
import socket
import subprocess

REPORT = r"""
fconfigure $::test_server_fd -translation binary
proc send_data_packet {fd status data {elapsed 0}} {
    puts $fd "$status $elapsed [binary encode hex [encoding convertto utf-8 $data]]"
    flush $fd
}
"""
RENEW = r"""
rename test suite_test
proc test {args} {
    set failures $::num_failed
    uplevel 1 [list suite_test {*}$args]
    if {$::num_failed > $failures} { catch { reconnect } }
}
"""

CONNECT_TIMEOUT_S = 120


def tcl_word(text):
    """Quotes `text` as one word of a Tcl list."""
    escaped = "".join(
        "\\n" if c == "\n" else c if c.isalnum() and c.isascii() else "\\" + c for c in text
    )
    return escaped or "{}"


def tcl_list(*words):
    """A Tcl list of these words."""
    return " ".join(tcl_word(word) for word in words)


class Silence(Exception):
    """The file reported no event for the longest time that one test may take."""


class TestProcess:
    """A tclsh that runs a file and reports to a socket of this program: iterate over `events()`, then `close()`.

    `command` is a function of the port that it reports to. `environment` is that of the processes."""

    def __init__(self, tree, command, log_path, environment=None):
        self.listener = socket.create_server(("127.0.0.1", 0))
        with open(log_path, "ab") as log:
            self.process = subprocess.Popen(
                command(self.listener.getsockname()[1]),
                cwd=tree,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        try:
            self.listener.settimeout(CONNECT_TIMEOUT_S)
            self.connection, _ = self.listener.accept()
            self.lines = self.connection.makefile("rb")
        except OSError:
            self.close()
            raise

    def events(self, silence_s):
        """Yields events until the file is done or the process ends; raises Silence after `silence_s()` without an
        event."""
        while True:
            self.connection.settimeout(silence_s())
            try:
                line = self.lines.readline()
            except TimeoutError as error:
                raise Silence from error
            except OSError:
                line = b""
            if not line:
                yield "exit", "", 0
                return
            kind, elapsed, text = (line.decode("ascii").rstrip("\n").split(" ") + [""])[:3]
            yield kind, bytes.fromhex(text).decode("utf-8", "replace"), int(elapsed)
            if kind == "done":
                return

    def close(self):
        """Stops the tclsh and its child processes (load generators)."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        for channel in ("connection", "listener"):
            if hasattr(self, channel):
                getattr(self, channel).close()


class SuiteProcess(TestProcess):
    """A test client of the suite that runs `unit`.

    `where` are the suite's options that select its servers. `renews`: a failed test is followed by a new connection;
    this is for files that open no connections themselves.
    """

    def __init__(self, tree, unit, where, tags, skip_tests, log_path, environment=None, renews=True):
        command = ["tclsh", "tests/test_helper.tcl", *where, "--durable", "--tags", " ".join("-" + tag for tag in tags)]
        for name in skip_tests:
            command += ["--skiptest", name]
        super().__init__(tree, lambda port: [*command, "--client", str(port)], log_path, environment)
        self.unit = unit
        try:
            self._begin(REPORT + RENEW if renews else REPORT)
        except OSError:
            self.close()
            raise

    def _begin(self, prelude):
        self.connection.settimeout(CONNECT_TIMEOUT_S)
        self.lines.readline()  # the length of the packet 'ready', which has no newline of its own
        self._send("run_code", tcl_list("prelude", "prelude", prelude))
        first = self.lines.readline()  # so 'ready' and the prelude's 'done' share a line
        if b"done" not in first:
            raise ConnectionError(f"the test client did not begin: {first!r}")
        self._send("run", self.unit)

    def _send(self, kind, text):
        packet = tcl_list(kind, text).encode("ascii")
        self.connection.sendall(b"%d\n%s" % (len(packet), packet))
