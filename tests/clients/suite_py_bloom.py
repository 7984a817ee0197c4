# SPDX-License-Identifier: BSD-3-Clause
"""redis-py's tests of Bloom and cuckoo filters and of sketches, a part of its suite (suite_py.py)."""

from suite_py import build, run_modules  # noqa: F401  (build is this suite's too)

NAME = "redis-py-bloom"
IS_OF_REDIS_SERVER = False
TOOLS = ()


def run(command, skipped, report):
    """Runs the tests in both protocols; returns {test: (passed, message)}."""
    files = ["tests/test_bloom.py", "tests/test_asyncio/test_bloom.py"]
    return run_modules(command, skipped, report, files, ["-o", "asyncio_mode=auto"])
