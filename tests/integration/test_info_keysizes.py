# SPDX-License-Identifier: BSD-3-Clause
"""INFO keysizes of Redis 8: histograms of the sizes of keys, exact for small databases and sampled for large ones."""

import pytest
from raw_client import RawClient
from waiting import wait_until


def keysizes(client):
    """The fields of the section, as text."""
    lines = RawClient(client.connection_pool.connection_kwargs["port"])("info", "keysizes")[1].decode().splitlines()
    assert lines[0] == "# Keysizes"
    return dict(line.split(":") for line in lines[1:])


def bins(text):
    """The numbers of keys of a field, by the name of the bin."""
    return {name: int(count) for name, count in (pair.split("=") for pair in text.split(","))}


def test_a_bin_counts_the_sizes_from_its_power_of_two_on(r):
    assert not keysizes(r)
    for size, name in ((0, "0"), (1, "1"), (2, "2"), (3, "2"), (4, "4"), (1023, "512"), (1024, "1K"), (2047, "1K"),
                       (1 << 20, "1M"), ((1 << 21) - 1, "1M")):
        r.set("k", "x" * size)
        assert keysizes(r) == {"db0_distrib_strings_sizes": f"{name}=1"}
    r.setrange("k", 3 << 20, "x")  # in fragments
    assert keysizes(r) == {"db0_distrib_strings_sizes": "2M=1"}
    r.set("k", -12345)  # an integer
    assert keysizes(r) == {"db0_distrib_strings_sizes": "4=1"}
    r.delete("k")
    assert not keysizes(r)


@pytest.mark.parametrize("count,name", [(1, "1"), (5, "4"), (100, "64"), (3000, "2K")])
def test_collections_are_counted_by_their_elements(r, count, name):
    """In each encoding: packed, integers, spread."""
    r.rpush("list", *range(count))
    r.sadd("integers", *range(count))
    r.sadd("words", *[f"w{i}" for i in range(count)])
    r.zadd("zset", {f"m{i}": i for i in range(count)})
    r.hset("hash", mapping={f"f{i}": i for i in range(count)})
    r.xadd("stream", {"f": "v"})
    assert keysizes(r) == {"db0_distrib_lists_items": f"{name}=1", "db0_distrib_sets_items": f"{name}=2",
                           "db0_distrib_zsets_items": f"{name}=1", "db0_distrib_hashes_items": f"{name}=1"}


def test_each_database_has_its_fields_and_expired_keys_are_not_counted(server, r):
    r.set("k", "12345678", px=1)
    r.set("l", "")
    server.client(db=3).rpush("k", 1, 2)
    wait_until(lambda: keysizes(r) == {"db0_distrib_strings_sizes": "0=1", "db3_distrib_lists_items": "2=1"})


@pytest.mark.parametrize("name", ["key:{}", "key:{{tag}}:{}"])
def test_a_large_database_is_sampled(r, name):
    """Also if all keys are in the slot of one hash tag."""
    count = 30_000
    with r.pipeline(transaction=False) as pipe:
        for i in range(count):
            key = name.format(i)
            if i % 3 == 0:
                pipe.set(key, "x" * 100)
            elif i % 3 == 1:
                pipe.set(key, "x" * 7)
            else:
                pipe.rpush(key, 1)
        pipe.execute()
    fields = keysizes(r)
    sampled = int(fields.pop("sampled_keys_db0"))
    assert 5000 < sampled <= 20_000
    strings, lists = bins(fields["db0_distrib_strings_sizes"]), bins(fields["db0_distrib_lists_items"])
    assert set(strings) == {"4", "64"} and set(lists) == {"1"}
    for found in (strings["4"], strings["64"], lists["1"]):
        assert found == pytest.approx(count / 3, rel=0.15)  # ten times the standard deviation


def test_large_values_end_the_sample(r):
    """A section of INFO does not read gigabytes: 60 MB of values are not read as a whole."""
    for i in range(60):
        r.set(f"k{i}", "x" * (1 << 20))
    fields = keysizes(r)
    assert int(fields["sampled_keys_db0"]) < 30
    assert fields["db0_distrib_strings_sizes"] == "1M=60"
