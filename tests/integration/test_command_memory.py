# SPDX-License-Identifier: BSD-3-Clause
"""Commands on collections that are large beside memory-budget: refused if they would need too much memory."""

import concurrent.futures

import pytest
import redis

from harness import Server

MEMBERS = 300_000
BUDGET_BYTES = 64 << 20
COMMANDS = ("COPY set copy", "COPY zset copy", "ZREMRANGEBYRANK zset 1 -1000", "SUNIONSTORE union set", "SUNION set",
            "ZUNIONSTORE union 1 zset", "SORT set ALPHA STORE sorted", "DUMP zset")


@pytest.fixture(name="server", scope="module")
def fixture_server():
    """A server with a set and a sorted set whose rows take more than a quarter of its budget."""
    with Server(memory_budget=BUDGET_BYTES) as server:
        with redis.Redis(port=server.port) as client:
            for begin in range(0, MEMBERS, 10_000):
                numbers = range(begin, begin + 10_000)
                client.sadd("set", *(f"member:{number}" for number in numbers))
                client.zadd("zset", {f"member:{number}": number for number in numbers})
        yield server


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_is_refused(server, line):
    """It changes nothing, and the server has not used more memory than the command may use."""
    with redis.Redis(port=server.port) as client:
        before = server.begin_peak()
        with pytest.raises(redis.exceptions.OutOfMemoryError, match="more memory than its part of memory-budget"):
            client.execute_command(*line.split())
        assert server.peak_bytes() - before < BUDGET_BYTES / 2
        assert client.dbsize() == 2
        assert (client.scard("set"), client.zcard("zset")) == (MEMBERS, MEMBERS)


def test_many_commands_at_once_are_bounded_together():
    """Copies of different keys, each just within the limit, take turns: their memory does not add up."""
    keys, members = 8, 50_000

    def copy(number):
        with redis.Redis(port=server.port) as client:
            return client.copy(f"zset{number}", f"copy{number}")

    with Server(memory_budget=BUDGET_BYTES) as server:
        with redis.Redis(port=server.port) as client:
            for key in range(keys):
                for begin in range(0, members, 10_000):
                    client.zadd(f"zset{key}", {f"member:{number}": number for number in range(begin, begin + 10_000)})
        before = server.begin_peak()
        with concurrent.futures.ThreadPoolExecutor(keys) as pool:
            assert all(pool.map(copy, range(keys)))
        assert server.peak_bytes() - before < BUDGET_BYTES * 3 / 4


def test_parts_are_served(server):
    """The same work in parts is done, and a whole key is deleted."""
    with redis.Redis(port=server.port) as client:
        client.sunionstore("other", "set:none", "set:none")
        assert client.zremrangebyrank("zset", 0, 29_999) == 30_000
        assert client.zcard("zset") == MEMBERS - 30_000
        assert client.spop("set", 10) is not None
        assert client.delete("zset", "set") == 2
        assert client.dbsize() == 0
