# SPDX-License-Identifier: BSD-3-Clause
"""The first transfer of a large data set under load, some load after it, and a comparison of all data: each pairing
with Cairn, and a chain of four. CAIRN_PAIRS_KEYS is the number of keys if Redis takes part; between two Cairns it is
five times as many. CAIRN_PAIRS_SECONDS is the duration of the load."""

import contextlib
import time

import pytest
from bulk import assert_same_bulk, fill_bulk
from load import fill
from pairs import Load, start, wait_for_link, wait_for_offset, wait_for_short_lived

CHAINS = [("redis", "cairn"), ("cairn", "cairn")]
LONG_CHAINS = [("cairn", "redis"), ("redis", "cairn", "redis", "cairn")]
CAIRN_TIMES = 5
OPTIONS = {"repl_backlog_size": "256mb", "client_output_buffer_limit": "replica 0 0 0"}


@pytest.mark.parametrize("chain", [*CHAINS, *(pytest.param(chain, marks=pytest.mark.slow) for chain in LONG_CHAINS)],
                         ids="-".join)
def test_full_sync(chain, bulk_keys, load_seconds, rng):
    """Each replica has had exactly one first transfer, by its primary's counter."""
    keys = bulk_keys * (CAIRN_TIMES if set(chain) == {"cairn"} else 1)
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(start(chain[0], **OPTIONS))]
        fill(servers[0].client(), large=(5000,))
        fill_bulk(servers[0], keys)
        with Load(servers[0], clients=3, seed=rng.randrange(1000)) as load:
            began = time.monotonic()
            for kind in chain[1:]:
                replica = start(kind, replicaof=f"127.0.0.1 {servers[-1].port}", **OPTIONS)
                servers.append(stack.enter_context(replica))
                wait_for_link(replica, 1800)
            synced_s = time.monotonic() - began
            time.sleep(load_seconds)  # clients write meanwhile
        commands = load.commands
        wait_for_short_lived(servers[0])
        for primary, replica in zip(servers, servers[1:]):
            wait_for_offset(primary, replica, 300)
        compared = assert_same_bulk(servers[0], servers[1:])
        assert compared >= keys
        full_syncs = [server.client().info("stats")["sync_full"] for server in servers]
        logs = "\n\n".join(server.log_tail() for server in servers)
        assert full_syncs == [1] * (len(servers) - 1) + [0], logs
        print(f"{'-'.join(chain)}: {keys} keys, in sync after {synced_s:.0f} s, {commands} commands, "
              f"{compared} keys the same")
