# SPDX-License-Identifier: BSD-3-Clause
"""Keeps the processors awake while latencies are measured.

A client and a server that take turns leave their processors idle half of the time. Waking one up costs some 100
microseconds on a virtual machine, several times the cost of a query, and depends on where the scheduler has placed the
two. A loop that runs only when no other thread wants to (SCHED_IDLE, sched(7)) removes this cost from the figures of
both servers.
"""

import contextlib
import os
import signal


def _spin(processor: int, parent: int):
    os.sched_setaffinity(0, {processor})
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    while os.getppid() == parent:
        for _ in range(1_000_000):
            pass


@contextlib.contextmanager
def awake():
    """Keeps every processor that this process may use busy during the block."""
    parent = os.getpid()
    spinners = []
    try:
        for processor in os.sched_getaffinity(0):
            pid = os.fork()
            if pid == 0:
                try:
                    _spin(processor, parent)
                finally:
                    os._exit(0)
            spinners.append(pid)
        yield
    finally:
        for pid in spinners:
            os.kill(pid, signal.SIGTERM)
            os.waitpid(pid, 0)
