# SPDX-License-Identifier: BSD-3-Clause
"""A request of some kilobytes that names the same value often, or asks for a few parts of a large one, takes little
memory.

Memory is measured by the kernel's peak of the process since the start of the request.
"""

import pytest
import redis
from harness import Server
from waiting import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.measures("memory")]

MB = 1 << 20


@pytest.fixture(name="server", scope="module")
def fixture_server():
    """A server with small caches."""
    with Server(memory_budget="128mb") as running:
        yield running


def growth(server, *words):
    """Runs a command, and returns its reply and by how much the process grew meanwhile."""
    client = server.client()
    client.ping()
    before = server.begin_peak()
    reply = client.execute_command(*words)
    return reply, server.peak_bytes() - before


def test_a_merge_of_many_digests_keeps_one_at_a_time(server):
    """200 decoded copies of the digest take 190 MB."""
    client = server.client()
    client.execute_command("TDIGEST.CREATE", "large", "COMPRESSION", 10000)
    client.execute_command("TDIGEST.ADD", "large", *range(60_000))
    reply, grown = growth(server, "TDIGEST.MERGE", "target", 200, *["large"] * 200)
    assert reply == b"OK"
    assert grown < 64 * MB
    fields = client.execute_command("TDIGEST.INFO", "target")
    assert fields[fields.index(b"Observations") + 1] == 200 * 60_000


@pytest.mark.parametrize("path", [".", "$", "$[*]"])
def test_a_long_indentation_is_refused(server, path):
    """The reply would have 100 GB."""
    client = server.client()
    client.execute_command("JSON.SET", "document", "$", "[" + ",".join(["[1]"] * 50_000) + "]")
    before = server.begin_peak()
    with pytest.raises(redis.ConnectionError):
        client.execute_command("JSON.GET", "document", "INDENT", " " * MB, path)
    assert server.peak_bytes() - before < 64 * MB
    assert server.client().execute_command("JSON.GET", "document", "INDENT", " ", "$[0][0]") == b"[ 1]"


def test_a_merge_of_many_sketches_keeps_each_once(server):
    """20,000 copies of the sketch take 160 MB."""
    client = server.client()
    client.execute_command("CMS.INITBYDIM", "sketch", 2000, 1)
    client.execute_command("CMS.INCRBY", "sketch", "item", 2)
    reply, grown = growth(server, "CMS.MERGE", "sketch", 20_000, *["sketch"] * 20_000)
    assert reply == b"OK"
    assert grown < 64 * MB
    assert client.execute_command("CMS.QUERY", "sketch", "item") == [40_000]


@pytest.mark.parametrize("expires", [False, True], ids=["live", "expired"])
def test_random_fields_of_a_hash_take_the_memory_of_the_reply(server, expires):
    """The hash has 100 MB. While it has an expired field, ranks do not find its fields."""
    client = server.client()
    client.delete("hash")
    for i in range(1000):
        client.hset("hash", f"field:{i}", b"v" * 100_000)
    assert len(client.hrandfield("hash", 1000)) == 1000  # the caches have their full size now
    if expires:
        client.execute_command("DEBUG", "SET-ACTIVE-EXPIRE", 0)
        client.execute_command("HPEXPIRE", "hash", 1, "FIELDS", 1, "field:0")
        wait_until(lambda: not client.hexists("hash", "field:0"))
    try:
        for count in (-100, 10):
            fields, grown = growth(server, "HRANDFIELD", "hash", count)
            assert len(fields) == abs(count) and all(field.startswith(b"field:") for field in fields)
            assert not (expires and b"field:0" in fields)
            assert grown < 64 * MB
    finally:
        client.execute_command("DEBUG", "SET-ACTIVE-EXPIRE", 1)
