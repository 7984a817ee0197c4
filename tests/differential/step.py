# SPDX-License-Identifier: BSD-3-Clause
"""One command of a run, and the rule that compares its two replies.

Rules (compare.py applies them; errors are compared exactly under every rule):
  EXACT        byte for byte
  UNORDERED    an array or set without a specified order
  PAIRS        the same for field and value pairs
  AS_ENCODED   EXACT, but UNORDERED if the previous step, an OBJECT ENCODING, returned hashtable
  PAIRS_AS_ENCODED  likewise with PAIRS
  SECONDS      integers that may differ by one or two, because the servers read their clocks one after the other
  MILLISECONDS the same with a tolerance of a few seconds, for a busy machine
  SHAPE        the same types and lengths, with any content (a TIME, an id)
  SAMPLE       a random choice from the reply of the previous step: the same number, all of them members
  POP          a random removal; the engine then removes from each server the members that the other removed
  EXISTING_KEY a random key of that server
  STREAM_FACTS EXACT, except for times and for facts that only one version of Redis reports
"""

import dataclasses

EXACT = "exact"
UNORDERED = "unordered"
PAIRS = "pairs"
AS_ENCODED = "as encoded"
PAIRS_AS_ENCODED = "pairs as encoded"
SECONDS = "seconds"
MILLISECONDS = "milliseconds"
SHAPE = "shape"
SAMPLE = "sample"
POP = "pop"
EXISTING_KEY = "existing key"
STREAM_FACTS = "stream facts"

# Allowed mutations of a step: any; only those that cannot result in another valid number; or none.
ANY, TEXT_ONLY, NOTHING = "any", "text only", "nothing"


@dataclasses.dataclass(slots=True)
class Step:
    """One command."""

    words: list
    rule: str = EXACT
    mutable: str = ANY
    stride: int = 1  # SAMPLE: the number of reply elements per member
    distinct: bool = False  # SAMPLE: no member twice
    replies: int = 1
    database: int = 0  # the selected database, set by the round

    @property
    def ends_batch(self):
        """Whether the replies are needed before the next command is sent."""
        return self.rule in (POP, EXISTING_KEY)


def command(name, *words, **options):
    """A step whose words may be bytes, numbers, texts or lists of bytes."""
    flat = [name.encode()]
    for word in words:
        if isinstance(word, list):
            flat += word
        else:
            flat.append(word if isinstance(word, bytes) else str(word).encode())
    return Step(flat, **options)
