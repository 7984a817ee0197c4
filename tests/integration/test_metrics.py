# SPDX-License-Identifier: BSD-3-Clause
"""metrics-port: the page for Prometheus, idle and under load, and the dashboard that uses it."""

import http.client
import json
import re
import socket
import threading
import time

import pytest
from harness import REPOSITORY, Server, free_port
from waiting import wait_until

SAMPLE = re.compile(r'^([a-z_]+)(?:\{((?:[a-z_]+="(?:[^"\\]|\\.)*",?)*)\})? (-?[0-9.e+-]+|\+Inf|NaN)$')
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')


def get(port, path="/metrics", method="GET"):
    """(status, content type, body) of a request."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request(method, path)
    response = connection.getresponse()
    body = response.read().decode()
    connection.close()
    return response.status, response.headers.get("Content-Type"), body


class Metrics:
    """A strictly parsed page: every line is a comment of a known form or a sample."""

    def __init__(self, text):
        self.types = {}
        self.helps = {}
        self.samples = {}
        assert text.endswith("\n")
        for line in text.splitlines():
            if line.startswith("# HELP "):
                _, _, name, self.helps[name] = line.split(" ", 3)
                continue
            if line.startswith("# TYPE "):
                _, _, name, kind = line.split(" ")
                assert name not in self.types, f"{name} begins twice"
                self.types[name] = kind
                continue
            match = SAMPLE.match(line)
            assert match, line
            name, labels, value = match.groups()
            family = next((name[:-len(end)] for end in ("_bucket", "_sum", "_count")
                           if name.endswith(end) and name[:-len(end)] in self.types), name)
            assert list(self.types)[-1] == family, f"{line} is not below its family"
            key = name, tuple(sorted(LABEL.findall(labels or "")))
            assert key not in self.samples, f"{line} stands twice"
            self.samples[key] = float(value)

    def __call__(self, name, **labels):
        return self.samples[name, tuple(sorted(labels.items()))]

    def names(self):
        """The names of all samples."""
        return {name for name, _ in self.samples}


@pytest.fixture(scope="module")
def served():
    """A server with metrics, and their port."""
    port = free_port()
    with Server(metrics_port=port) as running:
        yield running, port


@pytest.fixture(scope="module")
def node_page():
    """The page of a node of a cluster that has a link to and from another one."""
    port = free_port()
    with Server(cluster_enabled=True, metrics_port=port) as node, Server(cluster_enabled=True) as other:
        node.client().execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        node.client().execute_command("CLUSTER", "MEET", "127.0.0.1", other.port)
        links = {"to": 1, "from": 1}
        wait_until(lambda: all(Metrics(get(port)[2])("cairn_cluster_links", direction=direction) == count
                               for direction, count in links.items()), "the links", node)
        wait_until(lambda: Metrics(get(port)[2])("cairn_cluster_up") == 1, "the cluster", node)
        yield Metrics(get(port)[2])


def test_the_page_of_a_node_shows_its_cluster(node_page):
    """As CLUSTER INFO and CLUSTER LINKS do."""
    assert node_page("cairn_cluster_known_nodes") == 2 and node_page("cairn_cluster_masters") == 1
    assert node_page("cairn_cluster_slots", state="ok") == 16384 and node_page("cairn_cluster_slots", state="fail") == 0
    assert node_page("cairn_cluster_messages_total", direction="sent", type="meet") == 1
    assert node_page("cairn_cluster_messages_total", direction="received", type="ping") > 0
    made = [dict(labels)["direction"] for name, labels in node_page.samples
            if name == "cairn_cluster_link_create_timestamp_seconds"]
    assert sorted(made) == ["from", "to"]


def test_the_page_counts_what_was_done(served):
    server, port = served
    client = server.client()
    client.config_resetstat()
    for i in range(100):
        client.set(f"k{i}", "v")
        client.get(f"k{i}")
    with pytest.raises(Exception):
        client.lpush("k1", "x")
    status, content_type, body = get(port)
    assert status == 200 and content_type.startswith("text/plain; version=0.0.4")
    metrics = Metrics(body)
    assert metrics("cairn_commands_total", command="set") == 100
    assert metrics("cairn_commands_total", command="config|resetstat") == 1
    assert metrics("cairn_commands_failed_total", command="lpush") == 1
    assert metrics("cairn_errors_total", error="WRONGTYPE") == 1
    assert metrics("cairn_db_keys", db="db0") == 100 and metrics("cairn_db_keys", db="db1") == 0
    assert metrics("cairn_connected_clients") >= 1
    assert metrics("cairn_key_cache_hits_total") >= 100
    assert 0 < metrics("cairn_key_cache_bytes") < metrics("cairn_key_cache_capacity_bytes")
    assert metrics("cairn_memory_used_bytes", component="total") > 0
    assert metrics("cairn_memory_budget_bytes", component="total") > \
        metrics("cairn_memory_budget_bytes", component="key_cache") > 0
    assert metrics("cairn_rocksdb_number_keys_written_total") >= 100


def test_a_histogram_adds_up(served):
    server, port = served
    client = server.client()
    client.config_resetstat()
    for i in range(500):
        client.get(f"k{i}")
    metrics = Metrics(get(port)[2])
    buckets = [(dict(labels)["le"], value) for (name, labels), value in metrics.samples.items()
               if name == "cairn_command_duration_seconds_bucket" and ("command", "get") in labels]
    bounds = [float(bound) for bound, _ in buckets]
    counts = [count for _, count in buckets]
    assert bounds == sorted(bounds) and counts == sorted(counts) and bounds[-1] == float("inf")
    assert counts[-1] == metrics("cairn_command_duration_seconds_count", command="get") == 500
    total_s = metrics("cairn_command_duration_seconds_sum", command="get")
    assert total_s == pytest.approx(client.info("commandstats")["cmdstat_get"]["usec"] / 1e6)


def test_levels_and_files_are_those_of_the_disk(served):
    server, port = served
    client = server.client()
    client.mset({f"key:{i}": b"x" * 1000 for i in range(2000)})
    client.execute_command("COMPACT")
    metrics = Metrics(get(port)[2])
    levels = {dict(labels)["level"]: value for (name, labels), value in metrics.samples.items()
              if name == "cairn_rocksdb_level_bytes"}
    assert sum(levels.values()) == client.info("rocksdb")["live_sst_files_size"] > 0


def test_everything_else_is_refused(served):
    _, port = served
    assert get(port, "/metrics/x")[0] == get(port, "/status/x")[0] == 404
    assert get(port, method="POST")[0] in (405, 501)
    assert get(port, method="HEAD")[::2] == (200, "")


def sets_of(metrics):
    """The number of SETs on a page."""
    return metrics.samples.get(("cairn_commands_total", (("command", "set"),)), 0)


def test_pages_under_load_are_valid_and_counters_never_decrease(served):
    server, port = served
    ends = threading.Event()
    failures = []

    def load(seed):
        client = server.client()
        try:
            while not ends.is_set():
                pipe = client.pipeline(transaction=False)
                for i in range(50):
                    pipe.set(f"{seed}:{i}", b"x" * 100).get(f"{seed}:{i}").incr(f"n{i}")
                pipe.execute()
        except Exception as failure:  # pylint: disable=broad-except
            failures.append(failure)

    threads = [threading.Thread(target=load, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    try:
        pages = [Metrics(get(port)[2]) for _ in range(20)]
        deadline = time.monotonic() + 30
        while sets_of(pages[-1]) == sets_of(pages[0]) and time.monotonic() < deadline:
            pages.append(Metrics(get(port)[2]))
    finally:
        ends.set()
        for thread in threads:
            thread.join()
    assert not failures
    for earlier, later in zip(pages, pages[1:]):
        for (name, labels), value in earlier.samples.items():
            if name.endswith(("_total", "_bucket", "_count")):
                assert later.samples[name, labels] >= value, (name, labels)
    assert sets_of(pages[-1]) > sets_of(pages[0])


def test_every_panel_of_the_dashboard_uses_existing_metrics(served, node_page):
    server, port = served
    server.client().set("k", "v")
    names = Metrics(get(port)[2]).names() | node_page.names()
    dashboard = json.loads((REPOSITORY / "conf" / "grafana-dashboard.json").read_text("utf-8"))
    panels = [panel for panel in dashboard["panels"] if panel["type"] != "row"]
    assert len(panels) > 10 and len({panel["id"] for panel in dashboard["panels"]}) == len(
        dashboard["panels"])
    for panel in panels:
        for target in panel["targets"]:
            asked = set(re.findall(r"cairn_[a-z_]+", target["expr"]))
            assert asked and asked <= names, panel["title"]


def documented():
    """(name, kind, help) of each row of the table in the operations page."""
    text = (REPOSITORY / "docs" / "operations.md").read_text("utf-8")
    return set(re.findall(r"^\| `(cairn_\S+)` \| (\w+) \| (.*) \|$", text, re.MULTILINE))


def test_replication_is_on_both_pages_and_every_metric_is_documented(served, node_page):
    server, port = served
    replica_port = free_port()
    with Server(metrics_port=replica_port, replicaof=f"127.0.0.1 {server.port}") as replica:
        wait_until(lambda: Metrics(get(replica_port)[2]).samples.get(("cairn_primary_link_up", ())), "the link")
        client = server.client()
        client.set("k", "v")
        with pytest.raises(Exception):
            client.lpush("k", "x")
        client.execute_command("WAIT", 1, 0)
        primary, replica_page = Metrics(get(port)[2]), Metrics(get(replica_port)[2])
        name = f"127.0.0.1:{replica.port}"
        assert primary("cairn_is_replica") == 0 and replica_page("cairn_is_replica") == 1
        assert primary("cairn_connected_replicas") == primary("cairn_replica_online", replica=name) == 1
        assert primary("cairn_replication_full_syncs_total") == 1
        with socket.create_connection((server.host, server.port)) as stream:  # a reader that listens on no port
            stream.sendall(b"SYNC\r\n")
            wait_until(lambda: Metrics(get(port)[2])("cairn_connected_replicas") == 2, "the reader")
            assert "127.0.0.1:0" not in get(port)[2]
        offset = client.info("replication")["master_repl_offset"]
        assert 0 < primary("cairn_replica_offset", replica=name) <= primary("cairn_replication_offset") <= offset
        assert 0 < replica_page("cairn_primary_received_offset") <= offset
        replica.client().replicaof("127.0.0.1", free_port())
        wait_until(lambda: "cairn_primary_link_down_seconds" in Metrics(get(replica_port)[2]).types, "the link's end")
        pages = [primary, replica_page, Metrics(get(replica_port)[2]), node_page]
    shown = {(name, page.types[name], page.helps[name]) for page in pages for name in page.types}
    rocksdb = {row for row in shown if row[2].startswith("RocksDB's")}
    assert {row[1] for row in rocksdb} == {"counter", "gauge"}
    generic = {row for row in documented() if "<" in row[0]}
    assert len(generic) == 2 and shown - rocksdb == documented() - generic


def test_a_port_that_is_taken_ends_the_start():
    with Server() as other:
        with pytest.raises(RuntimeError, match="cannot listen"):
            Server(metrics_port=other.port)
