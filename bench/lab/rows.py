# SPDX-License-Identifier: BSD-3-Clause
"""The rows of redis-benchmark's default run, and the data that a server needs before each.

A row is a fair comparison only if both servers do the same work, so each round of each row starts with an emptied
server that gets the same bytes:

- GET finds its keys: the whole key space exists (or the share given by --fill).
- LPOP, RPOP, SPOP and ZPOPMIN find more elements than there are requests, so none replies nil. redis-benchmark alone
would pop the elements of the previous rows.
- LRANGE reads from a list of 100,000 elements. redis-benchmark would first push its own list, within the same run; here
it runs only the LRANGE command, so the CPU time is LRANGE's alone.
- The rows that write start empty.

Afterwards `check` is sent to both servers: the replies must agree, except for random effects in the random rows.
"""

import dataclasses
import random
from collections.abc import Iterable, Iterator

LRANGE_LIST_ELEMENTS = 100_000
MEMBERS_PER_COMMAND = 50
POP_MARGIN = 1.05


@dataclasses.dataclass(frozen=True)
class Row:
    """One row: redis-benchmark's name for it or a command, its load, and its number of requests.

    `floor_1` and `floor_16` are the shares of redis-server's throughput that Cairn must reach at -P 1 and -P 16. Slow
    rows get fewer requests (`scale`), pipelined ones more (`pipelined_scale`), so every measurement takes seconds.
    """

    name: str
    floor_1: float | None
    floor_16: float
    load: str = ""
    command: tuple[str, ...] = ()
    check: tuple[str, ...] = ("DBSIZE",)
    scale: float = 1.0
    pipelined_scale: float = 4.0

    def arguments(self) -> list[str]:
        """redis-benchmark's arguments for the row."""
        return list(self.command) or ["-t", self.name.lower()]

    def requests(self, base: int, pipeline: int) -> int:
        """The number of requests: `base`, scaled for this row, in whole pipelines of 50 clients."""
        wanted = base * self.scale * (self.pipelined_scale if pipeline > 1 else 1)
        step = 50 * pipeline
        return max(step, round(wanted / step) * step)

    def floor(self, pipeline: int) -> float | None:
        """The required share of the throughput, if one is set."""
        return {1: self.floor_1, 16: self.floor_16}.get(pipeline)


def _lrange(count: int, scale: float) -> Row:
    return Row(f"LRANGE_{count}", 0.75, 0.3, "read_list",
               ("LRANGE", "mylist", "0", str(count - 1)), ("LLEN", "mylist"), scale,
               pipelined_scale=1.0)


GET_SET = "redis.call('GET', KEYS[1]) return redis.call('SET', KEYS[1], ARGV[1])"

ROWS = [
    Row("PING_INLINE", None, 0.3),
    Row("PING_MBULK", None, 0.3),
    Row("SET", 0.75, 0.45),
    Row("GET", 0.95, 0.8, "keys"),
    Row("INCR", 0.75, 0.3),
    Row("LPUSH", 0.75, 0.3, check=("LLEN", "mylist")),
    Row("RPUSH", 0.75, 0.3, check=("LLEN", "mylist")),
    Row("LPOP", 0.75, 0.3, "list", check=("LLEN", "mylist")),
    Row("RPOP", 0.75, 0.3, "list", check=("LLEN", "mylist")),
    Row("SADD", 0.75, 0.3, check=("SCARD", "myset")),
    Row("HSET", 0.75, 0.3, check=("HLEN", "myhash")),
    Row("SPOP", 0.6, 0.5, "set", check=("SCARD", "myset")),
    Row("SRANDMEMBER", 0.5, 0.5, "set", ("SRANDMEMBER", "myset"), ("SCARD", "myset")),
    Row("SRANDMEMBER_10", 0.5, 0.5, "set", ("SRANDMEMBER", "myset", "10"), ("SCARD", "myset"), scale=0.5),
    Row("ZADD", 0.6, 0.3, check=("ZCARD", "myzset")),
    Row("ZPOPMIN", 0.6, 0.3, "zset", check=("ZCARD", "myzset")),
    _lrange(100, 0.5),
    _lrange(300, 0.2),
    _lrange(500, 0.15),
    _lrange(600, 0.1),
    Row("MSET", 0.6, 0.3, scale=0.5, pipelined_scale=2.0),
    Row("EVAL_GET", 0.6, 0.3, "keys",
        ("EVAL", "return redis.call('GET', KEYS[1])", "1", "key:__rand_int__"), scale=0.5),
    Row("EVAL_GET_SET", 0.6, 0.3, "keys", ("EVAL", GET_SET, "1", "key:__rand_int__", "new"), scale=0.5),
]


@dataclasses.dataclass(frozen=True)
class Load:
    """Sizes of the loaded data."""

    requests: int
    value_bytes: int
    key_space: int
    fill: float

    def commands(self, row: Row) -> Iterator[tuple[bytes, ...]]:
        """The commands that prepare a server for the row; none for most."""
        value = b"x" * self.value_bytes
        numbers = range(int(self.requests * POP_MARGIN) + 1000)
        if row.load == "keys":
            numbers = range(int(self.key_space * self.fill))
            pairs = ((b"key:%012d" % n, value) for n in _shuffled(numbers))
            yield from _grouped((b"MSET",), pairs)
        elif row.load == "list":
            yield from _grouped((b"RPUSH", b"mylist"), ((value,) for _ in numbers))
        elif row.load == "read_list":
            elements = ((value,) for _ in range(LRANGE_LIST_ELEMENTS))
            yield from _grouped((b"RPUSH", b"mylist"), elements)
        elif row.load == "set":
            members = ((b"element:%012d" % n,) for n in _shuffled(numbers))
            yield from _grouped((b"SADD", b"myset"), members)
        elif row.load == "zset":
            scores = random.Random(2)
            members = ((b"%d" % scores.randrange(self.key_space), b"element:%012d" % n)
                       for n in _shuffled(numbers))
            yield from _grouped((b"ZADD", b"myzset"), members)


def _shuffled(numbers: range) -> list[int]:
    order = list(numbers)
    random.Random(1).shuffle(order)
    return order


def _grouped(head: tuple[bytes, ...], tails: Iterable[tuple[bytes, ...]]) -> Iterator[tuple]:
    """Joins many one-member commands into few commands of MEMBERS_PER_COMMAND members."""
    command = list(head)
    members = 0
    for tail in tails:
        command += tail
        members += 1
        if members == MEMBERS_PER_COMMAND:
            yield tuple(command)
            command, members = list(head), 0
    if members:
        yield tuple(command)


def choose_rows(names: str | None) -> list[Row]:
    """The rows of a comma-separated list, in the table's order; all of them for None.

    A name may be the beginning of several: LRANGE means all four.
    """
    if not names:
        return ROWS
    wanted = [name.strip().upper() for name in names.split(",")]
    unknown = [name for name in wanted if not any(_means(name, row) for row in ROWS)]
    if unknown:
        raise ValueError(f"no such row: {', '.join(unknown)}")
    return [row for row in ROWS if any(_means(name, row) for name in wanted)]


def _means(name: str, row: Row) -> bool:
    return row.name == name or row.name.startswith(name + "_")
