# SPDX-License-Identifier: BSD-3-Clause
"""A client that returns replies as they are on the wire.

Client libraries convert replies to their own values and so hide some differences: an error loses its prefix, a simple
string and a bulk string become the same. Here a reply is a pair of its RESP type byte and its content, and two replies
are equal only if both are.

`Pair` sends a command to two servers and asserts that the replies are equal.
"""

import socket

AGGREGATES = b"*~>%"
TIMEOUT_S = 60


class RawClient:
    """One connection to a server."""

    def __init__(self, port, protocol=2, host="127.0.0.1"):
        self.socket = socket.create_connection((host, port), TIMEOUT_S)
        self.stream = self.socket.makefile("rb")
        if protocol == 3:
            self("hello", "3")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Closes the connection."""
        self.stream.close()
        self.socket.close()

    def __call__(self, *words):
        """Sends one command of text, bytes or numbers; returns its reply."""
        self.send(*words)
        return self.read()

    def send(self, *words):
        """Sends one command; `read` returns the reply."""
        self.send_together(words)

    def send_together(self, *commands):
        """Sends commands, each a tuple of words, in one piece; `read` returns the replies."""
        parts = []
        for words in commands:
            encoded = [w if isinstance(w, bytes) else str(w).encode() for w in words]
            parts.append(b"*%d\r\n" % len(encoded))
            parts += [b"$%d\r\n%s\r\n" % (len(word), word) for word in encoded]
        self.socket.sendall(b"".join(parts))

    def read(self):
        """The next reply: (type, content)."""
        line = self.stream.readline()
        if not line:
            raise ConnectionError("the server closed the connection")
        kind, rest = line[:1], line[1:-2]
        if kind in AGGREGATES:
            count = int(rest) * (2 if kind == b"%" else 1)
            return kind, None if count < 0 else [self.read() for _ in range(count)]
        if kind in b"$=" and int(rest) >= 0:
            content = self.stream.read(int(rest) + 2)
            return kind, content[:-2]
        return kind, rest


class Pair:
    """The server under test and a redis-server, which get the same commands."""

    def __init__(self, ours, theirs, protocol=2):
        self.ours = RawClient(ours.port, protocol)
        self.theirs = RawClient(theirs.port, protocol)

    def close(self):
        """Closes both connections."""
        self.ours.close()
        self.theirs.close()

    def __call__(self, *words, normal=lambda reply: reply):
        """Asserts that both replies are the same after `normal`; returns it."""
        mine, reference = self.ours(*words), self.theirs(*words)
        assert normal(mine) == normal(reference), words
        return mine

    def lines(self, text):
        """Sends every line of `text`, its words separated by spaces; '' is an empty word."""
        for line in filter(None, map(str.strip, text.splitlines())):
            self(*("" if word == "''" else word for word in line.split(" ")))


def leaves(reply):
    """The contents of a reply without its structure, as a flat list."""
    kind, content = reply
    if kind in AGGREGATES:
        return [leaf for item in content or [] for leaf in leaves(item)]
    return [content]


def unordered(reply):
    """The reply with the elements of its arrays and sets in a fixed order."""
    kind, content = reply
    if kind in AGGREGATES and content is not None:
        return kind, sorted((unordered(item) for item in content), key=repr)
    return reply
