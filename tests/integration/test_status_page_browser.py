# SPDX-License-Identifier: BSD-3-Clause
"""The page of metrics-port in headless Chromium, under load: its figures move and are INFO's, nothing on it comes from
users as markup, it fits a phone, and axe-core finds no serious fault."""

import json
import re
import shutil
import subprocess
import tarfile
import threading

import pytest
from browser import Browser
from harness import REPOSITORY, Server, free_port
from status_fields import fields_of, raw, raw_info
from waiting import assert_stays, wait_until

pytestmark = [pytest.mark.slow,
              pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed")]

SIZES = {"phone": (390, 844), "desktop": (1360, 900)}
MARKUP = "<img src=x onerror=document.title='taken'>"
FIGURES = """JSON.stringify(Object.fromEntries([...document.querySelectorAll("[data-field]")]
    .filter((node) => node.dataset.value !== undefined)
    .map((node) => [node.dataset.field + (node.dataset.part ? "/" + node.dataset.part : ""), node.dataset.value])))"""
AXE_VERSION = "4.14.1"


@pytest.fixture(scope="module")
def served():
    """A server with all that the page can show, and the page's port."""
    port = free_port()
    with Server(metrics_port=port, metrics_details=True, slowlog_log_slower_than=0, cluster_enabled=True) as running:
        client = running.client(client_name="x" + MARKUP.replace(" ", "_"))
        client.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        wait_until(lambda: client.cluster("INFO")["cluster_state"] == "ok", "the cluster")
        client.execute_command("HOTKEYS", "START", "METRICS", 2, "CPU", "NET")
        client.rpush("list", *range(1000))
        client.set(MARKUP, "x" * 5000)
        with pytest.raises(Exception):
            client.lpush(MARKUP, "x")
        yield running, port


@pytest.fixture(scope="module")
def browser():
    """One browser for all tests."""
    with Browser() as started:
        yield started


class Load:
    """A client that writes and reads in pipelines until the end of the block."""

    def __init__(self, server):
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(server.client(),))

    def _run(self, client):
        while not self._ends.is_set():
            pipe = client.pipeline(transaction=False)
            for i in range(100):
                pipe.set(f"load:{i}", "v" * 100).get(f"load:{i}")
            pipe.execute()

    def __enter__(self):
        self._thread.start()

    def __exit__(self, *_):
        self._ends.set()
        self._thread.join()


def load_page(browser, port, size, scheme="light"):
    """Opens the page and waits for its first figures."""
    browser.open(f"http://127.0.0.1:{port}/", *SIZES[size], scheme=scheme)
    wait_until(lambda: polls_of(browser) > 0, "the first figures")


def polls_of(browser):
    """How often the page has read the figures."""
    return int(browser.evaluate("(location.port && document.body && document.body.dataset.polls) || 0"))


def figures_of(browser):
    """field -> the text of INFO that the page shows."""
    return json.loads(browser.evaluate(FIGURES))


def info_value(info, field):
    """The text of INFO for `section.name/part`."""
    name, _, part = field.partition("/")
    text = info[name.split(".", 1)[1]]
    return dict(one.split("=") for one in text.split(","))[part] if part else text


COUNTERS = ("stats.total_commands_processed", "stats.total_net_input_bytes", "cache.key_cache_hits",
            "amplification.written_bytes_rows", "commandstats.cmdstat_set/calls")


@pytest.mark.parametrize("size", SIZES)
def test_under_load_the_figures_move_and_lie_between_two_infos(served, browser, size):
    server, port = served
    client = server.client()
    with Load(server):
        wait_until(lambda: "cmdstat_set" in raw_info(client, "commandstats"), "the load")
        load_page(browser, port, size)
        earlier = figures_of(browser)
        for _ in range(2):
            before = raw_info(client, "everything")
            polls = polls_of(browser)
            wait_until(lambda: polls_of(browser) > polls + 1, "the next figures")  # one may have been under way
            shown = figures_of(browser)
            after = raw_info(client, "everything")
            for field in COUNTERS:
                values = [int(value) for value in (info_value(before, field), shown[field], info_value(after, field))]
                assert values == sorted(values), field
                assert values[1] > int(earlier[field]), f"{field} does not move"
            earlier = shown
        assert float(shown["stats.instantaneous_ops_per_sec"]) > 0
        assert browser.evaluate("document.querySelector('#chart-throughput path').getAttribute('d').length") > 0
        assert browser.evaluate("document.getElementById('p99').textContent").endswith(("µs", "ms", " s"))
    assert browser.evaluate("document.documentElement.scrollWidth <= innerWidth"), "the page is wider than the window"


