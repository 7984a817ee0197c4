# SPDX-License-Identifier: BSD-3-Clause
"""Commands with very many keys take time in proportion to the number of keys.

The limit is processor time: these tests take about a second, and would take half a minute if each key were compared
with every other one.
"""

import contextlib
import pathlib

import pytest

from raw_client import RawClient
from waiting import wait_until

KEYS = [f"k{number}" for number in range(200_000)]
CLIENT_TIMEOUT_S = 1000
MOST_TICKS = 1200  # of processor time, 10 ms each

pytestmark = [pytest.mark.measures("time"), pytest.mark.slow, pytest.mark.alone]


def spent_ticks(server):
    """The processor time of the server."""
    fields = pathlib.Path(f"/proc/{server.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


@contextlib.contextmanager
def two_clients(server):
    """Two clients; at the end the server must not have used too much processor time."""
    before = spent_ticks(server)
    with RawClient(server.port) as one, RawClient(server.port) as other:
        for client in (one, other):
            client.socket.settimeout(CLIENT_TIMEOUT_S)
        yield one, other
    assert spent_ticks(server) - before < MOST_TICKS


def blocked_clients(other):
    """The number of clients blocked on a key."""
    return int(other("info", "clients")[1].split(b"blocked_clients:")[1].split()[0])


def test_a_client_blocked_on_many_keys_delays_no_other_client(server):
    """INFO counts its keys, and a key of another type wakes it without effect: both process each key once."""
    with two_clients(server) as (client, other):
        client.send("blpop", *KEYS, 0)
        wait_until(lambda: blocked_clients(other) == 1, "the wait")
        assert f"total_blocking_keys:{len(KEYS)}\r\n".encode() in other("info", "clients")[1]
        other("set", KEYS[7], "of another type")
        other("del", KEYS[7])
        other("rpush", KEYS[-1], "a")
        assert client.read() == (b"*", [(b"$", KEYS[-1].encode()), (b"$", b"a")])
        assert blocked_clients(other) == 0


@pytest.mark.parametrize("count", [10, 20_000])
def test_a_key_of_another_type_is_an_error_when_the_client_is_woken(server, count):
    """As in Redis 7.2, also with more keys than an I/O thread may read; the client stayed blocked."""
    with two_clients(server) as (client, other):
        client.send("blpop", *KEYS[:count], 0)
        wait_until(lambda: blocked_clients(other) == 1, "the wait")
        other("set", KEYS[1], "of another type")
        other("rpush", KEYS[count - 1], "a")
        assert client.read()[1].startswith(b"WRONGTYPE")


def test_many_keys_are_watched(server):
    """WATCH of a key that is already watched does not compare it with all the others."""
    with two_clients(server) as (client, other):
        for _ in range(2):
            assert client("watch", *KEYS) == (b"+", b"OK")
        assert f"total_watched_keys:{len(KEYS)}\r\n".encode() in other("info", "clients")[1]
        other("set", KEYS[-1], 1)
        client("multi")
        assert client("exec") == (b"*", None)
