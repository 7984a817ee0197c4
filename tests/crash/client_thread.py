# SPDX-License-Identifier: BSD-3-Clause
"""A client with its own thread and connection, which works until the server dies."""

import threading

from resp import Connection


class ClientThread:
    """A subclass defines `work(socket)`, which returns when the connection breaks, and `in_flight`, which is falsy when
    no write is unacknowledged."""

    in_flight = failure = thread = None

    def start(self, server):
        """Starts the thread. REQUIRES: `settle` was called since the last run."""
        assert not self.in_flight
        self.thread = threading.Thread(target=self._run, args=(server.host, server.port), daemon=True)
        self.thread.start()

    def join(self):
        """Waits until the connection breaks; raises the thread's error, if there was one."""
        self.thread.join(60)
        assert not self.thread.is_alive(), "a client still waits for a reply"
        if self.failure:
            raise self.failure

    def _run(self, host, port):
        try:
            connection = Connection(host, port)
        except OSError:
            return
        try:
            self.work(connection.socket)
        except Exception as failure:  # any error is raised again on the test's thread, by join()
            self.failure = failure
        finally:
            connection.close()