def test_at_rest_every_figure_is_infos(served, browser):
    server, port = served
    client = server.client()
    # Those that the requests of this test and time itself change.
    moving = re.compile(r"stats\.(total_(commands|net)|instantaneous|slow_lane)|cairn\.(used_|disk_free)|"
                        r"cache\.key_cache_(h|m)|cmdstat_(info|client|hello)|usec_(info|client|hello)|clients\.|"
                        r"replication\.slave")
    load_page(browser, port, "desktop")

    def differences():
        polls = polls_of(browser)
        wait_until(lambda: polls_of(browser) > polls, "the next figures")
        shown = figures_of(browser)
        info = raw_info(client, "everything") | raw_info(client, "keysizes") | fields_of(raw(client, "CLUSTER", "INFO"))
        assert len(shown) > 90
        return [field for field, value in shown.items()
                if not moving.search(field) and info_value(info, field) != value]

    wait_until(lambda: not differences(), "the same figures")


def test_text_of_users_is_shown_and_is_no_markup(served, browser):
    server, port = served
    for _ in range(20):  # the newest of the slow log
        server.client().get(MARKUP)
    load_page(browser, port, "desktop")

    def is_drawn():
        text = browser.evaluate("document.body.innerText")
        return MARKUP in text and "list" in text

    wait_until(is_drawn, "the text of users on the page")
    assert browser.evaluate("document.images.length") == 0
    assert browser.evaluate("document.title").startswith("Cairn ")
    loaded = json.loads(browser.evaluate("JSON.stringify(performance.getEntriesByType('resource').map((e) => e.name))"))
    assert loaded and all(url.startswith(f"http://127.0.0.1:{port}/") for url in loaded)
    assert browser.complaints == []
    assert browser.evaluate("""new Promise((resolve) => {
        document.addEventListener("securitypolicyviolation", (event) => resolve(event.effectiveDirective));
        fetch("http://127.0.0.1:1/").catch(() => 0);
        setTimeout(resolve, 10000, "nothing refused it"); })""") == "connect-src"
    browser.complaints.clear()


SHOW = """Object.defineProperty(document, "hidden", { value: %s, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"))"""
LINES = "document.querySelector('#chart-throughput path').getAttribute('d').split('M').length - 1"


def test_a_hidden_page_asks_nothing_and_continues_after_a_gap(served, browser):
    _, port = served
    load_page(browser, port, "desktop")
    wait_until(lambda: browser.evaluate(LINES) == 1, "the first line")
    browser.evaluate(SHOW % "true")
    wait_until(lambda: browser.evaluate("timer === 0 && !isPolling"), "the end of the polls")
    polls = polls_of(browser)
    assert_stays(lambda: polls_of(browser) == polls, 2.5, "the pause")  # a page that is seen asks every second
    browser.evaluate(SHOW % "false")
    wait_until(lambda: polls_of(browser) > polls + 1, "the next figures")
    wait_until(lambda: browser.evaluate(LINES) == 2, "the line after the gap")
    assert browser.evaluate("document.getElementById('state').textContent") == "live"


def axe_source():
    """The text of axe-core, which npm fetches once per clone."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    folder = REPOSITORY / "build" / "axe-core"
    archive = folder / f"axe-core-{AXE_VERSION}.tgz"
    if not archive.exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["npm", "pack", "--silent", f"axe-core@{AXE_VERSION}"], cwd=folder, check=True, timeout=300,
                       stdout=subprocess.DEVNULL)
    with tarfile.open(archive) as package:
        return package.extractfile("package/axe.min.js").read().decode()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_axe_finds_no_serious_fault(served, browser, size, scheme):
    _, port = served
    load_page(browser, port, size, scheme)
    browser.evaluate(axe_source() + "; 0")
    found = json.loads(browser.evaluate("axe.run().then((all) => JSON.stringify(all.violations))"))
    serious = [(one["id"], one["nodes"][0]["html"][:200], one["nodes"][0]["failureSummary"]) for one in found
               if one["impact"] in ("serious", "critical")]
    assert not serious
