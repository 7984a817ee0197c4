# SPDX-License-Identifier: BSD-3-Clause
"""HyperLogLogs compared with redis-server: the same estimates and the same bytes."""

EDGES = """
pfadd h
pfadd h
pfadd h a b c
pfadd h a
get h
pfcount h
get h
pfcount none
pfcount h none
pfdebug decode h
pfdebug encoding h
pfdebug todense h
pfdebug todense h
pfdebug decode h
pfdebug nope h
pfdebug getreg none
pfmerge m h none
get m
set s foo
pfadd s a
pfcount s
pfcount h s
pfmerge s h
rpush l a
pfadd l a
pfcount l
pfadd c a b c
append c hello
pfcount c
config set hll-sparse-max-bytes 30
pfadd small 1 2 3 4 5 6 7 8 9 10
pfdebug encoding small
config set hll-sparse-max-bytes 3000
pfselftest
"""


def test_edge_cases_equal_redis(pair):
    pair.lines(EDGES)


def test_bytes_agree_as_it_grows(pair):
    """From the sparse encoding into the dense one."""
    for i in range(200):
        pair("pfadd", "h", *[f"{i}-{j}" for j in range(1 + i % 23)])
        pair("pfadd", "k", f"k{i}", f"{i}-0")
        if i % 10 == 0:
            pair("get", "h")
            pair("pfcount", "h")
            pair("pfcount", "h", "k")
    pair("pfmerge", "m", "k", "h")
    pair("pfmerge", "k2", "k")
    for key in ("h", "k", "m", "k2"):
        pair("pfdebug", "encoding", key)
        pair("get", key)
