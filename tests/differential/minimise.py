# SPDX-License-Identifier: BSD-3-Clause
"""Reduces a history to the commands that are needed to show a difference.

Every trial empties both servers and sends the candidate commands again: first those that share a key with the failing
command, or all if these do not suffice. Then pieces of halving size are left out while the difference remains (Zeller's
ddmin, without its complements, which cost more than they gain here).
"""

from resp import encode, parse_all

MOST_TRIALS = 400


# Commands after which a connection replies nothing, or QUEUED, until the second word's command.
OPENS = {b"MULTI": (b"EXEC", b"DISCARD"), b"CLIENT REPLY OFF": (b"CLIENT REPLY ON",)}


def is_open(steps):
    """Whether a transaction or CLIENT REPLY OFF is still open: then the end of a batch gets no reply."""
    open_until = {}
    for s in steps:
        text = b" ".join(s.words).upper()
        for start, ends in OPENS.items():
            if text == start:
                open_until[start] = True
            elif text in ends:
                open_until.pop(start, None)
    return bool(open_until)


class Trials:
    """Replays histories on fresh data. `protocol` is that of the failing command."""

    def __init__(self, pair, limits, protocol):
        self.pair, self.limits, self.protocol = pair, limits, protocol
        self.count = 0

    def shows(self, steps):
        """Whether the last step's replies still differ after these steps."""
        self.count += 1
        if is_open(steps):
            return False
        self.pair.reset(self.limits)
        database, payload = 0, []
        for s in steps:
            if s.database != database:
                database = s.database
                payload.append(encode([b"SELECT", b"%d" % database]))
            payload.append(encode(s.words))
        replies = []
        for connection in self.pair.by_protocol[self.protocol]:
            mark = connection.send_batch(b"".join(payload))
            replies.append(parse_all(connection.read_batch(mark)))
        ours, theirs = replies
        agrees = self.pair.oracle.agrees
        if len(ours) < 2 or len(ours) != len(theirs):
            return len(ours) != len(theirs) or (
                bool(ours) and not agrees(steps[-1], ours[-1], theirs[-1])
            )
        return not agrees(steps[-1], ours[-1], theirs[-1], ours[-2], theirs[-2])


def related(steps, last):
    """The steps with a key of `last`, or with a key that occurs together with one of these."""
    names, chosen = {w for w in last.words[1:] if b":" in w}, []
    for s in reversed(steps):
        words = {w for w in s.words[1:] if b":" in w}
        if words & names or s.words[0].upper() in (b"SWAPDB", b"FLUSHDB", b"FLUSHALL"):
            names |= words
            chosen.append(s)
    return chosen[::-1]


def minimise(trials, history, failing):
    """A short list of steps, the failing one last, that shows the difference, or None."""
    earlier = [s for _, s in history if s is not failing]
    for steps in ([], related(earlier, failing), earlier):
        if trials.shows([*steps, failing]):
            break
    else:
        return None
    size = max(1, len(steps) // 2)
    while steps and trials.count < MOST_TRIALS:
        removed, at = False, 0
        while at < len(steps) and trials.count < MOST_TRIALS:
            rest = steps[:at] + steps[at + size :]
            if trials.shows([*rest, failing]):
                steps, removed = rest, True
            else:
                at += size
        if size == 1 and not removed:
            break
        size = max(1, size // 2)
    return [*steps, failing]


def describe(steps):
    """The steps as typed commands."""
    lines, database = [], 0
    for s in steps:
        if s.database != database:
            database = s.database
            lines.append(f"  SELECT {database}")
        words = " ".join(
            w.decode()
            if w.isascii() and w.decode().isprintable() and b" " not in w and w
            else repr(w)[1:]
            for w in s.words
        )
        lines.append("  " + words[:1000])
    return "\n".join(lines)
