# SPDX-License-Identifier: BSD-3-Clause
"""The source of the words of random commands: keys, members, numbers and deadlines of one round.

The space is small on purpose. Two commands must often use the same key, a member must often exist already, and a key
must sometimes have the wrong type. A round draws its own sizes, so some rounds stay within Redis's limits for compact
encodings and others exceed them.

Deadlines do not depend on the two servers' clocks: a relative one is at least 1000 seconds away, an absolute one is a
fixed number or far in the past.
"""

# Keys of the last two families are used only by commands of that family and of keys. Redis's result for a HyperLogLog
# after APPEND, or for a place with a negative score, is not worth copying.
FAMILIES = ("string", "hash", "set", "zset", "list", "stream", "bits", "hll", "geo")

# Texts at the limits of Redis's integers.
ODD_INTEGERS = [
    b"9223372036854775807",
    b"-9223372036854775808",
    b"9223372036854775808",
    b"-9223372036854775809",
    b"18446744073709551615",
    b"2147483647",
    b"2147483648",
    b"-2147483649",
    b"4294967296",
    b"0",
    b"-0",
    b"+1",
    b"01",
    b" 1",
    b"1 ",
    b"",
    b"1.0",
    b"1e3",
    b"0x10",
    b"abc",
    b"-",
    b"\x00",
    b"99999999999999999999999",
]
# Texts at the limits of Redis's doubles.
ODD_FLOATS = [
    b"inf",
    b"-inf",
    b"+inf",
    b"Infinity",
    b"nan",
    b"-nan",
    b"1e308",
    b"-1.7976931348623157e308",
    b"1e309",
    b"1e-320",
    b"4.9406564584124654e-324",
    b"0",
    b"-0",
    b"0x1p3",
    b"1.",
    b".5",
    b"+.5e1",
    b" 1",
    b"1 ",
    b"",
    b"1e",
    b"abc",
    b"1.5abc",
    b"9007199254740993",
    b"3.141592653589793238462643383279",
    b"0.1",
    b"-1e-7",
    b"123456789012345678",
    b"1e17",
    b"1e21",
    b"99999999999999999999",
]


