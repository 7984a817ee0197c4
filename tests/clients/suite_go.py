# SPDX-License-Identifier: BSD-3-Clause
"""The suite of go-redis: its compiled tests start the servers themselves.

They use fixed ports (6380 and others, which must be free). They get a program that starts the server under test, and
redis-server as Sentinel.
"""

import json
import os
import pathlib
import shutil
import subprocess

NAME = "go-redis"
IS_OF_REDIS_SERVER = True
TOOLS = ("go",)
TARGET = pathlib.Path(__file__).resolve().parents[2] / "build" / "suites" / NAME
MODULE = "github.com/redis/go-redis/v9@v9.7.3"
LIMIT_S = 600

# The program that the suite runs as redis-server.
STARTER = """#!/bin/sh
case " $* " in
  *" --sentinel "*) exec redis-server "$@" ;;
  *) exec "$SUITE_SERVER" "$@" ;;
esac
"""


def build():
    """Copies the module to build/ and compiles its tests, unless that is done."""
    if not (TARGET / "suite.test").exists():
        told = subprocess.run(["go", "mod", "download", "-json", MODULE], check=True, text=True,
                              capture_output=True, cwd="/")
        shutil.copytree(json.loads(told.stdout)["Dir"], TARGET, dirs_exist_ok=True)
        subprocess.run(["chmod", "-R", "u+w", str(TARGET)], check=True)
        print("go-redis: compiling its tests", flush=True)
        subprocess.run(["go", "test", "-c", "-o", "suite.test", "."], check=True, cwd=TARGET)
    starter = TARGET / "testdata" / "redis" / "src" / "redis-server"
    starter.parent.mkdir(parents=True, exist_ok=True)
    starter.write_text(STARTER)
    starter.chmod(0o755)
    (TARGET / "testdata" / "redis" / "redis.conf").touch()


def run(command, skipped, report):
    """Runs the suite against a server; returns {test: (passed, message)}."""
    (TARGET / report).unlink(missing_ok=True)
    subprocess.run(
        ["./suite.test", "-test.run", "TestGinkgoSuite", "-ginkgo.seed=1",
         f"-ginkgo.skip={'|'.join(skipped)}", f"-ginkgo.json-report={report}"],
        cwd=TARGET, env=dict(os.environ, SUITE_SERVER=command[0]), timeout=LIMIT_S, check=False,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )
    return read_results(report)


def read_results(report):
    """The tests that ran, by their full names."""
    results = {}
    for suite in json.loads((TARGET / report).read_text("utf-8")):
        for spec in suite["SpecReports"] or []:
            name = " ".join([*(spec["ContainerHierarchyTexts"] or []), spec["LeafNodeText"]])
            if spec["LeafNodeType"] == "It" and spec["State"] not in ("skipped", "pending"):
                message = (spec.get("Failure") or {}).get("Message", "")
                results[name] = (spec["State"] == "passed", message)
            elif spec["State"] == "failed":
                raise RuntimeError(f"{spec['LeafNodeType']}: {spec['Failure']['Message']}")
    return results
