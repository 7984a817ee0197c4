# SPDX-License-Identifier: BSD-3-Clause
"""Real input: Debian's package index reads back from Cairn exactly as from redis-server.

Synthetic data is short, regular and ASCII. The index has 60,000 records with texts of all lengths, UTF-8, missing
fields, collections of one member and of tens of thousands, integers and fractions. The procedure is that of
bench/load_packages, with all records in `scripts/test --long` and a part of them otherwise.
"""

import pathlib
import shutil
import sys

import pytest

from harness import Server, by_size, start_redis

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "lab"))

from load_packages import run_trial  # noqa: E402  (the path is set just above)
from packages import read_records  # noqa: E402

pytestmark = pytest.mark.slow

ALL_RECORDS = 60_000
RECORDS = by_size(2_000, 4_000, ALL_RECORDS)


@pytest.mark.skipif(not shutil.which("apt-cache") or not shutil.which("redis-server"),
                    reason="needs apt-cache and redis-server")
def test_package_index_reads_back_as_from_redis_server():
    """Both ways of loading, a clean restart, changes with kill -9, and COMPACT: no difference."""
    records = read_records()
    if len(records) < ALL_RECORDS:
        pytest.skip(f"apt-cache dumpavail has {len(records)} records: run apt-get update")
    records = records[::len(records) // RECORDS]
    with Server() as cairn, start_redis() as redis:
        differences = run_trial(cairn, redis, records, print)
    assert not differences, "\n".join(differences[:20])
