# SPDX-License-Identifier: BSD-3-Clause
"""The releases of Redis whose suites run: where each suite comes from, its files, and its lists of tests."""

import dataclasses
import pathlib
from typing import Callable

import redis8
import redis_source

UNITS_7 = [
    "unit/protocol",
    "unit/keyspace",
    "unit/scan",
    "unit/info-command",
    "unit/type/string",
    "unit/type/incr",
    "unit/type/list",
    "unit/type/list-2",
    "unit/type/list-3",
    "unit/type/set",
    "unit/type/zset",
    "unit/type/hash",
    "unit/type/stream",
    "unit/type/stream-cgroups",
    "unit/expire",
    "unit/sort",
    "unit/other",
    "unit/quit",
    "unit/bitops",
    "unit/bitfield",
    "unit/hyperloglog",
    "unit/latency-monitor",
    "unit/lazyfree",
    "unit/scripting",
    "unit/functions",
    "unit/pubsub",
    "unit/tracking",
    "unit/dump",
    "unit/geo",
    "unit/multi",
    "unit/pause",
    "unit/introspection",
    "unit/introspection-2",
    "unit/slowlog",
    "unit/querybuf",
    "unit/replybufsize",
    "unit/violations",
]
# Redis 8 did not change the others, or they concern no commands.
_ONLY_7 = {"unit/protocol", "unit/keyspace", "unit/info-command", "unit/quit", "unit/querybuf", "unit/replybufsize",
           "unit/violations"}
UNITS_8 = [unit for unit in UNITS_7 if unit not in _ONLY_7]


@dataclasses.dataclass(frozen=True)
class SuiteRelease:
    """A release's suite. `fetch` returns its source tree, in a directory or in one of its own. `options` are the
    suite's, `directives` those of Cairn."""

    version: str
    units: list
    denied: str
    fetch: Callable[[pathlib.Path], pathlib.Path]
    options: tuple = ()
    directives: dict = dataclasses.field(default_factory=dict)


RELEASES = {
    "7": SuiteRelease(
        redis_source.UPSTREAM_VERSION, UNITS_7, "denied.txt", redis_source.fetch,
        directives={"double_format": "17-digits"},
    ),
    # OBJECT ENCODING replies as in Redis 7.0 (docs/compatibility.md), so encodings are not compared.
    "8": SuiteRelease(
        "8.0.6", UNITS_8, "denied-redis8.txt", lambda cache_dir: redis8.build(), options=("--ignore-encoding",),
    ),
}
