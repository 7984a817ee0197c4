# SPDX-License-Identifier: BSD-3-Clause
"""ACL: users with random rules, how their rules are shown, and their permissions."""

from families import wrapped
from step import NOTHING, SHAPE, UNORDERED, command

USERS = (b"alice", b"bob", b"carol")
NAMES = (
    b"get", b"set", b"del", b"config", b"config|get", b"config|set", b"client", b"client|id", b"eval",
    b"lpush", b"xadd", b"zadd", b"sort", b"publish", b"subscribe", b"acl|whoami", b"select", b"nosuch",
    b"config|nosuch", b"GET", b"mset",
)  # fmt: skip
CATEGORIES = (
    b"@read", b"@write", b"@string", b"@hash", b"@dangerous", b"@all", b"@keyspace", b"@fast",
    b"@connection", b"@scripting", b"@nosuch", b"@LIST",
)  # fmt: skip


def rule(s):
    """One rule of ACL SETUSER."""
    sign = s.pick(b"+", b"-")
    return s.pick(
        sign + s.rng.choice(NAMES),
        sign + s.rng.choice(NAMES),
        sign + s.rng.choice(CATEGORIES),
        s.pick(b"+select|0", b"+get|x", b"-get|x", b"+config|get|x", b"+config|"),
        s.pick(b"~", b"%R~", b"%W~", b"%RW~", b"%~", b"%X~") + s.pick(b"*", b"string:*", b"hash:1", b"z*"),
        s.pick(b"&*", b"&news*", b"&a"),
        s.pick(b"on", b"off", b"nopass", b"resetpass", b"resetkeys", b"resetchannels", b"reset"),
        s.pick(b"allkeys", b"allcommands", b"nocommands", b"allchannels", b"clearselectors"),
        s.pick(b">pw", b"<pw", b"<other", b"#zz", b"!zz", b"foo", b"(+get ~a)", b"(+@read %R~s*", b"()"),
    )


def rules(s):
    """Several rules."""
    return [rule(s) for _ in range(s.rng.randint(0, 4))]


def as_user(s):
    """Commands of other families on the connection of a user."""
    user = s.rng.choice(USERS)
    steps = [command("AUTH", user, "pw", mutable=NOTHING)]
    for _ in range(s.rng.randint(1, 4)):
        name, *rest = wrapped.words(s)
        steps.append(command(name.decode(), rest, mutable=NOTHING))
    steps += [command("ACL", "WHOAMI", mutable=NOTHING), command("AUTH", "default", "", mutable=NOTHING)]
    return steps


def dry_run(s):
    """ACL DRYRUN of a random command."""
    return command("ACL", "DRYRUN", s.pick(*USERS, b"nobody"), wrapped.words(s), mutable=NOTHING)


def categories(s):
    """ACL CAT of one category: the list of all has those of modules too."""
    name = s.pick([b"nosuch"], [b"transaction"], [b"PUBSUB"])
    return command("ACL", "CAT", name, rule=UNORDERED, mutable=NOTHING)


def password(s):
    """ACL GENPASS."""
    bits = s.pick([], [b"0"], [b"8"], [b"x"], [b"5000"])
    return command("ACL", "GENPASS", bits, rule=SHAPE, mutable=NOTHING)


COMMANDS = [
    (10, lambda s: command("ACL", "SETUSER", s.rng.choice(USERS), rules(s), mutable=NOTHING)),
    (6, lambda s: command("ACL", "GETUSER", s.pick(*USERS, b"nobody"), mutable=NOTHING)),
    (2, lambda s: command("ACL", "LIST", mutable=NOTHING)),
    (1, lambda s: command("ACL", "USERS", mutable=NOTHING)),
    (1, lambda s: command("ACL", "DELUSER", s.pick(*USERS, b"default"), mutable=NOTHING)),
    (8, dry_run),
    (6, as_user),
    (1, lambda s: command("ACL", "WHOAMI", mutable=NOTHING)),
    (1, categories),
    (1, password),
    (1, lambda s: command("ACL", "LOG", s.pick(b"RESET", b"x", b"0"), mutable=NOTHING)),
]
