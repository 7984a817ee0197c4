# SPDX-License-Identifier: BSD-3-Clause
"""INFO: its sections, the fields that tools read, and correct values."""

import contextlib
import os
import re
import time

import harness
import pytest
import redis
from raw_client import RawClient
from waiting import wait_until

DEFAULT = "Server Clients Memory Persistence Stats Replication CPU Modules Errorstats Cluster Keyspace".split()
CAIRN_DEFAULT = ["Cairn", "Cache", "Backup", "Compaction"]
ONLY_ALL = ["Amplification", "Commandstats", "Keysizes", "Latencystats", "RocksDB"]

# The fields of each of Redis's sections that monitoring tools and client libraries read.
NEEDED = {
    "server": "redis_version redis_mode os arch_bits process_id run_id tcp_port uptime_in_seconds uptime_in_days hz "
              "executable config_file cairn_version",
    "clients": "connected_clients maxclients blocked_clients client_recent_max_input_buffer tracking_clients",
    "memory": "used_memory used_memory_human used_memory_rss used_memory_peak maxmemory maxmemory_policy "
              "mem_fragmentation_ratio mem_allocator total_system_memory lazyfree_pending_objects lazyfreed_objects",
    "persistence": "loading rdb_changes_since_last_save rdb_bgsave_in_progress rdb_last_save_time "
                   "rdb_last_bgsave_status aof_enabled aof_rewrite_in_progress aof_rewrite_scheduled "
                   "aof_last_write_status",
    "stats": "total_connections_received total_commands_processed instantaneous_ops_per_sec total_net_input_bytes "
             "total_net_output_bytes rejected_connections expired_keys evicted_keys keyspace_hits keyspace_misses "
             "total_error_replies total_reads_processed",
    "replication": "role connected_slaves master_replid master_repl_offset",
    "cpu": "used_cpu_sys used_cpu_user",
    "cluster": "cluster_enabled",
    "cache": "key_cache_used_bytes key_cache_capacity_bytes key_cache_hits key_cache_misses key_cache_hit_rate",
    "rocksdb": "number_keys_read block_cache_hits block_cache_misses stall_micros total_sst_files_size "
               "estimate_pending_compaction_bytes",
    "cairn": "cairn_version memory_budget used_rss_bytes",
}


def titles(text):
    """The headings of an INFO text."""
    return re.findall(r"^# (\w+)\r$", text.decode(), re.MULTILINE)


def info(client, *sections):
    """The text of INFO."""
    return client("info", *sections)[1]


@pytest.fixture(name="client")
def fixture_client(server):
    """A connection that returns raw replies."""
    return RawClient(server.port)


def test_sections_are_chosen_as_in_redis(client):
    default = DEFAULT + CAIRN_DEFAULT
    everything = sorted(default + ONLY_ALL)
    assert sorted(titles(info(client))) == sorted(default)
    assert sorted(titles(info(client, "default"))) == sorted(default)
    assert sorted(titles(info(client, "ALL"))) == everything
    assert sorted(titles(info(client, "everything"))) == everything
    assert titles(info(client, "cpu")) == ["CPU"]
    assert titles(info(client, "cpu", "Server", "cpu")) == ["Server", "CPU"]
    assert sorted(titles(info(client, "default", "commandstats"))) == sorted(default + ["Commandstats"])
    assert info(client, "nonsense") == b""


def test_an_empty_line_separates_sections(client):
    text = info(client, "cpu", "cluster")
    assert re.fullmatch(rb"# CPU\r\n(\w+:[\d.]+\r\n)+\r\n# Cluster\r\ncluster_enabled:0\r\n", text)


def test_it_is_verbatim_text_in_resp3(server):
    kind, content = RawClient(server.port, 3)("info", "cluster")
    assert kind == b"=" and content == b"txt:# Cluster\r\ncluster_enabled:0\r\n"


@pytest.mark.parametrize("section", NEEDED)
def test_fields_that_tools_read_are_present(r, section):
    assert set(NEEDED[section].split()) <= set(r.info(section)), section


def test_fields_of_redis_keep_their_kind(r, redis_server):
    mine, theirs = r.info("everything"), redis_server.client().info("everything")
    for name in set(mine) & set(theirs):
        if not name.startswith(("cmdstat_", "errorstat_", "latency_percentiles", "db")):
            assert type(mine[name]) in (type(theirs[name]), int, float) or isinstance(theirs[name], str), name


