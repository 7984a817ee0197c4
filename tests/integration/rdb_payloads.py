# SPDX-License-Identifier: BSD-3-Clause
"""DUMP payloads that tests build themselves: the footer, and encodings that only old servers write.

A payload is a type byte, the value, two bytes of version and a CRC-64; src/rdb/rdb_format.h describes the bytes.
"""

POLYNOMIAL = 0x95AC9329AC4BC9B5  # Jones, reflected


def _table():
    table = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ (POLYNOMIAL if crc & 1 else 0)
        table.append(crc)
    return table


TABLE = _table()


def crc64(data):
    """The checksum at the end of Redis's payloads."""
    crc = 0
    for byte in data:
        crc = TABLE[(crc ^ byte) & 255] ^ crc >> 8
    return crc


def payload(value, version=10):
    """A whole payload of a type and value, bytes or hexadecimal."""
    if isinstance(value, str):
        value = bytes.fromhex(value)
    value += version.to_bytes(2, "little")
    return value + crc64(value).to_bytes(8, "little")


# A stream of one entry, 5-1 with a field a whose value is b: its one node, and then a group g that has delivered it to
# a consumer c.
STREAM_ID = "0000000000000005 0000000000000001"
STREAM_NODE = (f"01 10 {STREAM_ID} 1d 1d000000 0a00 0101 0001 0101 816102 0001 "
               "0201 0001 0001 816202 0401 ff")
STREAM_PENDING = f"01 {STREAM_ID} e803000000000000 02"
STREAM_OWNED = f"01 {STREAM_ID}"
SEEN = "d007000000000000"


def stream2(node=STREAM_NODE, state="01 0501 0501 0000 01", pending=STREAM_PENDING,
            consumers=f"01 0163 {SEEN} {STREAM_OWNED}", groups=1):
    """A stream as Redis 7.0 writes it; parts can be replaced."""
    group = f"0167 0501 01 {pending} {consumers} "
    return f"13 {node} {state} {groups:02x} {group * groups}"


# Name -> (the oldest version that supports it, type and value).
OLD_ENCODINGS = {
    "list": (5, "01 03 0161 c001 0162"),
    "set": (5, "02 03 0161 c001 0162"),
    "zset with digits": (5, "03 04 0161 03 312e35 0162 fe 0163 ff 0164 02 2d32"),
    "hash": (5, "04 02 0161 0162 c001 c002"),
    "zipmap": (5, "09 1a 02 03 666f6f 03 00 626172 05 68656c6c6f 05 02 776f726c64 0000 ff"),
    "list ziplist": (5, "0a 0f 0f000000 0c000000 0200 00f2 02f3 ff"),
    "intset": (5, "0b 0c 02000000 02000000 0100 0200"),
    "zset ziplist": (5, "0c 18 18000000 12000000 0400 000161 03f2 020162 0303322e35 ff"),
    "hash ziplist": (5, "0d 18 18000000 12000000 0400 000161 03f2 020162 0303322e35 ff"),
    "ziplist integers": (5, "0a 2d 2d000000 22000000 0700 00026869 04c00004 04feff 03fd 02f0a08601"
                            "05d0ffffff7f 06e00000000000010000 ff"),
    "quicklist": (7, "0e 02 0f 0f000000 0c000000 0200 00f2 02f3 ff"
                     "0f 0f000000 0c000000 0200 00f4 02f5 ff"),
    "hash listpack": (10, "10 0c 0c000000 0200 0101 816102 ff"),
    "zset listpack": (10, "11 0c 0c000000 0200 816102 0101 ff"),
    "quicklist 2": (10, "12 02 01 0a 74657874207465787420 02 0c 0c000000 0200 0101 816102 ff"),
    "stream": (9, f"0f {STREAM_NODE} 01 0501 01 0167 0501 {STREAM_PENDING} "
                  f"01 0163 {SEEN} {STREAM_OWNED}"),
    "stream 2": (10, stream2()),
}

# The same for Redis 7.2.
NEW_ENCODINGS = {
    "set listpack": (11, "14 0c 0c000000 0200 0101 816102 ff"),
    "stream 3": (11, "15" + stream2(consumers=f"01 0163 {SEEN} b80b000000000000 {STREAM_OWNED}")[2:]),
}

# Invalid values with a valid footer: in each a redundant field is wrong or missing.
WRONG_VALUES = {
    "nothing": "",
    "unknown type": "ff 00",
    "a module's type": "07 00",
    "length beyond the end": "00 81 0000000000fffff7",
    "text instead of a length": "01 c0 01",
    "unknown special text": "00 c5 00",
    "lzf that does not decompress": "00 c3 05 0b 0061e00000",
    "lzf of a claimed gigabyte": "00 c3 05 80 40000000 0061e00000",
    "empty list": "01 00",
    "empty set": "02 00",
    "empty zset": "05 00",
    "empty hash": "04 00",
    "empty listpack": "10 07 07000000 0000 ff",
    "set with a member twice": "02 02 0161 0161",
    "set with a number twice": "02 02 0131 c001",
    "hash with a field twice": "04 02 0161 0162 0161 0163",
    "zset with a member twice": "05 02 0161 000000000000f03f 0161 0000000000000040",
    "zset with NaN": "05 01 0161 000000000000f87f",
    "zset with NaN in digits": "03 01 0161 fd",
    "hash listpack with a field twice": "10 11 11000000 0400 816102 0101 816102 0201 ff",
    "hash listpack with half a pair": "10 09 09000000 0100 0101 ff",
    "listpack of another size": "10 0c 0d000000 0200 0101 816102 ff",
    "listpack of another count": "10 0c 0c000000 0300 0101 816102 ff",
    "listpack with a wrong back length": "10 0c 0c000000 0200 0102 816102 ff",
    "listpack without its end": "10 0c 0c000000 0200 0101 816102 fe",
    "intset that does not ascend": "0b 0c 02000000 02000000 0200 0100",
    "intset of an unknown width": "0b 0c 03000000 02000000 0100 0200",
    "ziplist with a wrong tail": "0a 0f 0f000000 0a000000 0200 00f2 02f3 ff",
    "ziplist with a wrong previous size": "0a 0f 0f000000 0c000000 0200 00f2 03f3 ff",
    "zipmap with a field twice": "09 0c 02 0161 010076 0161 010077 ff",
    "quicklist of an unknown node": "12 01 03 0161",
    "quicklist of empty nodes": "12 01 02 07 07000000 0000 ff",
    "stream node of a short id": stream2(node=STREAM_NODE.replace("01 10 00", "01 0f", 1)),
    "empty stream node": stream2(node=f"01 10 {STREAM_ID} 07 07000000 0000 ff"),
    "stream node of half an entry": stream2(node=STREAM_NODE.replace("0401 ff", "0301 ff")),
    "stream with too few nodes": stream2(node="81 ffffffffffffffff"),
    "stream of entries without nodes": stream2(node="00"),
    "stream entry pending twice": stream2(pending="02" + STREAM_PENDING[2:] + STREAM_PENDING[2:]),
    "stream entry pending without a consumer": stream2(consumers="00"),
    "stream entry pending for two": stream2(
        consumers=f"02 0163 {SEEN} {STREAM_OWNED} 0164 {SEEN} {STREAM_OWNED}"),
    "stream consumer with an entry that is not pending": stream2(pending="00"),
    "stream consumer twice": stream2(
        pending="00", consumers=f"02 0163 {SEEN} 00 0163 {SEEN} 00"),
    "stream group twice": stream2(groups=2),
    "stream without its groups": f"13 {STREAM_NODE} 01 0501 0501 0000 01",
}
