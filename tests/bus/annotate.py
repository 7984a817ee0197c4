# SPDX-License-Identifier: BSD-3-Clause
"""Prints messages of the cluster bus as annotated hex with their meaning, in the format of tests/bus/golden/.

    tests/bus/annotate.py FILE ...      each file has the bytes of one message; its name becomes the title

The decoder shares nothing with src/bus/, so that the golden files check it. It trusts its input.
"""

import itertools
import pathlib
import struct
import sys

TYPES = ["ping", "pong", "meet", "fail", "publish", "auth-req", "auth-ack", "update", "mfstart", "module",
         "publishshard"]
LONGEST_LINE = 100


def message_type(message):
    """The name of the message's type."""
    return TYPES[struct.unpack(">H", message[12:14])[0]]


def hex_words(data):
    """Hex digits, with xx*n for n times the same byte."""
    words = [""]
    for byte, group in itertools.groupby(data):
        count = len(list(group))
        if count < 8:
            words[-1] += f"{byte:02x}" * count
        else:
            words += [f"{byte:02x}*{count}", ""]
    return " ".join(filter(None, words))


def text(data):
    """The text before the first zero byte, or a dash."""
    return data.split(b"\0")[0].decode() or "-"


def ranges(bitmap):
    """The slots of a bitmap as numbers and ranges, or a dash."""
    slots = [slot for slot in range(16384) if bitmap[slot // 8] >> slot % 8 & 1]
    found = []
    for _, group in itertools.groupby(enumerate(slots), lambda pair: pair[1] - pair[0]):
        run = [slot for _, slot in group]
        found.append(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}")
    return " ".join(found) or "-"


def nothing(_):
    """Shows no value: the bytes have no meaning."""
    return ""


class Annotation:
    """Reads a message from its front. `lines` has the hex digits with the names and values of the fields, `meaning` the
    values again, as the unit test shows them."""

    def __init__(self, message):
        self.rest = message
        self.lines = []
        self.meaning = []
        header = self.header()
        kind = header["type"]
        if kind in ("ping", "pong", "meet"):
            self.gossip(header)
        elif kind == "fail":
            self.meaning.append(f"failed {self.take(40, 'nodename', text)}")
        elif kind in ("publish", "publishshard"):
            self.publish()
        elif kind == "update":
            epoch = self.take(8, "configEpoch")
            node = self.take(40, "nodename", text)
            self.meaning.append(f"update {node} epoch {epoch} slots {self.take(2048, 'slots', ranges)}")
        elif kind == "module":
            self.module()
        assert not self.rest, f"{len(self.rest)} bytes left"

    def take(self, size, name, show=lambda data: int.from_bytes(data, "big")):
        """Reads a field, notes it and returns its value."""
        data, self.rest = self.rest[:size], self.rest[size:]
        assert len(data) == size, name
        value = show(data)
        note = f"# {name} {value}".rstrip()
        digits = hex_words(data)
        if len(digits) <= LONGEST_LINE:
            self.lines.append(f"{digits}  {note}")
            return value
        self.lines.append(note)
        while digits:
            cut = len(digits) if len(digits) <= LONGEST_LINE else digits.rfind(" ", 0, LONGEST_LINE) + 1 or LONGEST_LINE
            self.lines.append(digits[:cut].rstrip())
            digits = digits[cut:]
        return value

    def header(self):
        """Reads the header; returns its fields by name."""
        found = {}
        layout = [
            ("sig", 4, text), ("totlen", 4), ("ver", 2), ("port", 2), ("type", 2), ("count", 2), ("currentEpoch", 8),
            ("configEpoch", 8), ("offset", 8), ("sender", 40, text), ("myslots", 2048, ranges), ("slaveof", 40, text),
            ("myip", 46, text), ("extensions", 2), ("notused1", 30, nothing), ("pport", 2), ("cport", 2), ("flags", 2),
            ("state", 1), ("mflags", 3, lambda data: data[0]),
        ]
        for name, size, *show in layout:
            found[name] = self.take(size, name, *show)
        found["type"] = TYPES[found["type"]]
        state = ["ok", "fail"][found["state"]]
        flags = found["mflags"]
        self.meaning += [
            "type {type}".format(**found),
            "ports {port} {pport} {cport}".format(**found),
            "epochs {currentEpoch} {configEpoch} offset {offset}".format(**found),
            "sender {sender} master {slaveof} ip {myip}".format(**found),
            "slots {myslots}".format(**found),
            f"flags {found['flags']} state {state} paused {flags & 1} forces_ack {flags >> 1 & 1}",
        ]
        return found

    def gossip(self, header):
        """Reads the body of PING, PONG and MEET."""
        for _ in range(header["count"]):
            node = self.take(40, "gossip nodename", text)
            ping, pong = self.take(4, "ping_sent"), self.take(4, "pong_received")
            ip = self.take(46, "ip", text)
            port, cport, flags, pport = (self.take(2, name) for name in ("port", "cport", "flags", "pport"))
            self.take(2, "notused1", nothing)
            self.meaning.append(f"gossip {node} ping {ping} pong {pong} ip {ip} ports {port} {pport} {cport} "
                                f"flags {flags}")
        for _ in range(header["extensions"] if header["mflags"] & 4 else 0):
            self.extension()

    def extension(self):
        """Reads an extension."""
        length = self.take(4, "extension length")
        kind = self.take(2, "type")
        self.take(2, "unused", nothing)
        if kind == 2:
            node = self.take(40, "forgotten node", text)
            self.meaning.append(f"forgotten {node} ttl {self.take(8, 'ttl')}")
        elif kind <= 3:
            name = {0: "hostname", 1: "human_nodename", 3: "shard_id"}[kind]
            self.meaning.append(f"{name} {self.take(length - 8, name, text)}")
        else:
            self.take(length - 8, "unknown extension", nothing)

    def publish(self):
        """Reads the body of PUBLISH and PUBLISHSHARD."""
        sizes = [self.take(4, name) for name in ("channel_len", "message_len")]
        channel, message = (self.take(size, name, bytes.decode) for size, name in zip(sizes, ("channel", "message")))
        self.meaning.append(f"channel {channel} message {message}")

    def module(self):
        """Reads the body of MODULE."""
        module = self.take(8, "module_id", lambda data: int.from_bytes(data, "little"))
        size = self.take(4, "len")
        kind = self.take(1, "type")
        self.meaning.append(f"module {module} type {kind} payload {self.take(size, 'payload', bytes.decode)}")


def annotated(title, message):
    """The lines of a message in a golden file."""
    annotation = Annotation(message)
    return "\n".join([f"== {title}", *annotation.lines, *(f"=> {line}" for line in annotation.meaning)]) + "\n"


def main():
    for name in sys.argv[1:]:
        print(annotated(name, pathlib.Path(name).read_bytes()))


if __name__ == "__main__":
    main()
