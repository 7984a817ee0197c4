# SPDX-License-Identifier: BSD-3-Clause
"""A client with a thread and a connection of its own, which works until the server dies under it."""

import threading

from resp import Connection


class ClientThread:
    """`work(socket)` is the subclass's and returns when the connection has broken; `in_flight` tells, as something
    false, that nothing is under way."""

    in_flight = failure = thread = None

    def start(self, server):
        """Begins. REQUIRES: the state is settled, see `settle`."""
        assert not self.in_flight
        self.thread = threading.Thread(target=self._run, args=(server.host, server.port), daemon=True)
        self.thread.start()

    def join(self):
        """Waits until the connection has broken; raises what went wrong, if anything did."""
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
        except Exception as failure:  # whatever it is, the test's thread is to tell it
            self.failure = failure
        finally:
            connection.close()
