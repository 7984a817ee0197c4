# SPDX-License-Identifier: BSD-3-Clause
"""redis-py's tests of JSON, a part of its suite (suite_py.py)."""

from suite_py import build, run_modules  # noqa: F401  (build is this suite's too)

NAME = "redis-py-json"
IS_OF_REDIS_SERVER = False
TOOLS = ()


def run(command, skipped, report):
    """Runs the tests in both protocols; returns {test: (passed, message)}."""
    return run_modules(command, skipped, report, ["tests/test_json.py", "tests/test_asyncio/test_json.py"])
