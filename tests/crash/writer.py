# SPDX-License-Identifier: BSD-3-Clause
"""A client that writes until the server dies, and then knows the expected data.

It sends pipelines and applies the operation of each reply to its model. The rest are "in flight": the server may or may
not have run them. Commands of one connection run in order, so after a restart the data must be the state after all
acknowledged commands and the first few in flight.
"""

import copy

from client_thread import ClientThread
from model import Operations
from resp import ParseError, encode, parse


class Writer(ClientThread):
    """Writes random operations on keys that only it uses, from its own thread."""

    def __init__(self, rng, name):
        self.rng, self.name = rng, name
        self.operations = Operations(rng, name)
        self.data = {}  # the state after every acknowledged command
        self.in_flight = []
        self.acknowledged = 0

    def work(self, socket):
        """Writes until the server dies."""
        while self._write_batch(socket):
            pass

    def _write_batch(self, socket):
        batch = [self.operations.draw() for _ in range(self.rng.choice((1, 1, 5, 40)))]
        self.in_flight = batch
        buffer, at, replies = b"", 0, 0
        try:
            socket.sendall(b"".join(encode(operation.words) for operation in batch))
            while replies < len(batch):
                chunk = socket.recv(1 << 16)
                if not chunk:
                    break
                buffer += chunk
                replies, at = self._count_replies(buffer, at, replies, batch)
        except OSError:
            pass  # the kill
        for operation in batch[:replies]:
            operation.apply(self.data)
        self.acknowledged += replies
        self.in_flight = batch[replies:]
        return not self.in_flight

    @staticmethod
    def _count_replies(buffer, at, replies, batch):
        while at < len(buffer) and replies < len(batch):
            try:
                reply, end = parse(buffer, at)
            except (ParseError, ValueError):
                break  # not complete yet
            if end > len(buffer):
                break
            operation = batch[replies]
            # A RENAME of a missing key is the only error these operations may get.
            assert reply[0] != b"-" or operation.words[0] == b"RENAME", (operation.words, reply)
            replies, at = replies + 1, end
        return replies, at

    def settle(self, found):
        """Checks the data after a restart; returns the number of in-flight writes that were kept."""
        state = self.data
        if state == found:
            self.in_flight = []
            return 0
        state = copy.deepcopy(state)
        for kept, operation in enumerate(self.in_flight, 1):
            operation.apply(state)
            if state == found:
                self.data, self.in_flight = state, []
                return kept
        raise AssertionError(self._explain(found))

    def _explain(self, found):
        lines = [
            f"{self.name.decode()}: {self.acknowledged} writes acknowledged, "
            f"{len(self.in_flight)} in flight; the data are no state in between:"
        ]
        for key in sorted(self.data.keys() | found.keys()):
            if self.data.get(key) != found.get(key):
                lines.append(
                    f"  {key!r}: {str(self.data.get(key))[:200]} acknowledged,"
                    f" {str(found.get(key))[:200]} found"
                )
        lines += [f"  in flight: {o.words[:4]}" for o in self.in_flight[:10]]
        return "\n".join(lines)
