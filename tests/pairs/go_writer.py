# SPDX-License-Identifier: BSD-3-Clause
"""go-redis's client of Sentinel as a writer (tests/pairs/go), if there is a Go compiler."""

import functools
import os
import pathlib
import shutil
import subprocess
import threading

HERE = pathlib.Path(__file__).resolve().parent
TARGET = HERE.parents[1] / "build" / "pairs" / "go"
BUILD_LIMIT_S = 600


@functools.cache
def missing_go():
    """Why the program cannot be built, or None."""
    reason = None
    if not shutil.which("go"):
        reason = "go is not installed"
    elif os.environ.get("CAIRN_TEST_SIZE") == "quick" and not (TARGET / "writer").exists():
        reason = "not built yet, and --quick builds nothing"
    else:
        TARGET.mkdir(parents=True, exist_ok=True)
        for source in (HERE / "go").iterdir():
            shutil.copy(source, TARGET)
        done = subprocess.run(["go", "build", "-o", "writer", "."], cwd=TARGET, check=False, text=True,
                              capture_output=True, timeout=BUILD_LIMIT_S)
        if done.returncode:
            reason = "go build: " + done.stderr[-500:]
    if reason:
        print(f"*** SKIPPED go-redis as a writer: {reason} ***")
    return reason


class GoWriter:
    """Like sentinels.Writer. REQUIRES: missing_go() is None."""

    key = "go-numbers"

    def __init__(self, sentinels):
        command = [TARGET / "writer", self.key, *(f"{host}:{port}" for host, port in sentinels.addresses())]
        self.acknowledged = []
        self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.process.stdin.close()  # ends the program
        self.thread.join()
        self.process.wait()

    def _run(self):
        for line in self.process.stdout:
            self.acknowledged.append(int(line))
