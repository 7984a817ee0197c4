# SPDX-License-Identifier: BSD-3-Clause
"""The threads of a running process, from /proc/PID/task (proc(5))."""

import pathlib


def read_of_threads(pid, *files):
    """One list of texts for each thread: these files of its folder. A thread that ends meanwhile is left out."""
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        try:
            found.append([(task / file).read_text("ascii") for file in files])
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def thread_ids(pid, name):
    """The ids of the threads with this name (docs/threading.md)."""
    tasks = pathlib.Path(f"/proc/{pid}/task").iterdir()
    return [int(task.name) for task in tasks if (task / "comm").read_text("ascii").strip() == name]
