# SPDX-License-Identifier: BSD-3-Clause
"""Moves of slots between nodes of a cluster (CLUSTER MIGRATESLOTS), and keys of all types that move with them."""

import random
import re

import load
from cluster_nodes import call, give_slots_away, node_id, start_node
from harness import REPOSITORY
from raw_client import RawClient
from waiting import wait_until

FINAL_STATES = ("success", "failed", "cancelled")


def migrations(server):
    """CLUSTER GETSLOTMIGRATIONS as dictionaries."""
    return [dict(zip(row[::2], row[1::2])) for row in call(server, "CLUSTER", "GETSLOTMIGRATIONS")]


def begin(source, target, first, last):
    """Starts a migration to a server, or to the node with an id; returns its name."""
    target_id = target if isinstance(target, str) else node_id(target)
    assert call(source, "CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", first, last, "NODE", target_id) == "OK"
    return migrations(source)[0]["name"]


def state(server, name):
    """The state of a migration; empty if the server does not know it."""
    return next((row["state"] for row in migrations(server) if row["name"] == name), "")


def await_end(server, name, wanted="success"):
    """Waits until the migration has ended."""
    ended = wait_until(lambda: state(server, name) in FINAL_STATES and state(server, name),
                       f"the end of the migration {name}", server)
    row = next(row for row in migrations(server) if row["name"] == name)
    assert ended == wanted, (row, server.log_tail())
    return row


def move(source, target, first, last):
    """Moves slots; the row of the migration."""
    return await_end(source, begin(source, target, first, last))


def start_target(stack, first, last, **directives):
    """A node that may import these slots, and the id of their owner, which does not run."""
    target = start_node(stack, io_threads=1, **directives)
    call(target, "CLUSTER", "ADDSLOTSRANGE", 0, 16383)
    return target, give_slots_away(target, first, last)


def establish(client, source, name, slot):
    """Sends what the source of a migration sends first."""
    text = (REPOSITORY / "src" / "storage" / "format.h").read_text()
    version = re.search(r"kFormatVersion = (\d+);", text)[1]
    client.send("CLUSTER", "SYNCSLOTS", "ESTABLISH", "SOURCE", source, "NAME", name, "FORMAT", version, "SLOTSRANGE",
                slot, slot)


def ask_taken(target, name, slot):
    """What the source of a migration asks the target when it has got no answer to TAKEOVER."""
    return call(target, "CLUSTER", "SYNCSLOTS", "TAKEN", "NAME", name, "SLOTSRANGE", slot, slot)


def begin_import(stack, target, source, slot, key):
    """The connection of a source that has begun to move the slot, and has sent the key."""
    client = stack.enter_context(RawClient(target.port))
    establish(client, source, "a" * 40, slot)
    assert client.read() == (b"+", b"OK")
    assert client("SET", key, "x") == (b"+", b"OK")
    return client


def fill(client, tag, seed=1, keys=60, large=(3000,)):
    """Keys of all types in one slot: those of load.py, documents, filters and sketches, and times to live."""
    rng = random.Random(seed)
    pipe = client.pipeline(transaction=False)
    for i in range(keys):
        kind = load.TYPES[i % len(load.TYPES)]
        load.fill_key(pipe, rng, f"{tag}{kind}:{i}", kind, rng.randint(1, 60))
        if i % 3 == 0:
            pipe.pexpire(f"{tag}{kind}:{i}", rng.randint(10**6, 10**9))
    for kind in load.TYPES:
        for size in large:
            load.fill_key(pipe, rng, f"{tag}large:{kind}:{size}", kind, size)
    pipe.execute_command("HPEXPIRE", f"{tag}large:hash:{large[0]}", 10**8, "FIELDS", 2, "f1", "f2")
    pipe.execute_command("JSON.SET", f"{tag}json", "$", '{"a":[1,2,{"b":null}]}')
    pipe.execute_command("BF.RESERVE", f"{tag}bf", 0.001, 50000)
    pipe.execute_command("CF.RESERVE", f"{tag}cf", 50000)
    pipe.execute_command("CMS.INITBYDIM", f"{tag}cms", 5000, 5)
    pipe.execute_command("TOPK.RESERVE", f"{tag}topk", 20, 1000, 7, 0.9)
    pipe.execute_command("TDIGEST.CREATE", f"{tag}td")
    pipe.setrange(f"{tag}edited", 300000, "end")
    for i in range(200):
        pipe.execute_command("BF.ADD", f"{tag}bf", f"item{i}")
        pipe.execute_command("CF.ADD", f"{tag}cf", f"item{i}")
        pipe.execute_command("CMS.INCRBY", f"{tag}cms", f"item{i}", i + 1)
        pipe.execute_command("TOPK.ADD", f"{tag}topk", f"item{i % 30}")
        pipe.execute_command("TDIGEST.ADD", f"{tag}td", i)
    pipe.execute()


def contents(client, slot):
    """Each key of the slot with its value and its expiry."""
    names = client.execute_command("CLUSTER", "GETKEYSINSLOT", slot, 10**6)
    pipe = client.pipeline(transaction=False)
    for name in names:
        pipe.execute_command("DUMP", name)
        pipe.execute_command("PEXPIRETIME", name)
    values = pipe.execute()
    return {name: (values[2 * i], values[2 * i + 1]) for i, name in enumerate(names)}
