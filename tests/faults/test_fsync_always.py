# SPDX-License-Identifier: BSD-3-Clause
"""`appendfsync always`: no client sees a write before it is on the disk, and no refused write survives.

Otherwise a reader may act on a value that a power loss takes back, and a client may repeat an INCR that was refused but
applied.
"""

import errno
import re
import subprocess
import threading

import pytest
import redis

from fault_control import Faults
from harness import Server, default_command
from pairs import wait_for_link, wait_for_offset
from waiting import assert_stays

HELD_MS = 20_000  # a test ends the delay before
SPINS = "for i = 1, 3e7 do end "  # longer than an I/O thread's budget for a script: it moves to the slow lane
LANES = {"fast": "", "slow": SPINS}
SET = "return redis.call('SET', KEYS[1], ARGV[1])"
INCR = "return redis.call('INCR', KEYS[1])"


@pytest.fixture(name="faults")
def fixture_faults():
    with Faults() as faults:
        yield faults


@pytest.fixture(name="primary")
def fixture_primary(faults):
    with Server(command=faults.command(), appendfsync="always", io_threads=2, repl_diskless_sync_delay=0) as server:
        yield server


def follow(server, primary):
    """Makes `server` a replica of `primary` and waits for the link."""
    server.client().replicaof(primary.host, primary.port)
    wait_for_link(server)


def await_equal(primary, replica):
    """Waits until the replica has the primary's offset and data."""
    wait_for_offset(primary, replica)
    keys = sorted(primary.client().keys())
    assert keys == sorted(replica.client().keys())
    if keys:
        assert primary.client().mget(keys) == replica.client().mget(keys)


def in_background(call):
    """Runs the call on a thread; returns the thread and a list that gets the call's result or error."""
    outcome = []

    def run():
        try:
            outcome.append(call())
        except redis.RedisError as error:
            outcome.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, outcome


def seen_by(server, *command):
    """The reply that another client gets at once; None if it has to wait."""
    client = redis.Redis(host=server.host, port=server.port, socket_timeout=0.5, retry=None)
    try:
        return client.execute_command(*command)
    except redis.TimeoutError:
        return None
    finally:
        client.close()


@pytest.mark.parametrize("lane", LANES)
def test_a_write_is_visible_and_replicated_only_when_it_is_on_the_disk(faults, primary, lane):
    with Server() as replica, Server(start=False) as late:
        follow(replica, primary)
        primary.client().set("k", "old")
        await_equal(primary, replica)
        late.start()
        faults.arm("sync", path="*.log", delay_ms=HELD_MS)
        thread, outcome = in_background(lambda: primary.client().eval(LANES[lane] + SET, 1, "k", "new"))
        faults.wait_fired()
        another, _ = in_background(lambda: primary.client().set("k2", "new"))
        late.client().replicaof(primary.host, primary.port)
        assert_stays(lambda: not outcome, 0.5, "the wait")
        for _ in range(2):
            assert seen_by(primary, "GET", "k") in (None, b"old")
            assert b"k2" not in (seen_by(primary, "KEYS", "*") or [])
            assert b"k2" not in ((seen_by(primary, "SCAN", "0") or [0, []])[1])
            assert seen_by(primary, "DBSIZE") in (None, 1)
            assert seen_by(replica, "GET", "k") == b"old"
            assert seen_by(late, "GET", "k") in (None, b"old")
        faults.disarm()
        thread.join()
        another.join()
        assert outcome == [b"OK"]
        assert primary.client().get("k") == b"new"
        wait_for_link(late)
        await_equal(primary, replica)
        await_equal(primary, late)


@pytest.mark.parametrize("lane", LANES)
@pytest.mark.parametrize("error", [errno.EIO, errno.ENOSPC], ids=errno.errorcode.get)
def test_after_a_failed_fsync_the_server_ends_without_a_reply(faults, primary, lane, error):
    with Server() as replica:
        follow(replica, primary)
        client = primary.client()
        for _ in range(10):
            client.incr("n")
        await_equal(primary, replica)
        offset = client.info("replication")["master_repl_offset"]
        faults.arm("sync", error, path="*.log")
        with pytest.raises(redis.ConnectionError):
            primary.client().eval(LANES[lane] + INCR, 1, "n")
        assert primary.process.wait(60) == 1
        assert "Can't persist AOF for fsync error" in primary.log_tail()
        assert replica.client().get("n") == b"10"
        faults.disarm()
        primary.start()
        client = primary.client()
        assert client.get("n") in (b"10", b"11")  # in doubt: no client got a reply
        for i in range(100):
            client.set(f"after:{i}", "x")
        assert client.info("replication")["master_repl_offset"] > offset
        await_equal(primary, replica)
        primary.kill9()
        primary.start()
        await_equal(primary, replica)


def test_a_replica_whose_fsync_fails_ends_and_catches_up_after_a_restart(faults):
    with Server() as primary, Server(command=faults.command(), appendfsync="always") as replica:
        follow(replica, primary)
        client = primary.client()
        client.set("before", "x")
        await_equal(primary, replica)
        faults.arm("sync", errno.ENOSPC, path="*.log")
        client.set("during", "y")
        assert replica.process.wait(60) == 1
        faults.disarm()
        for i in range(100):
            client.set(f"after:{i}", "z")
        replica.start()
        follow(replica, primary)
        await_equal(primary, replica)
        partial = primary.client().info("stats")["sync_partial_ok"]
        assert_stays(lambda: primary.client().info("stats")["sync_partial_ok"] == partial, 1, "the link")
        assert partial <= 2


def test_concurrent_commits_share_an_fsync(faults, primary):
    writes = 2000
    faults.arm("sync", path="*.log", count=0)
    subprocess.run(["redis-benchmark", "-p", str(primary.port), "-c", "50", "-n", str(writes), "-r", "100000",
                    "-t", "set", "-q"], check=True, capture_output=True)
    assert 0 < faults.seen < writes / 4


# A commit that waits for its fsync while another commit's append fails is synced all the same.
@pytest.mark.parametrize("depth", [1, 50])
def test_on_a_full_disk_acknowledged_writes_are_kept_and_refused_ones_are_not(depth):
    limit = 'trap "" XFSZ; ulimit -f 8192; exec "$0" "$@"'  # 4 MB, in blocks of 512 bytes
    with Server(command=["sh", "-c", limit, *default_command()], appendfsync="always", io_threads=2) as server:
        done, refused = {}, []

        def write(number):
            client = server.client()
            for round_ in range(10_000):
                pipeline = client.pipeline(transaction=False)
                names = [f"{number}:{round_}:{i}" for i in range(depth)]
                for name in names:
                    pipeline.set(name, name * 150)
                for name, reply in zip(names, pipeline.execute(raise_on_error=False), strict=True):
                    if reply is True:
                        done[name] = (name * 150).encode()
                    else:
                        assert re.match("MISCONF", str(reply)), reply
                        refused.append(name)
                if refused:
                    return

        threads = [threading.Thread(target=write, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert done and refused
        assert server.is_running(), server.log_tail()
        server.kill9()
        server.command = default_command()
        server.start()
        client = server.client()
        assert client.mget(list(done)) == list(done.values())
        assert client.exists(*refused) == 0
