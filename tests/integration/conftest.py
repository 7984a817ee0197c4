# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures of the tests that talk to a running server.

`server` is one process for a whole module, emptied before each test. A test that restarts it, kills it or needs
directives creates its own `Server`. `r` is a client of `server`. `redis_server` is a real redis-server in the same
role; it skips the test if none is installed. `newer_pair` is `server` and Valkey, which replies like Redis 7.2 and
later where these differ from 7.0.

A test marked `measures("memory")` asserts a cost, which a sanitizer makes meaningless, so it does not run under one.
"""

import pathlib
import shutil
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from harness import SANITIZER, Server, start_redis, start_valkey  # noqa: E402  (the path is set just above)
from raw_client import Pair  # noqa: E402


def pytest_runtest_setup(item):
    """Skips tests that measure under a sanitizer."""
    mark = item.get_closest_marker("measures")
    if SANITIZER and mark:
        pytest.skip(f"it measures {mark.args[0]}, of which a sanitizer takes its own")


@pytest.fixture(scope="module")
def module_server():
    """The process behind `server`: started once per module."""
    with Server() as server:
        yield server


@pytest.fixture
def server(module_server):
    """A running, empty server."""
    if not module_server.is_running():
        module_server.start()
    module_server.client().flushall()
    return module_server


@pytest.fixture
def r(server):
    """A redis-py client of `server`: RESP2, database 0, replies as bytes."""
    return server.client()


@pytest.fixture(scope="module")
def module_redis_server():
    """The process behind `redis_server`."""
    if not shutil.which("redis-server"):
        pytest.skip("redis-server is not installed")
    with start_redis() as server:
        yield server


@pytest.fixture
def redis_server(module_redis_server):
    """A running, empty, real redis-server."""
    if not module_redis_server.is_running():
        module_redis_server.start()
    module_redis_server.client().flushall()
    return module_redis_server


@pytest.fixture(params=[2, 3], ids=["resp2", "resp3"])
def pair(request, server, redis_server):
    """The server and a redis-server, both empty; they get the same commands, in either protocol."""
    with server.client(decode_responses=True) as client:
        usual = client.config_get("double-format")
        if usual:
            client.config_set("double-format", "17-digits")  # as redis-server 7.0
    both = Pair(server, redis_server, request.param)
    yield both
    both.close()
    if usual and server.is_running():
        with server.client() as client:
            client.config_set(*usual.popitem())


@pytest.fixture(scope="module")
def module_valkey_server():
    """The process behind `valkey_server`."""
    with start_valkey() as server:
        yield server


@pytest.fixture
def valkey_server(module_valkey_server):
    """A running, empty Valkey."""
    module_valkey_server.client().flushall()
    return module_valkey_server


@pytest.fixture(params=[2, 3], ids=["resp2", "resp3"])
def newer_pair(request, server, valkey_server):
    """The server and Valkey, both empty; they get the same commands, in either protocol."""
    both = Pair(server, valkey_server, request.param)
    yield both
    both.close()