def test_server_and_clients_are_correct(server, r):
    told = r.info()
    assert told["process_id"] == server.pid
    assert told["tcp_port"] == server.port
    assert told["redis_version"] == "7.4.2"
    assert re.fullmatch("[0-9a-f]{40}", told["run_id"])
    before = told["connected_clients"]
    extra = [RawClient(server.port) for _ in range(3)]
    assert all(client("ping") for client in extra)
    assert r.info("clients")["connected_clients"] == before + 3


def test_listeners_are_those_of_redis_7_2(tmp_path):
    """A line each for TCP, a Unix socket and a `listen` line, as in redis-server 7.2."""
    extra = harness.free_port()
    with harness.Server(unixsocket=tmp_path / "cairn.sock", listen=f"127.0.0.1:{extra}") as server:
        told = server.client().info("server")
        assert told["listener0"] == {"name": "tcp", "bind": "127.0.0.1", "port": server.port}
        assert told["listener1"]["name"] == "unix" and told["listener1"]["bind"].endswith("cairn.sock")
        assert told["listener2"] == {"name": "tcp", "bind": "127.0.0.1", "port": extra}


@pytest.mark.measures("memory")
def test_memory_is_near_the_kernels_value(server, r):
    memory = r.info("memory")
    assert abs(memory["used_memory_rss"] - server.resident_bytes()) < 16 << 20
    assert 0 < memory["used_memory"] <= memory["used_memory_peak"]


def test_commandstats_count_each_command(r):
    r.config_resetstat()
    r.set("a", 1)
    r.get("a")
    r.get("a")
    for wrong in (("hget", "a", "f"), ("get",), ("config", "set", "nonsense", "1"), ("nonsense",)):
        with pytest.raises(Exception, match="ERR|WRONGTYPE|wrong|unknown|Unknown"):
            r.execute_command(*wrong)
    stats = r.info("commandstats")
    assert stats["cmdstat_get"]["calls"] == 2 and stats["cmdstat_get"]["rejected_calls"] == 1
    assert stats["cmdstat_get"]["failed_calls"] == 0
    assert stats["cmdstat_set"]["calls"] == 1 and stats["cmdstat_set"]["usec"] > 0
    assert stats["cmdstat_hget"]["failed_calls"] == 1
    assert stats["cmdstat_config|set"]["failed_calls"] == 1
    errors = r.info("errorstats")
    assert errors["errorstat_WRONGTYPE"] == {"count": 1}
    assert errors["errorstat_ERR"] == {"count": 3}
    latency = r.info("latencystats")["latency_percentiles_usec_get"]
    assert list(latency) == ["p50", "p99", "p99.9"]
    assert 0 <= latency["p50"] <= latency["p99.9"]
    assert r.info("stats")["total_error_replies"] == 4
    with pytest.raises(redis.ResponseError):
        r.eval("return redis.error_reply('NOT:FOUND# key')", 0)
    assert r.info("errorstats")["errorstat_NOT_FOUND_"] == {"count": 1}


def test_latencystats_obey_their_directives(r):
    r.get("a")
    r.config_set("latency-tracking-info-percentiles", "10 20.5")
    assert list(r.info("latencystats")["latency_percentiles_usec_get"]) == ["p10", "p20.5"]
    r.config_set("latency-tracking", "no")
    assert r.info("latencystats") == {}
    r.config_set("latency-tracking", "yes")
    r.config_set("latency-tracking-info-percentiles", "50 99 99.9")


def test_keyspace_counts_keys_and_expiring_keys(r):
    r.mset({f"k{i}": i for i in range(10)})
    r.set("soon", 1, ex=1000)
    r.set("later", 1, ex=3000)
    r.delete("k0")
    told = r.info("keyspace")
    assert list(told) == ["db0"]
    assert told["db0"]["keys"] == 11 and told["db0"]["expires"] == 2
    assert 1_900_000 < told["db0"]["avg_ttl"] <= 2_000_000
    r.persist("soon")
    assert r.info("keyspace")["db0"]["expires"] == 1
    r.flushall()
    assert r.info("keyspace") == {}


def test_only_reading_commands_count_as_hits_and_misses(r):
    r.set("there", 1)
    r.config_resetstat()
    r.get("there")
    r.mget("there", "gone")
    r.get("gone")
    r.set("there", 2)
    stats = r.info("stats")
    assert stats["keyspace_hits"] == 2 and stats["keyspace_misses"] == 2


