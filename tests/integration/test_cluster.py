# SPDX-License-Identifier: BSD-3-Clause
"""There is no cluster: cluster commands get Redis's error, and ACL rules about them are accepted."""

import pytest
import redis

REFUSED = "This instance has cluster support disabled"


CALLS = [
    "ASKING", "READONLY", "READWRITE", "CLUSTER ADDSLOTS 1", "CLUSTER ADDSLOTSRANGE 1 2", "CLUSTER BUMPEPOCH",
    "CLUSTER COUNT-FAILURE-REPORTS id", "CLUSTER COUNTKEYSINSLOT 1", "CLUSTER DELSLOTS 1", "CLUSTER DELSLOTSRANGE 1 2",
    "CLUSTER FAILOVER", "CLUSTER FLUSHSLOTS", "CLUSTER FORGET id", "CLUSTER GETKEYSINSLOT 1 10", "CLUSTER HELP",
    "CLUSTER INFO", "CLUSTER KEYSLOT key", "CLUSTER LINKS", "CLUSTER MEET 127.0.0.1 6379", "CLUSTER MYID",
    "CLUSTER MYSHARDID", "CLUSTER NODES", "CLUSTER REPLICAS id", "CLUSTER REPLICATE id", "CLUSTER RESET HARD",
    "CLUSTER SAVECONFIG", "CLUSTER SET-CONFIG-EPOCH 1", "CLUSTER SETSLOT 1 STABLE", "CLUSTER SHARDS",
    "CLUSTER SLAVES id", "CLUSTER SLOTS",
]


@pytest.mark.parametrize("call", CALLS)
def test_cluster_commands_are_refused(r, call):
    with pytest.raises(redis.ResponseError, match=f"^{REFUSED}$"):
        r.execute_command(*call.split())


def test_errors_of_arity_and_syntax_come_first(r):
    with pytest.raises(redis.ResponseError, match="^unknown subcommand 'nodez'. Try CLUSTER HELP.$"):
        r.execute_command("CLUSTER", "nodez")
    with pytest.raises(redis.ResponseError, match=r"^wrong number of arguments for 'cluster\|keyslot' command$"):
        r.execute_command("CLUSTER", "KEYSLOT")


def test_users_have_rules_about_them(r):
    r.acl_setuser("reader", enabled=True, nopass=True, commands=["+cluster", "-cluster|reset", "+@connection"])
    rules = r.acl_getuser("reader")["commands"]
    assert "+cluster" in rules and "-cluster|reset" in rules
    assert r.execute_command("ACL", "DRYRUN", "reader", "CLUSTER", "INFO") == b"OK"
    assert b"no permissions" in r.execute_command("ACL", "DRYRUN", "reader", "CLUSTER", "RESET")
