# SPDX-License-Identifier: BSD-3-Clause
"""SRANDMEMBER, HRANDFIELD, ZRANDMEMBER and SPOP choose uniformly: a chi-square test of each.

The statistic of uniform draws among k members has about the mean k - 1 and the variance 2 (k - 1). A value of six
standard deviations above the mean occurs by chance less than once in a million runs.
"""

import collections
import math

import pytest

DRAWS = 40  # of each member, on average
SIZES = {"packed": 60, "spread": 1000}
FORMS = {
    "one": [],
    "distinct": ["10"],
    "most": ["-1"],  # all but a few: replaced below by a number that depends on the size
    "repeated": ["-20"],
}
KINDS = {"set": "srandmember", "hash": "hrandfield", "zset": "zrandmember"}


def fill(client, kind, size):
    """A collection of `size` members."""
    names = [f"member:{i}" for i in range(size)]
    if kind == "set":
        client.sadd("key", *names)
    elif kind == "hash":
        client.hset("key", mapping={name: "v" for name in names})
    else:
        client.zadd("key", {name: i for i, name in enumerate(names)})
    return names


def draw(client, command, arguments, total):
    """How often each member was drawn in about `total` draws, and the number of calls."""
    pipe, counts, calls = client.pipeline(transaction=False), collections.Counter(), 0
    each = abs(int(arguments[0])) if arguments else 1
    while sum(counts.values()) < total:
        for _ in range(min(1000, max(1, total // each))):
            pipe.execute_command(command, "key", *arguments)
            calls += 1
        for reply in pipe.execute():
            counts.update(reply if isinstance(reply, list) else [reply])
    return counts, calls


def assert_even(counts, size, spread=1.0):
    """Each of `size` members was drawn about equally often. `spread` is the factor of the variance of draws with
    repetition."""
    assert len(counts) == size
    mean = sum(counts.values()) / size
    statistic = sum((n - mean) ** 2 / mean for n in counts.values()) / spread
    bound = (size - 1) + 6 * math.sqrt(2 * (size - 1))
    assert statistic < bound, f"{statistic:.0f} of {bound:.0f}"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_every_member_is_equally_likely(r, size, kind, form):
    fill(r, kind, size)
    arguments = [str(size - 7)] if form == "most" else FORMS[form]
    counts, _ = draw(r, KINDS[kind], arguments, DRAWS * size)
    each = int(arguments[0]) if arguments else -1
    assert_even(counts, size, 1 - each / size if each > 0 else 1.0)


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_every_member_is_equally_likely_to_be_popped(r, size):
    fill(r, "set", size)
    counts = collections.Counter()
    for _ in range(DRAWS * size // 20):
        popped = r.spop("key", 20)
        counts.update(popped)
        r.sadd("key", *popped)
    assert_even(counts, size, 1 - 20 / size)


def test_neighbours_are_not_drawn_together(r):
    """Neighbours are as rare as any other pairs among pairs drawn at once."""
    names = [name.encode() for name in fill(r, "zset", 200)]
    place = {name: at for at, name in enumerate(names)}
    distances = collections.Counter()
    pipe = r.pipeline(transaction=False)
    for _ in range(8000):
        pipe.zrandmember("key", 2)
    for first, second in pipe.execute():
        distances[abs(place[first] - place[second])] += 1
    expected = {d: 8000 * 2 * (200 - d) / (200 * 199) for d in range(1, 200)}
    statistic = sum((distances[d] - n) ** 2 / n for d, n in expected.items() if n >= 5)
    kept = sum(n >= 5 for n in expected.values())
    assert statistic < kept + 6 * math.sqrt(2 * kept)