class Space:
    """The words of one round. `rng` is the only source of random numbers. `avoided` matches commands that must not be
    wrapped in others."""

    def __init__(self, rng, avoided=None):
        self.rng, self.avoided = rng, avoided
        self.databases = [0, 0]  # of the RESP2 and the RESP3 connection
        count = rng.choice((2, 4, 8, 20))
        self.keys = {f: [b"%s:%d" % (f.encode(), i) for i in range(count)] for f in FAMILIES}
        self.all_keys = [key for f in FAMILIES[:-2] for key in self.keys[f]]
        self.members = self._draw_members(rng.choice((6, 20, 60, 300)))

    def _draw_members(self, count):
        rng = self.rng
        members = []
        for i in range(count):
            kind = rng.randrange(10)
            if kind < 3:
                members.append(
                    b"%d"
                    % rng.choice((i, -i, rng.randrange(10**6), rng.randrange(-(2**63), 2**63)))
                )
            elif kind < 8:
                members.append(b"m%d" % i)
            elif kind == 8:
                members.append(
                    rng.choice(
                        (
                            b"",
                            b"a b",
                            b"\r\n",
                            b"\x00\xff",
                            b"07",
                            b"-0",
                            b"1.0",
                            b"9223372036854775808",
                            "\u00e9".encode(),
                        )
                    )
                )
            else:
                members.append(b"x" * rng.choice((63, 64, 65, 100, 300)) + b"%d" % i)
        return members

    def chance(self, share):
        """True in `share` of the cases."""
        return self.rng.random() < share

    def pick(self, *choices):
        """One of the arguments."""
        return self.rng.choice(choices)

    def key(self, family):
        """A key of this family; sometimes one of another type, or one that never exists."""
        draw = self.rng.random()
        if draw < 0.9 or family in FAMILIES[-2:]:
            return self.rng.choice(self.keys[family])
        if draw < 0.97:
            return self.any_key()
        return b"missing:%d" % self.rng.randrange(3)

    def lex_key(self):
        """A sorted set in which every score is 0, as the lexicographic commands require."""
        return b"lex:%d" % self.rng.randrange(2)

    def any_key(self):
        """A key of any family."""
        return self.rng.choice(self.all_keys)

    def key_list(self, family, most=4):
        """One to `most` keys."""
        return [self.key(family) for _ in range(self.rng.randint(1, most))]

    def key_pair(self):
        """Two keys, mostly of one family: rounds with many wrong types would test little."""
        if self.chance(0.15):
            return [self.any_key(), self.any_key()]
        return self.rng.choices(self.rng.choice(list(self.keys.values())), k=2)

    def member(self):
        """A member, field or element."""
        return self.rng.choice(self.members)

    def member_list(self, most=5):
        """Members, with repetitions; sometimes many."""
        if self.chance(0.03):
            most = 40
        return [self.member() for _ in range(self.rng.randint(1, most))]

    def value(self):
        """A string value: a number, a text, or bytes."""
        draw = self.rng.randrange(12)
        if draw < 4:
            return b"%d" % self.rng.randrange(-100, 1000)
        if draw == 4:
            return self.rng.choice(ODD_INTEGERS)
        if draw == 5:
            return self.rng.choice(ODD_FLOATS)
        if draw == 6:
            return b"y" * self.rng.choice((43, 44, 45, 1000, 5000))
        return self.member()

    def integer(self):
        """An integer argument: mostly small and valid."""
        if self.chance(0.12):
            return self.rng.choice(ODD_INTEGERS)
        reach = self.pick(3, 8, 20)
        return b"%d" % self.rng.randint(-reach, reach)

    def count(self):
        """A count: mostly small and not negative."""
        if self.chance(0.1):
            return self.pick(
                b"-1", b"0", b"abc", b"", b"9223372036854775808", b"-9223372036854775808"
            )
        return b"%d" % self.rng.randint(0, 8)

    def number(self):
        """A score or increment: mostly a short decimal."""
        draw = self.rng.random()
        if draw < 0.12:
            return self.rng.choice(ODD_FLOATS)
        if draw < 0.6:
            return b"%d" % self.rng.randint(-10, 10)
        return b"%g" % (self.rng.randint(-400, 400) / 16)

    def seconds(self):
        """A time to live in seconds that neither ends nor is rounded differently during a run."""
        return b"%d" % self.rng.randrange(1000, 10**8)

    def milliseconds(self):
        """A time to live in milliseconds, like `seconds`."""
        return b"%d" % self.rng.randrange(10**6, 10**11)

    def bad_time(self):
        """A time to live that no option accepts."""
        return self.pick(
            b"0",
            b"-1",
            b"abc",
            b"",
            b"1.5",
            b"9223372036854775807",
            b"-9223372036854775808",
            b"9223372036854775808",
        )

    def timestamp(self):
        """An absolute time in seconds, far in the future; sometimes a repeated one."""
        return b"%d" % self.pick(
            4000000000, 4000000001, 5000000000, self.rng.randrange(4 * 10**9, 9 * 10**9)
        )

    def pattern(self):
        """A glob pattern."""
        return self.pick(
            b"*",
            b"*:1",
            b"s*",
            b"?et:*",
            b"[sz]et:*",
            b"[^s]*",
            b"hash:[0-3]",
            b"m1*",
            b"\\*",
            b"",
            b"nothing",
            b"*1*",
            b"[",
            b"[a-",
            b"m[1-3]",
            b"**",
            b"x*0",
            b"zset:?",
            b"\\m1",
            b"[z-a]*",
        )

    def words_of_case(self, text):
        """Words of an option string, in random letter case."""
        if self.chance(0.1):
            text = text.swapcase()
        return text.encode().split()

    def some_options(self, *options, most=2):
        """Up to `most` of the option texts, in any order, possibly conflicting."""
        chosen = self.rng.sample(options, min(len(options), self.rng.randint(0, most)))
        words = []
        for option in chosen:
            words += [option] if isinstance(option, bytes) else self.words_of_case(option)
        return words
