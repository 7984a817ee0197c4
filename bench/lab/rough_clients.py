# SPDX-License-Identifier: BSD-3-Clause
"""Clients that are hard on a server's memory: slow readers, deletes of large collections, scans, large scripts.

Each is a thread that repeats its task until it is stopped. An error that says that the server has no memory for the
task is an answer, too; so is a connection that the server closed for a client with too many unread replies.
"""

import contextlib
import socket
import threading
import time

import redis

from wire import encode_command

SLOW_BYTES = 64 * 1024
MEMBERS = 300_000
BATCH = 1000
# Builds 100 MB in a Lua state.
SCRIPT = "local t = {} for i = 1, 100 do t[i] = string.rep(tostring(i), 1048576 / #tostring(i)) end return #t"


class RoughClients:
    """The threads, during the `with` block; `rounds` counts the finished rounds of each task by name.

    `pause_s` is the time between two commands of a task, for a machine that they would keep busy.
    """

    def __init__(self, port: int, pause_s: float = 0):
        self.port = port
        self.pause_s = pause_s
        self.rounds: dict[str, int] = {}
        self.answers: dict[str, int] = {}
        self._done = threading.Event()
        tasks = [("slow reader", self._read_slowly)] * 4 + [("large delete", self._delete_large)] * 2 + [
            ("scan", self._scan), ("script", self._run_script)]
        self._threads = [threading.Thread(target=self._repeat, args=(name, number, task), daemon=True)
                         for number, (name, task) in enumerate(tasks)]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._done.set()
        for thread in self._threads:
            thread.join(60)

    def _repeat(self, name, number, task):
        while not self._done.is_set():
            with contextlib.suppress(OSError, redis.ConnectionError):
                try:
                    task(number)
                except redis.ResponseError as error:
                    text = f"{name}: {str(error)[:60]}"
                    self.answers[text] = self.answers.get(text, 0) + 1
                self.rounds[name] = self.rounds.get(name, 0) + 1
            self._done.wait(0.2)

    def _client(self):
        return redis.Redis(port=self.port, socket_timeout=300)

    def _fill_set(self, client, key):
        for first in range(0, MEMBERS, BATCH):
            if self._done.is_set():
                return
            client.sadd(key, *(f"member:{first + i}:of:a:large:set" for i in range(BATCH)))
            self._done.wait(self.pause_s)

    def _read_slowly(self, number):
        """Asks for 30 replies of 3 MB in a pipeline and reads 3 MB a second of them."""
        key = f"rough:read:{number}"
        with self._client() as client:
            if client.llen(key) == 0:
                for _ in range(30):
                    client.rpush(key, *(b"%0100d" % i for i in range(BATCH)))
        with socket.create_connection(("127.0.0.1", self.port)) as connection:
            connection.settimeout(60)
            connection.sendall(encode_command(b"LRANGE", key.encode(), b"0", b"-1") * 30)
            left = 30 * 3_000_000
            while left > 0 and not self._done.is_set():
                got = len(connection.recv(SLOW_BYTES))
                if got == 0:
                    return
                left -= got
                time.sleep(got / 3_000_000)

    def _delete_large(self, number):
        key = f"rough:delete:{number}"
        with self._client() as client:
            self._fill_set(client, key)
            client.delete(key)

    def _scan(self, _number):
        with self._client() as client:
            for count, _ in enumerate(client.scan_iter(count=500)):
                if count > 500_000 or self._done.is_set():
                    return
                if count % 500 == 0:
                    self._done.wait(self.pause_s)

    def _run_script(self, _number):
        with self._client() as client:
            client.eval(SCRIPT, 0)
        self._done.wait(2)