def test_expired_keys_are_counted(r):
    r.config_resetstat()
    r.set("a", 1, px=1)
    wait_until(lambda: r.info("stats")["expired_keys"] == 1, "the count")


def test_resetstat_starts_again_at_zero(r):
    r.get("a")
    assert r.info("stats")["total_commands_processed"] > 1
    r.config_resetstat()
    stats = r.info("stats")
    assert stats["total_commands_processed"] <= 2  # RESETSTAT itself may count
    assert stats["keyspace_misses"] == 0
    assert set(r.info("commandstats")) <= {"cmdstat_config|resetstat", "cmdstat_info"}


def test_the_network_is_counted(r):
    r.config_resetstat()
    r.set("a", "x" * 10000)
    r.get("a")
    stats = r.info("stats")
    assert stats["total_net_input_bytes"] > 10000 and stats["total_net_output_bytes"] > 10000


def test_connections_are_counted(server, r):
    r.config_resetstat()
    extra = [RawClient(server.port) for _ in range(3)]
    assert all(client("ping") for client in extra)
    assert r.info("stats")["total_connections_received"] == 3
    r.config_set("maxclients", 1)
    refused = RawClient(server.port)
    assert refused.read() == (b"-", b"ERR max number of clients reached")
    r.config_set("maxclients", 10000)
    assert r.info("stats")["rejected_connections"] == 1


def test_lazily_deleted_collections_are_counted(r):
    r.config_resetstat()
    r.sadd("large", *(f"member-{i}" for i in range(3000)))  # too large for one row
    r.sadd("small", 1, 2, 3)
    r.unlink("large", "small")
    wait_until(lambda: r.info("memory")["lazyfree_pending_objects"] == 0, "the end of the rows")
    assert r.info("memory")["lazyfreed_objects"] == 1


def test_rates_rise_under_load(r):
    wait_until(lambda: [r.get("a") for _ in range(50)] and r.info("stats")["instantaneous_ops_per_sec"] > 0, "a rate",
               pause_s=0)


def test_a_save_is_shown(r):
    r.set("a", 1)
    assert r.info("persistence")["rdb_changes_since_last_save"] > 0
    r.save()
    told = r.info("persistence")
    assert told["rdb_changes_since_last_save"] == 0
    assert told["rdb_last_save_time"] >= time.time() - 60
    assert r.execute_command("lastsave").timestamp() == told["rdb_last_save_time"]


@pytest.mark.parametrize("start", [harness.Server, harness.start_redis])
def test_an_unblocked_wait_is_a_failed_call(start):
    """CLIENT UNBLOCK's error is counted like any other, for the blocked command."""
    with start() as server:
        client = server.client()
        client.config_resetstat()
        with contextlib.closing(RawClient(server.port)) as waiter:
            waiter.send("BLPOP", "nothing", "0")
            number = wait_until(lambda: [int(one["id"]) for one in client.client_list() if "b" in one["flags"]],
                                "a client that waits")[0]
            assert client.client_unblock(number, error=True)
            assert waiter.read()[1].startswith(b"UNBLOCKED ")
        assert client.info("errorstats")["errorstat_UNBLOCKED"]["count"] == 1
        blpop = client.info("commandstats")["cmdstat_blpop"]
        assert (blpop["calls"], blpop["failed_calls"]) == (1, 1)
        assert client.info("stats")["total_error_replies"] == 1


@pytest.mark.slow
def test_the_parts_of_the_memory_add_up_to_what_is_resident():
    with harness.Server(memory_budget="128mb") as server:
        client = server.client(decode_responses=False)
        noise = os.urandom(1 << 20)
        for start in range(0, 120_000, 1000):
            with client.pipeline(transaction=False) as pipe:
                for number in range(start, start + 1000):
                    pipe.set(f"key:{number}", noise[number:number + 1000])
                pipe.execute()
        info = {}

        def add_up():
            info.update(client.info("cairn"))
            parts = sum(value for name, value in info.items() if name.startswith("used_")
                        and name not in ("used_rss_bytes", "used_memtable_bytes"))
            return parts == pytest.approx(info["used_rss_bytes"], rel=0.1)

        wait_until(add_up, "a moment without the buffers of a compaction", timeout_s=20)
        assert info["used_key_cache_bytes"] > 20 << 20
        assert info["used_rss_bytes"] == pytest.approx(server.resident_bytes(), rel=0.1)
