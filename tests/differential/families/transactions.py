# SPDX-License-Identifier: BSD-3-Clause
"""MULTI and EXEC around commands of other families, also blocking ones, and WATCH."""

from families import blocking, wrapped
from step import NOTHING, command


def queued(s):
    """A command for the queue."""
    draw = s.rng.random()
    if draw < 0.05:
        return [b"NOSUCH", b"x"]
    if draw < 0.08:
        return [b"GET"]
    return blocking.words(s) if draw < 0.25 else wrapped.words(s)


def transaction(s):
    """A transaction, sometimes with WATCH, a change of the watched key, or DISCARD."""
    steps = []
    if s.chance(0.3):
        key = s.any_key()
        steps.append(command("WATCH", key, mutable=NOTHING))
        if s.chance(0.4):
            steps.append(command("APPEND", key, "x", mutable=NOTHING))
        if s.chance(0.1):
            steps.append(command("UNWATCH", mutable=NOTHING))
    steps.append(command("MULTI", mutable=NOTHING))
    for _ in range(s.rng.randint(0, 5)):
        name, *rest = queued(s)
        steps.append(command(name.decode(), rest, mutable=NOTHING))
    steps.append(command("DISCARD" if s.chance(0.1) else "EXEC", mutable=NOTHING))
    return steps


COMMANDS = [
    (10, transaction),
    (0.5, lambda s: command(s.pick("EXEC", "DISCARD", "UNWATCH"), mutable=NOTHING)),
]
