# SPDX-License-Identifier: BSD-3-Clause
"""A RESP2 and RESP3 client that returns replies as they are on the wire.

Client libraries convert replies and lose differences: a status and a bulk string look the same, a nil array like a nil
bulk, a set like an array. Here a reply is a pair of its type byte and its content:

    (b'+', b'OK')  (b'-', b'ERR ...')  (b':', 5)  (b'$', b'x' or None)  (b'*', [..] or None)
    (b'%', [k, v, ...])  (b'~', [..])  (b',', b'1.5')  (b'#', b't')  (b'_', None)  (b'(', b'..')
    (b'=', b'txt:..')  (b'>', [..])

A batch is sent as a whole and read as a whole, up to the reply of a last ECHO with unique text. So two servers' batches
can be compared as bytes first; only those that differ are parsed.
"""

import itertools
import socket

AGGREGATES = b"*~>"


class ParseError(Exception):
    """The bytes are not RESP."""


def encode(words):
    """A command as an array of bulk strings."""
    parts = [b"*%d\r\n" % len(words)]
    for word in words:
        parts.append(b"$%d\r\n%s\r\n" % (len(word), word))
    return b"".join(parts)


def parse(buffer, at=0):
    """The reply that begins at `at`, and the position after it."""
    end = buffer.find(b"\r\n", at)
    if end < 0:
        raise ParseError(f"no line end after {buffer[at : at + 60]!r}")
    kind, line, at = buffer[at : at + 1], buffer[at + 1 : end], end + 2
    if kind == b"$" or kind == b"=":
        size = int(line)
        if size < 0:
            return (kind, None), at
        return (kind, buffer[at : at + size]), at + size + 2
    if kind == b":":
        return (kind, int(line)), at
    if kind in b"+-,#(":
        return (kind, line), at
    if kind == b"_":
        return (kind, None), at
    if kind in AGGREGATES or kind in b"%|":
        return _parse_aggregate(buffer, at, kind, int(line))
    raise ParseError(f"unknown type {kind!r} in {buffer[max(0, at - 60) : at + 20]!r}")


def _parse_aggregate(buffer, at, kind, size):
    if size < 0:
        return (kind, None), at
    items = []
    for _ in range(size * 2 if kind in b"%|" else size):
        item, at = parse(buffer, at)
        items.append(item)
    if kind == b"|":  # attributes belong to the reply after them
        item, at = parse(buffer, at)
        return (kind, [items, item]), at
    return (kind, items), at


def parse_all(buffer):
    """All replies in `buffer`."""
    replies, at = [], 0
    while at < len(buffer):
        reply, at = parse(buffer, at)
        replies.append(reply)
    return replies


def show(reply, limit=400):
    """A reply roughly as redis-cli prints it, with types."""
    kind, content = reply
    name = kind.decode()
    if isinstance(content, list):
        inner = ", ".join(show(item, limit) for item in content[:60])
        return f"{name}[{inner}{', ...' if len(content) > 60 else ''}]"
    return f"{name}{content!r}"[:limit]


class Connection:
    """One connection that speaks RESP version `protocol`."""

    def __init__(self, host, port, protocol=2, timeout_s=60):
        self.port = port
        self.socket = socket.create_connection((host, port), timeout_s)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.counter = itertools.count(1)
        self.protocol = protocol
        if protocol == 3:
            self.call(b"HELLO", b"3")

    def send_batch(self, payload):
        """Sends encoded commands and returns the mark that `read_batch` reads up to."""
        mark = b"<end of batch %d>" % next(self.counter)
        self.socket.sendall(payload + encode([b"ECHO", mark]))
        return mark

    def read_batch(self, mark):
        """The raw replies before the reply with the mark."""
        end = b"$%d\r\n%s\r\n" % (len(mark), mark)
        chunks, tail = [], b""
        while not tail.endswith(end):
            try:
                chunk = self.socket.recv(1 << 20)
            except TimeoutError as failure:
                raise TimeoutError(f"port {self.port} does not answer") from failure
            if not chunk:
                raise ConnectionError("the server closed the connection")
            chunks.append(chunk)
            tail = (tail + chunk)[-len(end) :]
        return b"".join(chunks)[: -len(end)]

    def pipeline(self, commands):
        """Sends commands (lists of words) together; returns their parsed replies."""
        mark = self.send_batch(b"".join(map(encode, commands)))
        return parse_all(self.read_batch(mark))

    def call(self, *words):
        """One command, one reply."""
        replies = self.pipeline([[w if isinstance(w, bytes) else str(w).encode() for w in words]])
        assert len(replies) == 1, replies
        return replies[0]

    def close(self):
        """Closes the connection."""
        self.socket.close()
