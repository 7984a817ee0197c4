# SPDX-License-Identifier: BSD-3-Clause
"""The suite of redis-py from its source distribution, with its own pytest."""

import pathlib
import subprocess
import sys
import tarfile
import xml.etree.ElementTree

NAME = "redis-py"
IS_OF_REDIS_SERVER = True
TOOLS = ()
REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
TARGET = REPOSITORY / "build" / "suites" / NAME
VERSION = "5.2.1"
NEEDS = ["pytest==8.2.2", "pytest-asyncio<0.24", "pytest-timeout", "mock", "cachetools", "numpy",
         "packaging", "requests", "ujson", "uvloop", "hiredis", "PyJWT", "cryptography"]
# Tests of a cluster, Sentinel, the modules of Redis Stack, and of certificates that only redis-py's containers have.
WITHOUT_FILES = ["test_ssl.py", "test_cluster.py", "test_sentinel.py", "test_graph.py",
                 "test_asyncio/test_cluster.py", "test_asyncio/test_sentinel.py",
                 "test_asyncio/test_graph.py"]
MARKS = "not onlycluster and not redismod and not ssl"
LIMIT_S = 900
DATABASE = 9

sys.path.insert(0, str(REPOSITORY / "tests" / "integration"))

from harness import Server  # noqa: E402  (the path is set just above)


def build():
    """Fetches the suite and its requirements, unless that is done."""
    if (TARGET / "done").exists():
        return
    TARGET.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, "-m", "venv", str(TARGET / "venv")], check=True)
    pip = [str(TARGET / "venv" / "bin" / "pip"), "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", *NEEDS], check=True)
    subprocess.run([*pip, "download", "--no-deps", "--no-binary", "redis", f"redis=={VERSION}"],
                   check=True, cwd=TARGET)
    with tarfile.open(TARGET / f"redis-{VERSION}.tar.gz") as archive:
        archive.extractall(TARGET, filter="data")
    (TARGET / "done").touch()


def run(command, skipped, report):
    """Runs the suite against a server; returns {test: (passed, message)}."""
    directives = {"enable_debug_command": "yes", "enable_module_command": "yes"}
    left_out = [f"--ignore=tests/{name}" for name in WITHOUT_FILES]
    left_out += [word for name in skipped for word in ("--deselect", name)]
    with Server(command=command, **directives) as server:
        subprocess.run(
            [str(TARGET / "venv" / "bin" / "python"), "-m", "pytest", "-q", "-m", MARKS,
             f"--redis-url=redis://localhost:{server.port}/{DATABASE}", "--timeout=60",
             "-p", "no:cacheprovider", "-p", "no:warnings", f"--junitxml={TARGET / report}",
             *left_out, "tests"],
            cwd=TARGET / f"redis-{VERSION}", timeout=LIMIT_S, check=False,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
    return read_results(report)


def run_modules(command, skipped, report, files, options=()):
    """Runs the files of tests of modules' commands in both protocols; returns {test: (passed, message)}."""
    results = {}
    left_out = [word for name in skipped for word in ("--deselect", name)]
    for protocol in (2, 3):
        with Server(command=command) as server:
            url = f"redis://localhost:{server.port}/0"
            subprocess.run(
                [str(TARGET / "venv" / "bin" / "python"), "-m", "pytest", "-q", "-m", "redismod",
                 f"--redis-url={url}", f"--redis-mod-url={url}", f"--protocol={protocol}",
                 "--timeout=60", "-p", "no:cacheprovider", "-p", "no:warnings",
                 f"--junitxml={TARGET / report}", *options, *left_out, *files],
                cwd=TARGET / f"redis-{VERSION}", timeout=LIMIT_S, check=False,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )
        found = read_results(report)
        results |= {f"{name} (RESP{protocol})": result for name, result in found.items()}
    return results


def read_results(report):
    """The tests that ran, by their full names."""
    results = {}
    for case in xml.etree.ElementTree.parse(TARGET / report).iter("testcase"):
        if case.find("skipped") is not None:
            continue
        trouble = case.find("failure")
        if trouble is None:
            trouble = case.find("error")
        message = "" if trouble is None else trouble.get("message", "")
        results[f"{case.get('classname')} {case.get('name')}"] = (trouble is None, message)
    return results
