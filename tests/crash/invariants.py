# SPDX-License-Identifier: BSD-3-Clause
"""Shared keys, writes that each keep an invariant, and reads that check it.

    accounts  strings, transfers between them: the sum is constant
    ledger    a hash of many rows, debited in one field and credited in another: the sum is zero
    pairs     a counter and a member of a sorted set, incremented together: they are equal
    mirrors   strings that one MSET writes: they are equal
    piles     lists, elements are moved between them: the number of elements is constant
    heaps     sets, members are moved between them: the number of members is constant
    seats     keys of which one exists; it is renamed back and forth

If no read ever finds a broken invariant, then every write is atomic, whatever other clients write and whenever the
server is killed. The writes include every way to write several keys at once: EXEC with and without WATCH, EVAL with and
without declared keys, FCALL, plain commands of several keys.

A transaction or script also increments the counter of its client, so the number of acknowledged writes can be checked
after a restart.
"""

from resp import encode

ACCOUNTS = [b"account:%d" % i for i in range(12)]
PAIRS = [b"pair:%d" % i for i in range(4)]
MIRRORS = [b"mirror:%d" % i for i in range(4)]
PILES = [b"pile:%d" % i for i in range(4)]
HEAPS = [b"heap:%d" % i for i in range(4)]
SEATS = [b"seat:%d" % i for i in range(6)]
LEDGER_FIELDS = 1500
BALANCE, ELEMENTS = 1000, 400

TRANSFER = b"""
local from, to, done, amount = KEYS[1], KEYS[2], KEYS[3], tonumber(ARGV[1])
if #KEYS == 0 then from, to, done = ARGV[2], ARGV[3], ARGV[4] end
redis.call('SET', from, tonumber(redis.call('GET', from)) - amount)
redis.call('INCRBY', to, amount)
return redis.call('INCR', done)
"""
BOOK = b"""
redis.call('HINCRBY', KEYS[1], ARGV[1], -ARGV[3])
redis.call('HINCRBY', KEYS[1], ARGV[2], ARGV[3])
return redis.call('INCR', KEYS[2])
"""
LIBRARY = b"""#!lua name=fire
redis.register_function('transfer', function(KEYS, ARGV) %s end)
redis.register_function('pair', function(KEYS, ARGV)
  redis.call('INCR', KEYS[1])
  redis.call('ZINCRBY', KEYS[2], 1, KEYS[1])
  return redis.call('INCR', KEYS[3])
end)
""" % TRANSFER
SUM_OF_STRINGS = b"""
local sum = 0
for _, key in ipairs(KEYS) do sum = sum + redis.call('GET', key) end
return sum
"""
SUM_OF_LENGTHS = b"""
local sum = 0
for _, key in ipairs(KEYS) do sum = sum + redis.call(ARGV[1], key) end
return sum
"""


def script(name, text, keys, *arguments):
    """EVAL, EVAL_RO or FCALL of a script's text or a function's name."""
    return [name, text, b"%d" % len(keys), *keys, *arguments]


def transaction(*commands):
    """The commands between MULTI and EXEC."""
    return [[b"MULTI"], *commands, [b"EXEC"]]


def preparation():
    """The commands that create the keys."""
    fields = [word for i in range(LEDGER_FIELDS) for word in (b"field %d" % i, b"0")]
    elements = [b"element %d" % i for i in range(ELEMENTS)]
    return [
        [b"FLUSHALL"],
        [b"FUNCTION", b"LOAD", b"REPLACE", LIBRARY],
        [b"MSET", *(word for key in ACCOUNTS for word in (key, b"%d" % BALANCE))],
        [b"MSET", *(word for key in PAIRS for word in (key, b"0"))],
        [b"ZADD", b"twins", *(word for key in PAIRS for word in (b"0", key))],
        [b"HSET", b"ledger", *fields],
        [b"MSET", *(word for key in MIRRORS for word in (key, b"0"))],
        [b"RPUSH", PILES[0], *elements],
        [b"SADD", HEAPS[0], *elements],
        [b"SET", SEATS[0], b"taken"],
    ]


