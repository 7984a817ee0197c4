# SPDX-License-Identifier: BSD-3-Clause
"""Debian's package index as a data set: records become hashes, sets, sorted sets, lists, strings.

`apt-cache dumpavail` prints some 63,000 records on a Debian 12 with the main archive. One record, such as package 0ad,
version 0.0.26-3, becomes

  package:0ad        hash    the fields, texts and integers; every third with a deadline (PEXPIREAT)
  depends:0ad        list    the dependencies in their order; every fifth with a deadline (EXPIREAT)
  tags:0ad           set     the debtags
  numbers:0ad        set     the integers in the version: 0 3 26
  md5:0ad            string  with a deadline in milliseconds (SET PXAT)
  size:0ad           string  the installed size, an integer, with a deadline in seconds (SET EXAT)
  source:S           zset    the binaries of source package S by their compression ratio, a fraction
  maintainer:M       list    the packages of a maintainer, last first

and adds to large collections: `names` (list), `all` and `section:S` (sorted sets by size), `sizes:S` (integers),
`known` (set), `homepages` and `count:sections` (hashes), `total` (counter).

Deadlines are absolute and at least a week away, so two servers that are loaded one after the other agree.
"""

import re
import subprocess
import zlib
from collections.abc import Iterable, Iterator

Record = dict[str, str]
Command = tuple[bytes, ...]

HASH_FIELDS = ("Version", "Architecture", "Section", "Priority", "Maintainer", "Filename",
               "Description", "SHA256", "Installed-Size", "Size")
WEEK_MS = 7 * 86400 * 1000


def read_records() -> list[Record]:
    """All records of the package index; continuation lines are joined to their field."""
    index = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, check=True).stdout
    records = []
    for paragraph in index.decode("utf-8", "replace").split("\n\n"):
        record: Record = {}
        field = ""
        for line in paragraph.split("\n"):
            if line.startswith(" "):
                record[field] += line
            elif ": " in line:
                field, _, record[field] = line.partition(": ")
        if "Package" in record:
            records.append(record)
    return records


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _encode(*arguments) -> Command:
    return tuple(str(argument).encode() for argument in arguments)


def _deadline_ms(name: str, now_ms: int) -> int:
    """A different deadline for each package, one to three weeks away."""
    return now_ms + WEEK_MS + zlib.crc32(name.encode()) % (2 * WEEK_MS)


def _own_commands(number: int, record: Record, now_ms: int) -> Iterator[Command]:
    """The keys of this package alone."""
    name = record["Package"]
    deadline_ms = _deadline_ms(name, now_ms)
    fields = [part for field in HASH_FIELDS if field in record for part in (field, record[field])]
    yield _encode("HSET", f"package:{name}", *fields)
    if number % 3 == 0:
        yield _encode("PEXPIREAT", f"package:{name}", deadline_ms)
    if dependencies := _split(record.get("Depends", "")):
        yield _encode("RPUSH", f"depends:{name}", *dependencies)
        if number % 5 == 0:
            yield _encode("EXPIREAT", f"depends:{name}", deadline_ms // 1000)
    if tags := _split(record.get("Tag", "")):
        yield _encode("SADD", f"tags:{name}", *tags)
    if numbers := [int(digits) for digits in re.findall(r"\d{1,18}", record["Version"])]:
        yield _encode("SADD", f"numbers:{name}", *numbers)
    if "Description-md5" in record:
        yield _encode("SET", f"md5:{name}", record["Description-md5"], "PXAT", deadline_ms)
    yield _encode("SET", f"size:{name}", record.get("Installed-Size", "0"),
                  "EXAT", deadline_ms // 1000)


def _shared_commands(record: Record) -> Iterator[Command]:
    """This package's part of the collections of many packages."""
    name, section = record["Package"], record["Section"]
    size, installed = int(record.get("Size", 0)), int(record.get("Installed-Size", 0))
    source = record.get("Source", name).split(" ")[0]
    yield _encode("ZADD", f"source:{source}", repr(size / (1024 * installed + 1)), name)
    yield _encode("LPUSH", f"maintainer:{record['Maintainer']}", name)
    yield _encode("RPUSH", "names", name)
    yield _encode("SADD", "known", name)
    yield _encode("ZADD", "all", size, name)
    yield _encode("ZADD", f"section:{section}", installed, name)
    yield _encode("SADD", f"sizes:{section}", size)
    yield _encode("HINCRBY", "count:sections", section, 1)
    yield _encode("INCRBY", "total", size)
    if "Homepage" in record:
        yield _encode("HSET", "homepages", name, record["Homepage"])


def load_commands(records: Iterable[Record], now_ms: int) -> Iterator[Command]:
    """The commands that load the data set."""
    for number, record in enumerate(records):
        yield from _own_commands(number, record, now_ms)
        yield from _shared_commands(record)


def change_commands(records: Iterable[Record], now_ms: int) -> Iterator[Command]:
    """Changes to every fourth package: updates, removals, renames, new deadlines."""
    for number, record in enumerate(records):
        name = record["Package"]
        match number % 32:
            case 0:
                yield _encode("HSET", f"package:{name}", "Priority", "required", "Size", number)
            case 4:
                yield _encode("UNLINK", f"package:{name}", f"tags:{name}")
            case 8:
                yield _encode("RENAME", f"package:{name}", f"renamed:{name}")
            case 12:
                yield _encode("PERSIST", f"md5:{name}")
                yield _encode("PEXPIREAT", f"package:{name}", _deadline_ms(name, now_ms) + 1)
            case 16:
                yield _encode("SREM", "known", name)
                yield _encode("ZREM", "all", name)
                yield _encode("HDEL", "homepages", name)
            case 20:
                yield _encode("ZINCRBY", f"section:{record['Section']}", "0.25", name)
                yield _encode("INCRBY", f"size:{name}", number)
            case 24:
                yield _encode("LREM", f"maintainer:{record['Maintainer']}", -1, name)
                yield _encode("LPOP", f"depends:{name}")
            case 28:
                yield _encode("APPEND", f"md5:{name}", name)
                yield _encode("HDEL", f"package:{name}", "SHA256")
