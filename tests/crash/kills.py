# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of kill -9 share: the kills, and the check of what writers wrote.

The environment variables CAIRN_CRASH_SEED and CAIRN_CRASH_KILLS set the seed and the kills of a test.
"""

import os
import random
import time

from model import read_data
from resp import Connection

SEED = int(os.environ.get("CAIRN_CRASH_SEED") or random.SystemRandom().randrange(10**9))
KILLS = int(os.environ.get("CAIRN_CRASH_KILLS") or 6)
WRITERS = 4


def pause(rng, least_s, most_s):
    """Waits for a random time, so that a kill comes at a random moment."""
    time.sleep(rng.uniform(least_s, most_s))  # a random moment


def settled_state(server, writers):
    """Checks every writer's data and the key count; returns the number of unacknowledged writes that were kept."""
    connection = Connection(server.host, server.port)
    try:
        found = read_data(connection)
        counted = connection.call(b"DBSIZE")
    finally:
        connection.close()
    kept = 0
    for writer in writers:
        prefix = writer.name + b":"
        kept += writer.settle({k: v for k, v in found.items() if k.startswith(prefix)})
    assert counted == (b":", len(found)), f"DBSIZE {counted[1]}, SCAN finds {len(found)} keys"
    return kept


def kill_while_writing(server, writers, rng):
    """Lets the writers write for a random time and kills the server."""
    for writer in writers:
        writer.start(server)
    pause(rng, 0.05, 0.8)
    server.kill9()
    for writer in writers:
        writer.join()


def kill_while_starting(server, rng):
    """Starts the process and kills it before, or just after, it can reply."""
    server.spawn()
    pause(rng, 0.0, 0.15)
    server.kill9()
