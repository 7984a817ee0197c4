# SPDX-License-Identifier: BSD-3-Clause
"""redis-py's tests of JSON, a part of its suite (suite_py.py)."""

import subprocess

import suite_py
from suite_py import TARGET, Server, build  # noqa: F401  (build is this suite's too)

NAME = "redis-py-json"
IS_OF_REDIS_SERVER = False
TOOLS = ()
FILES = ["tests/test_json.py", "tests/test_asyncio/test_json.py"]


def run(command, skipped, report):
    """Runs the tests in both protocols; returns {test: (passed, message)}."""
    results = {}
    left_out = [word for name in skipped for word in ("--deselect", name)]
    for protocol in (2, 3):
        with Server(command=command) as server:
            url = f"redis://localhost:{server.port}/0"
            subprocess.run(
                [str(TARGET / "venv" / "bin" / "python"), "-m", "pytest", "-q", "-m", "redismod",
                 f"--redis-url={url}", f"--redis-mod-url={url}", f"--protocol={protocol}",
                 "--timeout=60", "-p", "no:cacheprovider", "-p", "no:warnings",
                 f"--junitxml={TARGET / report}", *left_out, *FILES],
                cwd=TARGET / f"redis-{suite_py.VERSION}", timeout=suite_py.LIMIT_S, check=False,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )
        found = suite_py.read_results(report)
        results |= {f"{name} (RESP{protocol})": result for name, result in found.items()}
    return results
