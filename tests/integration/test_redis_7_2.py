# SPDX-License-Identifier: BSD-3-Clause
"""Where Redis 7.2 answers otherwise than 7.0, Cairn answers as 7.2; Valkey shows how.

The other tests of this folder compare with redis-server 7.0. What is here fails there.
"""

STREAMS = """
xread streams a b 0
xread count 1 streams a b c 0 0
xreadgroup group g c streams a b 0
xadd s 5-0 f v
xadd s 7-0 f v
xadd s 9-0 f v
xdel s 9-0
xsetid s 8-0
xsetid s 9-0
xsetid s 20-0 entriesadded 9 maxdeletedid 19-0
xsetid s 18-0
xsetid s 19-0
xinfo stream s
"""

COMMAND_KEYS = """
command getkeys get
command getkeys ping
command getkeys set k
command getkeys nosuch
command getkeys config
command getkeysandflags get
command getkeysandflags ping
command getkeysandflags eval x 0
command getkeys eval x 0
command getkeys
"""


def without_radix_nodes(reply):
    """XINFO's reply without what is of the server's memory."""
    kind, content = reply
    if kind not in (b"*", b"%") or not content or content[0] != (b"$", b"length"):
        return reply
    pairs = zip(content[::2], content[1::2])
    return [pair for pair in pairs if b"radix" not in pair[0][1]]


def test_streams(newer_pair):
    for line in filter(None, STREAMS.splitlines()):
        newer_pair(*line.split(), normal=without_radix_nodes)


def test_keys_of_a_command(newer_pair):
    newer_pair.lines(COMMAND_KEYS)
