# SPDX-License-Identifier: BSD-3-Clause
"""The page of metrics-port for people: its JSON, its headers, and what it hides."""

import base64
import hashlib
import http.client
import json
import re

import pytest
from harness import REPOSITORY, Server, free_port
from status_fields import fields_of, raw, raw_info
from waiting import wait_until

PAGE = (REPOSITORY / "src" / "report" / "status_page.html").read_text("utf-8")
SECRET = "customer:4711"  # a name that strangers must not see


def get(port, path):
    """(status, headers, body) of a request."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", path)
    response = connection.getresponse()
    body = response.read().decode()
    connection.close()
    return response.status, response.headers, body


def status_of(port):
    """The parsed /status."""
    status, headers, body = get(port, "/status")
    assert status == 200 and headers["Content-Type"] == "application/json"
    return json.loads(body)


@pytest.fixture(scope="module")
def served():
    """A server with the page, and the page's port."""
    port = free_port()
    with Server(metrics_port=port, save=None) as running:
        yield running, port


def test_the_page_is_the_file_of_the_tree_and_loads_nothing_else(served):
    _, port = served
    status, headers, body = get(port, "/")
    assert status == 200 and headers["Content-Type"] == "text/html; charset=utf-8"
    assert body == PAGE
    assert not re.findall(r"""(?:src|href)="(?!data:)|url\(|@import|https?://(?!www\.w3\.org/2000/svg)""", body)


def test_the_policy_allows_the_pages_own_script_and_style_alone(served):
    _, port = served
    headers = get(port, "/")[1]
    policy = dict(part.split(" ", 1) for part in headers["Content-Security-Policy"].split("; "))
    for tag in ("script", "style"):
        [text] = re.findall(f"<{tag}>(.*?)</{tag}>", PAGE, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert policy[f"{tag}-src"] == f"'sha256-{digest}'"
    assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert policy["connect-src"] == "'self'"
    for path in ("/", "/status", "/status/keysizes"):
        headers = get(port, path)[1]
        assert headers["X-Content-Type-Options"] == "nosniff" and headers["Cache-Control"] == "no-store"


def test_users_text_is_never_markup(served):
    """The script sets text only; a name of a key could be a tag."""
    del served
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "srcdoc"):
        assert way not in PAGE


def test_every_figure_of_the_page_is_a_field_of_info_with_the_same_value(served):
    server, port = served
    client = server.client()
    for i in range(300):
        client.set(f"k{i}", "v" * i)
        client.get(f"k{i % 400}")
    with pytest.raises(Exception):
        client.lpush("k1", "x")
    client.execute_command("COMPACT")
    # What the requests of this test change themselves.
    moves = re.compile(r"^(client_|total_net|total_reads|total_writes|total_commands|instantaneous|used_|mem_|"
                       r"allocator|rss_|bytes_|block_cache|number_|key_cache_(hits|misses)|lru_clock|"
                       r"slow_lane_comm|disk_free|cmdstat_(info|client|hello|ping)|"
                       r"latency_percentiles_usec_(info|client|hello|ping)|connected_clients|total_connections)")
    shown = status_of(port)["info"]

    def differences():
        pages = status_of(port)["info"]
        compared = [(section, name, value) for section, fields in pages.items() for name, value in fields.items()
                    if not moves.match(name)]
        assert len(compared) > 150
        expected = {section: raw_info(client, section) for section in pages}
        return [(section, name) for section, name, value in compared if expected[section].get(name) != value]

    wait_until(lambda: not differences(), "the same figures")  # background threads may count in between
    wanted = {tuple(field.split(".")) for field in re.findall(r'data-field="([a-z_.0-9]+)"', PAGE)}
    of_replicas = {("replication", name) for name in ("master_host", "master_link_status", "slave_read_repl_offset",
                                                      "master_last_io_seconds_ago")}
    for section, field in wanted - of_replicas:
        assert section == "clusterinfo" or field in shown[section], (section, field)


def test_key_sizes_are_those_of_info_and_are_not_measured_for_each_reader():
    port = free_port()
    with Server(metrics_port=port) as server:
        client = server.client()
        for i in range(1, 100):
            client.rpush(f"list{i}", *range(i))
        sizes = json.loads(get(port, "/status/keysizes")[2])
        assert sizes == raw_info(client, "keysizes") and "db0_distrib_lists_items" in sizes
        client.set("later", "v")
        assert json.loads(get(port, "/status/keysizes")[2]) == sizes, "measured again at once"


def test_names_and_arguments_are_shown_only_if_allowed(served):
    """The port has no password, so the default must not tell strangers the names of keys."""
    server, port = served
    client = server.client(client_name="billing")
    client.config_set("slowlog-log-slower-than", 0)
    client.execute_command("HOTKEYS", "START", "METRICS", 2, "CPU", "NET")
    client.set(SECRET, "<img src=x onerror=alert(1)>\xff")
    client.get(SECRET)
    for path in ("/status", "/status/keysizes", "/metrics", "/"):
        body = get(port, path)[2]
        assert SECRET not in body and "billing" not in body and "onerror" not in body, path
        assert str(server.data_dir) not in body, path
    hidden = status_of(port)
    assert hidden["details"] is False and hidden["hot_keys"]["by_usec"][0].keys() == {"sum"}
    words = [entry["words"] for entry in hidden["slow"]]
    assert ["SET"] in words and ["GET"] in words and all(len(some) == 1 for some in words)

    client.config_set("metrics-details", "yes")
    shown = status_of(port)
    entry = next(entry for entry in shown["slow"] if entry["words"][0] == "SET")
    assert entry["words"][1] == SECRET and "onerror" in entry["words"][2] and r"\xc3\xbf" in entry["words"][2]
    assert entry["client"].startswith("127.0.0.1:") and entry["client_name"] == "billing"
    assert SECRET in [key["key"] for key in shown["hot_keys"]["by_bytes"]]
    client.config_set("metrics-details", "no")
    client.execute_command("HOTKEYS", "STOP")
    client.execute_command("HOTKEYS", "RESET")
    client.config_set("slowlog-log-slower-than", 10000)
    assert status_of(port)["hot_keys"] is None


def test_a_replica_is_on_the_page_of_its_primary(served):
    server, port = served
    with Server(replicaof=f"127.0.0.1 {server.port}") as replica:
        name = f"port={replica.port},state=online"
        wait_until(lambda: name in status_of(port)["info"]["replication"].get("slave0", ""), "the replica")
        shown = status_of(port)["info"]["replication"]
        assert shown["role"] == "master" and shown["connected_slaves"] == "1"


def test_the_cluster_is_on_the_page_as_cluster_info_shows_it():
    port = free_port()
    with Server(cluster_enabled=True, metrics_port=port) as node:
        client = node.client()
        client.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        wait_until(lambda: status_of(port)["info"]["clusterinfo"]["cluster_state"] == "ok", "the state")
        expected = fields_of(raw(client, "CLUSTER", "INFO"))
        shown = status_of(port)["info"]
        assert shown["clusterinfo"] == expected and shown["cluster"]["cluster_enabled"] == "1"
