# SPDX-License-Identifier: BSD-3-Clause
"""Commands on collections that are large beside memory-budget: refused if they would need too much memory."""

import concurrent.futures

import pytest
import redis

from harness import Server

MEMBERS = 300_000
LARGE_MEMBERS = 6_000
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


@pytest.mark.measures("memory")
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


@pytest.fixture(name="large_members", scope="module")
def fixture_large_members():
    """A server with equal sets, and equal sorted sets, whose members take three times what a command may use."""
    with Server(memory_budget=BUDGET_BYTES) as server:
        with redis.Redis(port=server.port) as client:
            for begin in range(0, LARGE_MEMBERS, 1000):
                members = [f"{number:08}" * 1000 for number in range(begin, begin + 1000)]
                for key in "ab":
                    client.sadd(f"set:{key}", *members)
                    client.zadd(f"zset:{key}", dict.fromkeys(members, 1))
        yield server


@pytest.mark.measures("memory")
@pytest.mark.parametrize("line, reply", [
    ("SINTERCARD 2 set:a set:b", LARGE_MEMBERS), ("SDIFF set:a set:b", []),
    ("ZINTERCARD 2 zset:a zset:b", LARGE_MEMBERS), ("ZDIFF 2 zset:a zset:b", None)])
def test_large_members_are_not_all_read_into_memory(large_members, line, reply):
    """A command reads as many members as it may use and looks up the others. ZDIFF needs them all, and is refused."""
    with redis.Redis(port=large_members.port) as client:
        client.response_callbacks.clear()
        before = large_members.begin_peak()
        if reply is None:
            with pytest.raises(redis.exceptions.OutOfMemoryError, match="more memory than its part of memory-budget"):
                client.execute_command(*line.split())
        else:
            assert client.execute_command(*line.split()) == reply
        assert large_members.peak_bytes() - before < BUDGET_BYTES * 3 / 4


def test_many_commands_at_once_are_bounded_together():
    """Copies of different keys, each just within the limit, take turns: their memory does not add up."""
    keys, members = 8, 50_000

    def copy(number):
        with redis.Redis(port=server.port) as client:
            return client.copy(f"zset{number}", f"copy{number}", replace=True)

    with Server(memory_budget=BUDGET_BYTES) as server:
        with redis.Redis(port=server.port) as client:
            for key in range(keys):
                for begin in range(0, members, 10_000):
                    client.zadd(f"zset{key}", {f"member:{number}": number for number in range(begin, begin + 10_000)})
        server.begin_peak()
        assert all(map(copy, range(keys)))
        one_by_one = server.peak_bytes()
        server.begin_peak()
        with concurrent.futures.ThreadPoolExecutor(keys) as pool:
            assert all(pool.map(copy, range(keys)))
        # At most 34 MB in 15 runs, 12 of them six at a time on two cores.
        assert server.peak_bytes() - one_by_one < BUDGET_BYTES * 3 / 4


def test_parts_are_served(server):
    """The same work in parts is done, and a whole key is deleted."""
    with redis.Redis(port=server.port) as client:
        client.sunionstore("other", "set:none", "set:none")
        assert client.zremrangebyrank("zset", 0, 29_999) == 30_000
        assert client.zcard("zset") == MEMBERS - 30_000
        assert client.spop("set", 10) is not None
        assert client.delete("zset", "set") == 2
        assert client.dbsize() == 0