class Writes:
    """Draws writes for one client. Each is a list of commands and `counts`: whether it increments the client's counter,
    by an INCR whose result is the last number of the last reply."""

    def __init__(self, rng, counter):
        self.rng, self.counter = rng, counter
        self.counting = [
            self.transfer_by_exec,
            self.transfer_by_script,
            self.transfer_by_function,
            self.book_by_exec,
            self.book_by_script,
            self.count_pair_by_exec,
            self.count_pair_by_function,
            lambda: [[b"INCR", self.counter]],
        ]
        self.plain = [self.write_mirrors, self.move_element, self.move_member, self.change_seats]

    def draw(self):
        """(commands, whether they increment the client's counter)."""
        if self.rng.random() < 0.3:
            return self.rng.choice(self.plain)(), False
        return self.rng.choice(self.counting)(), True

    def two_accounts(self):
        """(source, target, amount)."""
        return *self.rng.sample(ACCOUNTS, 2), b"%d" % self.rng.randint(1, 99)

    def transfer_by_exec(self):
        """DECRBY and INCRBY in a transaction."""
        source, target, amount = self.two_accounts()
        return transaction(
            [b"DECRBY", source, amount], [b"INCRBY", target, amount], [b"INCR", self.counter]
        )

    def transfer_by_script(self):
        """The same in Lua; every other time without declared keys."""
        source, target, amount = self.two_accounts()
        keys = [source, target, self.counter]
        if self.rng.random() < 0.5:
            return [script(b"EVAL", TRANSFER, [], amount, *keys)]
        return [script(b"EVAL", TRANSFER, keys, amount)]

    def transfer_by_function(self):
        """The same by a function."""
        source, target, amount = self.two_accounts()
        return [script(b"FCALL", b"transfer", [source, target, self.counter], amount)]

    def finish_watched_transfer(self, source, target, amount, balances):
        """The transaction after WATCH and MGET of two accounts that held `balances`."""
        left, right = balances[0] - int(amount), balances[1] + int(amount)
        return transaction(
            [b"SET", source, b"%d" % left], [b"SET", target, b"%d" % right], [b"INCR", self.counter]
        )

    def two_fields(self):
        """Two fields of the ledger and an amount."""
        fields = [b"field %d" % i for i in self.rng.sample(range(LEDGER_FIELDS), 2)]
        return *fields, b"%d" % self.rng.randint(1, 99)

    def book_by_exec(self):
        """A debit and a credit in a transaction."""
        debit, credit, amount = self.two_fields()
        return transaction(
            [b"HINCRBY", b"ledger", debit, b"-" + amount],
            [b"HINCRBY", b"ledger", credit, amount],
            [b"INCR", self.counter],
        )

    def book_by_script(self):
        """A debit and a credit in Lua."""
        return [script(b"EVAL", BOOK, [b"ledger", self.counter], *self.two_fields())]

    def count_pair_by_exec(self):
        """Increments a counter and its pair in a transaction."""
        key = self.rng.choice(PAIRS)
        return transaction(
            [b"INCR", key], [b"ZINCRBY", b"twins", b"1", key], [b"INCR", self.counter]
        )

    def count_pair_by_function(self):
        """Increments a counter and its pair by a function."""
        return [script(b"FCALL", b"pair", [self.rng.choice(PAIRS), b"twins", self.counter])]

    def write_mirrors(self):
        """One MSET."""
        value = b"%d" % self.rng.getrandbits(40)
        return [[b"MSET", *(word for key in MIRRORS for word in (key, value))]]

    def move_element(self):
        """LMOVE between two piles."""
        ends = (self.rng.choice((b"LEFT", b"RIGHT")), self.rng.choice((b"LEFT", b"RIGHT")))
        return [[b"LMOVE", *self.rng.sample(PILES, 2), *ends]]

    def move_member(self):
        """SMOVE between two heaps, of a member that may be in another one."""
        member = b"element %d" % self.rng.randrange(ELEMENTS)
        return [[b"SMOVE", *self.rng.sample(HEAPS, 2), member]]

    def change_seats(self):
        """RENAMENX: an error if the source does not exist."""
        return [[b"RENAMENX", *self.rng.sample(SEATS, 2)]]


def numbers(reply):
    """The numbers of an array, of a bulk string or of an integer."""
    kind, content = reply
    return [float(item[1]) for item in content] if kind == b"*" else [float(content)]


def check_sum(expected):
    """A check that the numbers of the last reply add up to `expected`."""
    return lambda replies: sum(numbers(replies[-1])) == expected


def check_pairs(replies):
    """The counters from MGET equal the scores from ZRANGE WITHSCORES, in one EXEC."""
    counters, twins = replies[-1][1]
    found = {twins[1][i][1]: float(twins[1][i + 1][1]) for i in range(0, len(twins[1]), 2)}
    return found == dict(zip(PAIRS, numbers(counters), strict=True))


def check_mirrors(replies):
    """All mirrors are equal."""
    return len(set(numbers(replies[-1]))) == 1


def check_sum_of_mget(replies):
    """The sum of accounts in the one MGET of an EXEC."""
    return sum(numbers(replies[-1][1][0])) == BALANCE * len(ACCOUNTS)


READS = {
    "accounts by MGET": ([[b"MGET", *ACCOUNTS]], check_sum(BALANCE * len(ACCOUNTS))),
    "accounts by GETs in EXEC": (
        transaction(*([b"GET", key] for key in ACCOUNTS)), check_sum(BALANCE * len(ACCOUNTS)),
    ),
    "accounts by MGET in EXEC": (transaction([b"MGET", *ACCOUNTS]), check_sum_of_mget),
    "accounts by EVAL": (
        [script(b"EVAL", SUM_OF_STRINGS, ACCOUNTS)], check_sum(BALANCE * len(ACCOUNTS)),
    ),
    "accounts by EVAL_RO": (
        [script(b"EVAL_RO", SUM_OF_STRINGS, ACCOUNTS)], check_sum(BALANCE * len(ACCOUNTS)),
    ),
    "ledger by HVALS": ([[b"HVALS", b"ledger"]], check_sum(0)),
    "pairs": (
        transaction(
            [b"MGET", *PAIRS], [b"ZRANGE", b"twins", b"0", b"-1", b"WITHSCORES"]
        ), check_pairs,
    ),
    "mirrors": ([[b"MGET", *MIRRORS]], check_mirrors),
    "piles by LLENs in EXEC": (
        transaction(*([b"LLEN", key] for key in PILES)), check_sum(ELEMENTS),
    ),
    "piles by EVAL": (
        [script(b"EVAL", SUM_OF_LENGTHS, PILES, b"LLEN")], check_sum(ELEMENTS),
    ),
    "heaps by SUNION": (
        [[b"SUNION", *HEAPS]], lambda replies: len(replies[-1][1]) == ELEMENTS,
    ),
    "heaps by EVAL": (
        [script(b"EVAL", SUM_OF_LENGTHS, HEAPS, b"SCARD")], check_sum(ELEMENTS),
    ),
    "seats by EXISTS": ([[b"EXISTS", *SEATS]], check_sum(1)),
}


def payload(commands):
    """The commands as bytes."""
    return b"".join(map(encode, commands))
