# SPDX-License-Identifier: BSD-3-Clause
"""Fake peers for tests: a replica that returns the raw bytes of the stream, a primary that sends what a test wants, and
a target of a migration of slots that does not say whether it has taken them over."""

import contextlib
import socket
import threading
import time

from raw_client import TIMEOUT_S

EMPTY_RDB = b"REDIS0010\xff" + bytes(8)  # without a checksum
FIRST_ID = b"a" * 40
FIRST_OFFSET = 1000


def encode(*words):
    """A command in the format of a stream."""
    parts = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)


class FakeReplica:
    """A replica of a server: it gets a full synchronization, which it discards, or the stream from a given byte on."""

    def __init__(self, port, resume=None, listening_port=1, marked=True, host="127.0.0.1"):
        """`resume`: another FakeReplica, whose offset in the stream this one continues."""
        self.socket = socket.create_connection((host, port), TIMEOUT_S)
        self.stream = b""
        self._ask("replconf", "listening-port", listening_port)
        self._ask("replconf", "capa", "psync2", *(["capa", "eof"] if marked else []))
        words = self._ask("psync", *((resume.id, resume.offset + 1) if resume else ("?", "-1"))).split()
        self.is_full = words[0] == b"+FULLRESYNC"
        self.id = words[1].decode()
        self.offset = int(words[2]) if self.is_full else resume.offset
        if self.is_full:
            self._pass_file_over()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def _ask(self, *words):
        self.socket.sendall(encode(*words))
        return self._line()

    def _line(self):
        """The next line that is not empty. It is read byte by byte, because the following bytes have another reader."""
        line = b""
        while not line.endswith(b"\n") or not line.strip():
            byte = self.socket.recv(1)
            assert byte, "the server closed the connection"
            line += byte
        return line.strip()

    def _pass_file_over(self):
        head = self._line()
        mark = head[5:] if head.startswith(b"$EOF:") else None
        size = 0 if mark else int(head[1:])
        content = b""
        while not content.endswith(mark) if mark else len(content) < size:
            content += self.socket.recv(65536 if mark else size - len(content))

    def read(self, seconds=0.5):
        """Receives bytes of the stream for this time and returns them; returns nothing if the connection has ended."""
        before = len(self.stream)
        self.socket.settimeout(0.05)
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                piece = self.socket.recv(1 << 20)
            except TimeoutError:
                continue
            if not piece:
                break
            self.stream += piece
            self.offset += len(piece)
        self.socket.settimeout(TIMEOUT_S)
        return self.stream[before:]

    def acknowledge(self):
        """Sends its offset."""
        self.socket.sendall(encode("replconf", "ack", self.offset))


class Listener:
    """Accepts connections on its own port and handles each, `_answer(connection)`, on a thread."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()

    def _accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()


class FakePrimary(Listener):
    """Replies to replicas until one requests a stream; that connection gets the bytes that `serve(socket, words)`
    sends, called with the words of PSYNC. `commands` has the commands of replicas."""

    def __init__(self, serve):
        self.serve = serve
        self.commands = []
        super().__init__()

    def _answer(self, connection):
        with contextlib.suppress(ConnectionResetError):
            self._answer_all(connection)

    def _answer_all(self, connection):
        lines = connection.makefile("rb")
        while head := lines.readline():
            if not head.startswith(b"*"):
                continue
            words = []
            for _ in range(int(head[1:])):
                words.append(lines.read(int(lines.readline()[1:])))
                lines.read(2)
            self.commands.append(words)
            name = words[0].lower()
            if name == b"psync":
                threading.Thread(target=self.serve, args=(connection, words), daemon=True).start()
            elif name == b"ping":
                connection.sendall(b"+PONG\r\n")
            elif words[1].lower() != b"ack":
                connection.sendall(b"+OK\r\n")


def give_everything(connection, replication_id=FIRST_ID, offset=FIRST_OFFSET, file=EMPTY_RDB):
    """Sends a first transfer, of an empty data set unless `file` has another."""
    head = b"+FULLRESYNC %s %d\r\n$%d\r\n" % (replication_id, offset, len(file))
    connection.sendall(head + file)


class FakeTarget:
    """A target of migrations of slots. It answers each step with OK, but ends the connection at TAKEOVER, and answers
    the question TAKEN with the number `taken`."""

    def __init__(self, taken):
        self.taken = taken
        self.questions = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self._serve, args=[self.listener.accept()[0]]).start()

    def _serve(self, connection):
        with contextlib.suppress(OSError), connection, connection.makefile("rb") as stream:
            while head := stream.readline():
                words = [stream.read(int(stream.readline()[1:]) + 2)[:-2] for _ in range(int(head[1:]))]
                if words[2:3] == [b"TAKEOVER"]:
                    return
                if words[2:3] == [b"TAKEN"]:
                    self.questions += 1
                    connection.sendall(b":%d\r\n" % self.taken)
                else:
                    connection.sendall(b"+OK\r\n")
