# SPDX-License-Identifier: BSD-3-Clause
"""Whether two replies are the same under a step's rule (step.py lists the rules)."""

import step as rules

SLACK = {rules.SECONDS: 3, rules.MILLISECONDS: 3000}


def is_error(reply):
    """Whether the reply is an error."""
    return reply[0] == b"-"


def flatten(reply):
    """The leaves of a reply, left to right."""
    kind, content = reply
    if isinstance(content, list):
        return [leaf for item in content for leaf in flatten(item)]
    return [reply]


def sort_key(reply):
    """A sort key for replies of any type."""
    return repr(reply)


def unordered(reply):
    """The reply with its elements sorted."""
    kind, content = reply
    if not isinstance(content, list):
        return reply
    return kind, sorted(content, key=sort_key)


def unordered_pairs(reply):
    """The reply with its pairs sorted."""
    kind, content = reply
    if not isinstance(content, list):
        return reply
    return kind, sorted(zip(content[::2], content[1::2]), key=sort_key)


def shape(reply):
    """The types of a reply and the lengths of its arrays."""
    kind, content = reply
    if isinstance(content, list):
        return kind, [shape(item) for item in content]
    return kind, content is None


# Facts of XINFO that are times, differ between versions of Redis, or describe its memory.
UNCOMPARED_FACTS = (
    b"idle",
    b"inactive",
    b"seen-time",
    b"active-time",
    b"radix-tree-keys",
    b"radix-tree-nodes",
)


def stream_facts(reply):
    """A reply of XINFO or XPENDING without times and without UNCOMPARED_FACTS."""
    kind, content = reply
    if not isinstance(content, list):
        return reply
    kinds = b"".join(item[0] for item in content)
    kept, skips = [], False
    for position, item in enumerate(content):
        if skips or (item[0] == b"$" and item[1] in UNCOMPARED_FACTS):
            skips = not skips
        elif (kinds, position) in ((b"$$::", 2), (b"$::", 1)):  # the delivery time of an entry
            kept.append((b"$", b"a time"))
        else:
            kept.append(stream_facts(item))
    return kind, kept


def same_sample(step, ours, theirs, ours_whole, theirs_whole):
    """Both replies are members of the collection, equally many; see rules.SAMPLE."""
    if shape(ours) != shape(theirs):
        return False
    for sample, whole in ((ours, ours_whole), (theirs, theirs_whole)):
        if sample[1] is None:
            return whole[1] in ([], None)
        leaves, population = flatten(sample), flatten(whole)
        members = [tuple(leaves[i : i + step.stride]) for i in range(0, len(leaves), step.stride)]
        # HRANDFIELD is compared with HGETALL, whose every second leaf is a field.
        width = 2 if step.words[0] == b"HRANDFIELD" else step.stride
        known = {tuple(population[i : i + step.stride]) for i in range(0, len(population), width)}
        if not known.issuperset(members) or (step.distinct and len(set(members)) != len(members)):
            return False
    return True


def same(step, ours, theirs, ours_before=None, theirs_before=None):
    """Whether the replies agree. `*_before` are the replies of the previous step."""
    if ours == theirs:
        return (
            step.rule != rules.SAMPLE
            or is_error(ours)
            or same_sample(step, ours, theirs, ours_before, theirs_before)
        )
    if step.rule == rules.EXACT or is_error(ours) or is_error(theirs):
        return False
    if step.rule in (rules.AS_ENCODED, rules.PAIRS_AS_ENCODED):
        if (b"$", b"hashtable") not in (ours_before, theirs_before):
            return False
        sort = unordered if step.rule == rules.AS_ENCODED else unordered_pairs
        return sort(ours) == sort(theirs)
    if step.rule == rules.STREAM_FACTS:
        return stream_facts(ours) == stream_facts(theirs)
    if step.rule == rules.UNORDERED:
        return unordered(ours) == unordered(theirs)
    if step.rule == rules.PAIRS:
        return unordered_pairs(ours) == unordered_pairs(theirs)
    if step.rule in SLACK:
        return (
            ours[0] == theirs[0] == b":"
            and min(ours[1], theirs[1]) > 0
            and abs(ours[1] - theirs[1]) <= SLACK[step.rule]
        )
    if step.rule == rules.SAMPLE:
        return same_sample(step, ours, theirs, ours_before, theirs_before)
    if step.rule == rules.SHAPE and step.words[0].upper() not in (b"INFO", b"CLIENT"):
        return shape(ours) == shape(theirs)
    if step.rule == rules.POP:
        return shape(ours) == shape(theirs)
    return ours[0] == theirs[0]  # SHAPE of a text, EXISTING_KEY
