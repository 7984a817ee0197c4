# SPDX-License-Identifier: BSD-3-Clause
"""Shared by the programs of this folder: comparing, counting, the worker's process, the last line."""

import subprocess
import sys
import threading
import time

LIMIT_S = 100
_counts = {True: 0, False: 0}


def check(name, actual, expected):
    """Counts one comparison."""
    _counts[actual == expected] += 1
    if actual != expected:
        print(f"FAILED {name}: expected {expected!r}, got {actual!r}")


def until(holds, limit_s=30):
    """Waits until `holds` returns true, with a time limit."""
    deadline = time.monotonic() + limit_s
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.05)  # these programs run in another Python environment, without wait_until


class Running:
    """A process that runs during the block."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE, text=True)
        self.said = []
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stderr:
            self.said.append(line)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def main(name, parts, *arguments):
    """Runs the parts one after the other and prints the result; returns the exit status."""
    for part in parts:
        try:
            part(*arguments)
        except Exception as error:
            _counts[False] += 1
            print(f"FAILED {part.__name__}: {error!r}")
    print(f"{name}: {_counts[True]} passed, {_counts[False]} failed")
    sys.stdout.flush()
    return 1 if _counts[False] else 0
