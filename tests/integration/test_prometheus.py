# SPDX-License-Identifier: BSD-3-Clause
"""Debian's Prometheus and its Redis exporter, both unmodified, against a running server.

Prometheus scrapes `metrics-port` every second under load. Then the test sends it the query of every panel of the
dashboard: each must have data.
"""

import contextlib
import json
import math
import shutil
import subprocess
import threading
import urllib.parse
import urllib.request

import pytest
from harness import REPOSITORY, Server, free_port
from waiting import wait_until

pytestmark = pytest.mark.slow

CONFIG = """
global:
  scrape_interval: 1s
scrape_configs:
  - job_name: cairn
    static_configs:
      - targets: ["127.0.0.1:{port}"]
"""


def needs(program):
    """Skips a test if a program is not installed."""
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"{program} is not installed")


def fetch(url):
    """The body of a page."""
    with urllib.request.urlopen(url, timeout=60) as response:
        return response.read().decode()


def wait_for(condition, what):
    """Returns the first true value of condition(), which may raise OSError until then."""
    def value():
        with contextlib.suppress(OSError):
            return condition()
        return None

    return wait_until(value, what, pause_s=0.3)


class Program:
    """A process of this test."""

    def __init__(self, *command):
        # __exit__ ends it, and every user of this class calls that.
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def load(server, ends):
    """Sends commands of all kinds until `ends` is set: hits, misses, errors, keys that expire."""
    client = server.client()
    while not ends.wait(0.05):
        pipe = client.pipeline(transaction=False)
        for i in range(50):
            pipe.set(f"k{i}", b"x" * 1000).get(f"k{i}").get("none").lpush("k0", "x")
            pipe.set(f"short{i}", "v", px=100)
        pipe.execute(raise_on_error=False)


def panel_queries():
    """(title, query) of every target of the dashboard, with its variables replaced."""
    text = (REPOSITORY / "conf" / "grafana-dashboard.json").read_text("utf-8")
    for panel in json.loads(text)["panels"]:
        for target in panel.get("targets", []):
            query = target["expr"].replace("$__rate_interval", "10s").replace("$instance", ".*")
            yield panel["title"], query


def values(port, query):
    """The current values of all series of a query."""
    url = f"http://127.0.0.1:{port}/api/v1/query?" + urllib.parse.urlencode({"query": query})
    reply = json.loads(fetch(url))
    assert reply["status"] == "success", reply
    return [float(series["value"][1]) for series in reply["data"]["result"]]


@needs("prometheus")
def test_every_panel_of_the_dashboard_has_data(tmp_path):
    metrics_port, port = free_port(), free_port()
    (tmp_path / "prometheus.yml").write_text(CONFIG.format(port=metrics_port))
    with Server(metrics_port=metrics_port, cluster_enabled=True) as server, \
            Server(cluster_enabled=True) as other, Program(
            "prometheus", f"--config.file={tmp_path}/prometheus.yml",
            f"--storage.tsdb.path={tmp_path}/tsdb", f"--web.listen-address=127.0.0.1:{port}"):
        server.client().execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        server.client().execute_command("CLUSTER", "MEET", "127.0.0.1", other.port)
        ends = threading.Event()
        thread = threading.Thread(target=load, args=(server, ends))
        thread.start()
        try:
            wait_for(lambda: values(port, 'up{job="cairn"}') == [1], "Prometheus scrapes")
            for title, query in panel_queries():
                wait_for(lambda query=query: any(not math.isnan(value)
                                                 for value in values(port, query)), title)
        finally:
            ends.set()
            thread.join()


@needs("prometheus-redis-exporter")
def test_the_exporter_for_redis_works_unchanged():
    port = free_port()
    with Server() as server, Program(
            "prometheus-redis-exporter", f"-redis.addr=redis://127.0.0.1:{server.port}",
            f"-web.listen-address=127.0.0.1:{port}", "-check-single-keys=list"):
        client = server.client()
        client.rpush("list", *range(7))
        client.set("k", "v")
        text = wait_for(lambda: fetch(f"http://127.0.0.1:{port}/metrics"), "the exporter answers")
        lines = set(text.splitlines())
        assert "redis_up 1" in lines and 'redis_exporter_last_scrape_error{err=""} 0' in lines
        assert 'redis_db_keys{db="db0"} 2' in lines
        assert 'redis_commands_total{cmd="rpush"} 1' in lines
        assert 'redis_key_size{db="db0",key="list"} 7' in lines
        for name in ("redis_memory_used_bytes", "redis_memory_used_dataset_bytes",
                     "redis_connected_clients", "redis_uptime_in_seconds",
                     "redis_keyspace_hits_total", "redis_commands_duration_seconds_total"):
            assert any(line.startswith(name) for line in lines), name
