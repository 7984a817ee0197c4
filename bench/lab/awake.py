# SPDX-License-Identifier: BSD-3-Clause
"""Keeps the processors from going to sleep while latencies are measured.

A client and a server that take turns leave their processors idle half of the time; waking one up
costs some 100 microseconds on a virtual machine, which is several times what the query costs, and
whether it is paid depends on where the scheduler has put the two. A loop that runs only when
nothing else wants to (SCHED_IDLE, sched(7)) takes it out of the figures of both servers.
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
    """While it lasts every processor this process may use has something to do."""
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
