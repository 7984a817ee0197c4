# SPDX-License-Identifier: BSD-3-Clause
"""Encodes commands, and sends many of them quickly.

A load must be cheap and the same for every server, so it is encoded once, as chunks of commands, and sent unchanged.
Only the number of replies is checked, and that none is an error: a load uses commands with one-line replies.
"""

import socket
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import hiredis

CHUNK_BYTES = 256 * 1024


class Chunk(NamedTuple):
    """Encoded commands, and their number."""

    payload: bytes
    commands: int


def encode_command(*arguments: bytes) -> bytes:
    """One command as a RESP array of bulk strings."""
    return hiredis.pack_command(arguments)


def pack_chunks(commands: Iterable[tuple[bytes, ...]]) -> Iterator[Chunk]:
    """Encodes commands into chunks of about CHUNK_BYTES."""
    parts: list[bytes] = []
    size = 0
    for command in commands:
        encoded = encode_command(*command)
        parts.append(encoded)
        size += len(encoded)
        if size >= CHUNK_BYTES:
            yield Chunk(b"".join(parts), len(parts))
            parts, size = [], 0
    if parts:
        yield Chunk(b"".join(parts), len(parts))


class Connection:
    """A plain connection to a server."""

    def __init__(self, port: int, timeout_s: float = 120.0):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout_s)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send_chunk(self, chunk: Chunk):
        """Sends the chunk and waits for a one-line reply to each of its commands."""
        self.socket.sendall(chunk.payload)
        awaited = chunk.commands
        at_line_start = True
        while awaited > 0:
            replies = self.socket.recv(1 << 20)
            if not replies:
                raise ConnectionError("the server closed the connection during a load")
            if b"\n-" in replies or (at_line_start and replies[:1] == b"-"):
                raise RuntimeError(f"a load was refused: {replies[:200]!r}")
            awaited -= replies.count(b"\n")
            at_line_start = replies.endswith(b"\n")

    def load(self, chunks: Iterable[Chunk]):
        """Sends chunk after chunk."""
        for chunk in chunks:
            self.send_chunk(chunk)

    def exchange(self, payload: bytes, size: int) -> bytes:
        """Sends commands whose replies together have exactly `size` bytes, and returns them."""
        self.socket.sendall(payload)
        replies = bytearray()
        while len(replies) < size:
            try:
                received = self.socket.recv(size - len(replies))
            except TimeoutError:
                raise RuntimeError(f"{size} bytes awaited, got {bytes(replies[:200])!r}") from None
            if not received:
                raise ConnectionError("the server closed the connection")
            replies += received
        return bytes(replies)

    def pipeline(self, commands: list[tuple[bytes, ...]]) -> list:
        """Sends the commands in one go and returns the replies; an error reply is an exception."""
        self.socket.sendall(b"".join(encode_command(*command) for command in commands))
        reader = hiredis.Reader()
        replies = []
        while len(replies) < len(commands):
            received = self.socket.recv(1 << 18)
            if not received:
                raise ConnectionError("the server closed the connection")
            reader.feed(received)
            while (reply := reader.gets()) is not False:
                if isinstance(reply, hiredis.ReplyError):
                    raise RuntimeError(f"{commands[len(replies)]!r}: {reply}")
                replies.append(reply)
        return replies

    def ask(self, *arguments: str) -> bytes:
        """Sends one command with a one-line reply, and returns the line without its line end."""
        self.socket.sendall(encode_command(*(argument.encode() for argument in arguments)))
        reply = b""
        while not reply.endswith(b"\r\n"):
            received = self.socket.recv(4096)
            if not received:
                raise ConnectionError(f"the server closed the connection at {arguments[0]}")
            reply += received
        if reply.startswith(b"-"):
            raise RuntimeError(f"{' '.join(arguments)}: {reply.decode('utf-8', 'replace').strip()}")
        return reply[:-2]
