# SPDX-License-Identifier: BSD-3-Clause
"""The first transfer between two Cairns, in files (docs/format.md, section 9): the data is the same, an interrupted
transfer resumes, and Redis is not offered it."""

import contextlib
import random
import re
import socket
import threading
import time

import pytest
from fake_peers import Listener
from harness import by_size
from load import fill
from mounts import small_disk
from pairs import Load, assert_same, follow, replication, start, wait_for_link
from waiting import assert_stays, wait_until

pytestmark = pytest.mark.slow

PIECE = 64 * 1024


class Proxy(Listener):
    """A proxy to a server that closes the connection, or damages a byte, after a number of bytes from it; each only
    once."""

    def __init__(self, server, cut_at=None, damage_at=None):
        self.server, self.cut_at, self.damage_at = server, cut_at, damage_at
        self.passed = 0
        super().__init__()

    def _answer(self, near):
        try:
            far = socket.create_connection(("127.0.0.1", self.server.port))
        except OSError:
            near.close()
            return
        threading.Thread(target=self._pass, args=(near, far, False), daemon=True).start()
        self._pass(far, near, True)

    def _pass(self, source, target, counts):
        try:
            while data := source.recv(PIECE):
                target.sendall(self._change(data) if counts else data)
        except OSError:
            pass
        for one in (source, target):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def _change(self, data):
        before, self.passed = self.passed, self.passed + len(data)
        if self.cut_at is not None and self.passed > self.cut_at:
            self.cut_at = None
            raise OSError("cut")
        if self.damage_at is not None and self.passed > self.damage_at:
            at, self.damage_at = self.damage_at - before, None
            return data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]
        return data


def fill_noise(server, megabytes, size=20000):
    """Writes values that do not compress."""
    rng = random.Random(7)
    pipe = server.client().pipeline(transaction=False)
    for number in range(megabytes * 1000000 // size):
        pipe.set(f"noise:{number}", rng.randbytes(size))
        if number % 100 == 99:
            pipe.execute()
    pipe.execute()


def stats(server):
    """INFO stats."""
    return server.client().info("stats")


def received(replica):
    """The transfers in the replica's log: (bytes, bytes reused from an earlier transfer) each."""
    found = re.findall(r"received \d+ files of (\d+) bytes, (\d+) of them in an earlier", replica.log_path.read_text())
    return [(int(size), int(spared)) for size, spared in found]


def digest(server):
    """DEBUG DIGEST: names, types, values, order, deadlines of all keys."""
    return server.client(socket_timeout=120).execute_command("DEBUG", "DIGEST")


def add_large(client):
    """Adds values with rows in every space, values in blob files, fields that expire, functions."""
    pipe = client.pipeline(transaction=False)
    pipe.delete("large:hash", "large:zset", "large:set", "large:list", "large:stream")
    pipe.set("large:value", b"v" * 300000)
    pipe.set("large:edited", b"e" * 50000)
    pipe.setrange("large:edited", 60000, b"end")
    for number in range(2000):
        pipe.hset("large:hash", f"field:{number}", f"value {number}")
        pipe.zadd("large:zset", {f"member:{number}": number / 3})
        pipe.sadd("large:set", f"member:{number}")
        pipe.rpush("large:list", f"item {number}" * 5)
        pipe.xadd("large:stream", {"n": number})
    pipe.xgroup_create("large:stream", "group", id="0")
    pipe.xreadgroup("group", "consumer", {"large:stream": ">"}, count=50)
    pipe.execute_command("HPEXPIREAT", "large:hash", 4102444800000, "FIELDS", 2, "field:1", "field:2")
    pipe.pexpireat("large:set", 4102444800000)
    pipe.execute_command("FUNCTION", "LOAD", "REPLACE", "#!lua name=lib\nredis.register_function{function_name='seven',"
                         "callback=function() return 7 end, flags={'no-writes'}}")
    pipe.execute()


def test_everything_arrives_under_load():
    """All types, a replica with existing data, a replica of the replica, and writes after a promotion."""
    debug = {"enable_debug_command": "yes"}
    with start("cairn", **debug) as primary, start("cairn", **debug) as replica, start("cairn", **debug) as third:
        fill(primary.client(), seed=21, keys=160)
        add_large(primary.client())
        add_large(replica.client())  # the same keys with other collection ids
        replica.client().set("of the replica", "gone")
        follow(third, replica)
        with Load(primary) as load:
            load.run(1000)
            follow(replica, primary)
            load.run(2000)
        wait_for_link(third)
        assert_same(primary, replica, third)
        assert digest(primary) == digest(replica) == digest(third)
        assert replica.client().get("of the replica") is None
        assert replica.client().execute_command("FCALL", "seven", 0) == 7
        assert replica.client().dbsize() == len(replica.client().keys("*"))
        assert stats(primary)["sync_files"] == 1 and stats(replica)["sync_files"] == 2
        replica.client().execute_command("REPLICAOF", "NO", "ONE")
        with Load(replica, seed=5) as load:
            load.run(1000)
        replica.shutdown()
        replica.start()
        follow(primary, replica)
        add_large(replica.client())
        assert_same(replica, primary)
        assert digest(primary) == digest(replica)


def test_a_sync_of_an_empty_data_set_and_one_after_a_flush():
    """Empty data sets, and rows of a keyspace that was flushed."""
    with start("cairn") as primary, start("cairn") as replica:
        replica.client().set("k", "v")
        follow(replica, primary)
        assert replica.client().dbsize() == 0
        replica.client().execute_command("REPLICAOF", "NO", "ONE")
        add_large(primary.client())
        primary.client().flushall()
        primary.client().set("only", 1, px=400)
        primary.client().set("kept", 1)
        add_large(replica.client())
        follow(replica, primary)
        assert sorted(replica.client().keys("*")) in ([b"kept"], [b"kept", b"only"])
        wait_until(lambda: replica.client().dbsize() == 1, "the end of what had a time")
        replica.client().execute_command("REPLICAOF", "NO", "ONE")
        replica.client().execute_command("COMPACT")
        assert replica.client().get("kept") == b"1"


def test_keys_expire_on_a_promoted_replica():
    """Keys and fields from files have their deadlines."""
    with start("cairn") as primary, start("cairn") as replica:
        for number in range(100):
            primary.client().set(f"k:{number}", 1, px=2500)
        follow(replica, primary)
        replica.client().execute_command("REPLICAOF", "NO", "ONE")
        assert replica.client().dbsize() == 100
        wait_until(lambda: replica.client().dbsize() == 0, "their end")


@pytest.mark.parametrize("kinds", ["cairn redis", "redis cairn", "no cairn", "cairn no"])
def test_other_servers_get_rdb_files(kinds):
    """Redis on either side, and a Cairn with repl-sync-files no."""
    def make(kind):
        return start("redis") if kind == "redis" else start("cairn", repl_sync_files=kind != "no")

    primary_kind, replica_kind = kinds.split()
    with make(primary_kind) as primary, make(replica_kind) as replica:
        fill(primary.client(), seed=22, keys=40)
        follow(replica, primary)
        assert_same(primary, replica)
        assert stats(primary).get("sync_files", 0) == 0
        assert not list(replica.data_dir.glob("sync-received"))


@pytest.mark.parametrize("trouble", ["no folder", "no room"])
def test_if_files_cannot_be_written_rdb_files_are_sent(trouble):
    """The first try fails, at once or half-way; the next one is an RDB file, and so are those after it."""
    with start("cairn") as primary, start("cairn") as replica:
        fill(primary.client(), seed=22, keys=40)
        for number in range(200):
            primary.client().set(f"large:{number}", random.Random(number).randbytes(20_000))
        folder = primary.data_dir / "sync-sent"
        with contextlib.ExitStack() as stack:
            if trouble == "no folder":
                folder.write_text("in the way")
            else:
                stack.enter_context(small_disk(folder, 1))
            follow(replica, primary)
            assert_same(primary, replica)
            assert "The snapshot for replicas cannot be written" in primary.log_tail()
            assert primary.client().info("stats")["sync_full"] == 2
            assert stats(primary)["sync_files"] == (trouble == "no room")
            with start("cairn") as another:
                follow(another, primary)
                assert primary.client().info("stats")["sync_full"] == 3


def test_a_database_that_leaves_the_ssd_before_the_snapshot_is_sent_as_rdb():
    """The files have only rows of an SSD, so a replica would count the keys of the database and have none of them."""
    with start("cairn", repl_diskless_sync_delay=1000) as primary, start("cairn") as replica:
        replica.client().execute_command("REPLICAOF", "127.0.0.1", primary.port)
        wait_until(lambda: stats(primary)["sync_full"] == 1, "the choice of files")
        primary.client().config_set("database", "1 storage-mode memory")
        primary.client(db=1).set("k", "v")
        primary.client().config_set("repl-diskless-sync-delay", 0)
        wait_for_link(replica)
        assert replica.client(db=1).get("k") == b"v"
        assert "the storage-mode of database 1 has changed" in primary.log_tail()
        assert stats(primary)["sync_files"] == 0


def test_the_offer_and_the_header_of_a_transfer():
    """The offer and the header, byte by byte; a replica without an offer, or of another version, gets an RDB file."""
    with start("cairn") as primary:
        primary.client().set("k", "v")
        for offer, head in (("cairn-files:1:4:16:17:1:-:0:0", rb"\$CAIRN-FILES 1 [0-9a-f]{40} 256 16777216 0 0\r\n"),
                            ("cairn-files:2:2:16:17:1:-:0:0", rb"\$EOF:"),
                            ("cairn-files:1:1:16:17:1:-:0:0", rb"\$EOF:"),
                            ("cairn-files:1:4:16:17:1:-:0", rb"\$EOF:"), ("psync2", rb"\$EOF:")):
            with socket.create_connection(("127.0.0.1", primary.port)) as connection:
                connection.sendall(f"REPLCONF capa eof capa {offer}\r\nPSYNC ? -1\r\n".encode())
                stream = connection.makefile("rb")
                assert stream.readline() == b"+OK\r\n"
                assert stream.readline().startswith(b"+FULLRESYNC ")
                assert re.match(head, stream.readline()), offer
                if b"CAIRN" in head:
                    assert re.match(rb"FILE keys \d+ [0-9a-f]{16} \d+\r\n", stream.readline())


def test_a_transfer_resumes_after_a_cut_link():
    """The second time only the rest is sent; without new writes meanwhile, exactly the remaining bytes."""
    with start("cairn", repl_sync_rate="60mb") as primary, start("cairn") as replica:
        fill_noise(primary, 160)
        with Proxy(primary, cut_at=100 << 20) as proxy, Load(primary, pause_s=0.001):
            replica.client().execute_command("REPLICAOF", "127.0.0.1", proxy.port)
            wait_until(lambda: proxy.cut_at is None, "the cut")
            wait_until(lambda: stats(primary)["sync_files_resumed"] == 1, "going on")
            wait_for_link(replica)
        assert_same(primary, replica)
        [(size, spared)] = received(replica)
        assert 90 << 20 < spared < size
        figures = stats(primary)
        assert figures["sync_files_spared_bytes"] == spared
        assert size <= figures["sync_files_sent_bytes"] < size + (16 << 20)  # bytes in flight when the link was cut
        wait_until(lambda: not list(primary.data_dir.glob("sync-sent/*")), "the end of the files")
        assert not replica.data_dir.joinpath("sync-received").exists()


def test_a_killed_replica_resumes_its_transfer():
    """kill -9 during a transfer: after the start the received files are not sent again."""
    with start("cairn", repl_sync_rate="20mb") as primary, start("cairn") as replica:
        fill_noise(primary, 90)
        replica.client().set("old", "data")
        replica.directives["replicaof"] = f"127.0.0.1 {primary.port}"
        replica.client().execute_command("REPLICAOF", "127.0.0.1", primary.port)
        wait_until(lambda: stats(primary)["sync_files_sent_bytes"] > 75 << 20, "the first file")
        assert replication(replica)["master_sync_in_progress"] == 1
        assert replication(replica)["master_sync_read_bytes"] > 60 << 20
        assert replica.client().get("old") == b"data"
        replica.kill9()
        replica.start()
        assert replica.client().get("old") in (b"data", None)
        wait_for_link(replica)
        assert_same(primary, replica)
        [(size, spared)] = received(replica)
        assert 60 << 20 < spared < size


def test_a_killed_primary_starts_a_new_transfer():
    """The files that it had written for replicas are deleted, and the replica deletes the part it received."""
    with start("cairn", repl_sync_rate="20mb") as primary, start("cairn") as replica:
        fill_noise(primary, 40)
        replica.client().execute_command("REPLICAOF", "127.0.0.1", primary.port)
        wait_until(lambda: stats(primary)["sync_files_sent_bytes"] > 10 << 20, "some bytes")
        primary.kill9()
        primary.directives["repl_sync_rate"] = 0
        primary.start()
        wait_for_link(replica)
        assert_same(primary, replica)
        [(_, spared)] = received(replica)
        assert spared == 0 and stats(primary)["sync_files_resumed"] == 0


def test_a_damaged_byte_is_detected():
    """The replica does not load a file that differs from the sent one; the next transfer is a new one."""
    with start("cairn") as primary, start("cairn") as replica:
        fill_noise(primary, 20)
        with Proxy(primary, damage_at=10 << 20) as proxy:
            replica.client().execute_command("REPLICAOF", "127.0.0.1", proxy.port)
            wait_for_link(replica)
            assert_same(primary, replica)
        assert "a file's checksum is wrong" in replica.log_path.read_text()
        assert stats(primary)["sync_files"] == 2 and stats(primary)["sync_files_resumed"] == 0


def test_replicas_share_files_and_unused_ones_are_deleted():
    """Two replicas that arrive together get the same files; a disconnected one keeps them for repl-timeout."""
    with start("cairn", repl_sync_rate="20mb", repl_timeout=3) as primary, start("cairn") as one, start("cairn") as two:
        fill_noise(primary, 40)
        for replica in (one, two):
            replica.client().execute_command("REPLICAOF", "127.0.0.1", primary.port)
        wait_until(lambda: stats(primary)["sync_files"] == 2, "both transfers")
        assert len(list(primary.data_dir.glob("sync-sent/*"))) == 1
        for replica in (one, two):
            replica.client().execute_command("REPLICAOF", "NO", "ONE")
            assert not replica.data_dir.joinpath("sync-received").exists()
        assert_stays(lambda: len(list(primary.data_dir.glob("sync-sent/*"))) == 1, 1, "the set of files")
        wait_until(lambda: not list(primary.data_dir.glob("sync-sent/*")), "their end")
        primary.client().config_set("repl-sync-rate", 0)
        for replica in (one, two):
            follow(replica, primary)
        assert_same(primary, one, two)


def test_a_replica_that_starts_over_gets_the_same_files():
    """A replica that drops its part, for example on a full disk, and requests everything again gets the existing
    files."""
    with start("cairn", repl_sync_rate="20mb") as primary, start("cairn") as replica:
        fill_noise(primary, 40)
        names = set()
        for number in range(1, 5):
            replica.client().execute_command("REPLICAOF", "127.0.0.1", primary.port)
            wait_until(lambda number=number: stats(primary)["sync_files"] == number, "the transfer")
            names |= {path.name for path in primary.data_dir.glob("sync-sent/*")}
            replica.client().execute_command("REPLICAOF", "NO", "ONE")
        primary.client().config_set("repl-sync-rate", 0)
        follow(replica, primary)
        assert_same(primary, replica)
        assert len(names) == 1


def test_a_replica_that_starts_over_repeatedly_does_not_keep_the_log_forever():
    """After repl-timeout there are new files; the old ones are deleted with the log that was kept for them."""
    with start("cairn", repl_sync_rate="20mb", repl_timeout=2) as primary, start("cairn") as replica:
        fill_noise(primary, 20)
        seen, came = set(), [0]

        def come_again():
            replica.client().execute_command("REPLICAOF", "127.0.0.1", primary.port)
            wait_until(lambda: stats(primary)["sync_files"] > came[-1], "the transfer")
            came.append(stats(primary)["sync_files"])
            replica.client().execute_command("REPLICAOF", "NO", "ONE")
            there = {path.name for path in primary.data_dir.glob("sync-sent/*")}
            assert len(there) <= 2
            seen.update(there)
            return len(seen) >= 3

        wait_until(come_again, "the third")
        wait_until(lambda: not list(primary.data_dir.glob("sync-sent/*")), "their end")


def test_files_for_a_disconnected_replica_are_kept():
    """They are kept although another replica has received all of them."""
    with start("cairn", repl_sync_rate="8mb") as primary, start("cairn") as one, start("cairn") as two:
        fill_noise(primary, 40)
        two.directives["replicaof"] = f"127.0.0.1 {primary.port}"
        for replica in (one, two):
            replica.client().execute_command("REPLICAOF", "127.0.0.1", primary.port)
        wait_until(lambda: replication(two).get("master_sync_read_bytes", 0) > 2000000, "a part")
        two.kill9()
        primary.client().config_set("repl-sync-rate", 0)
        wait_for_link(one)
        two.start()
        wait_for_link(two)
        assert stats(primary)["sync_files_resumed"] == 1
        assert_same(primary, one, two)
        wait_until(lambda: not list(primary.data_dir.glob("sync-sent/*")), "their end")


def test_a_killed_primary_leaves_no_files_of_transfers():
    """Neither does a first transfer by an RDB file, which is on the disk if its size must be sent first."""
    with start("cairn", repl_diskless_sync="no", rdb_key_save_delay=1000) as primary, \
            start("cairn", repl_sync_files=False) as replica:
        fill(primary.client(), keys=1000)
        replica.client().execute_command("REPLICAOF", "127.0.0.1", primary.port)
        wait_until(lambda: list(primary.data_dir.glob("sync-sent/replica-*")), "the file")
        replica.client().execute_command("REPLICAOF", "NO", "ONE")
        primary.restart("kill9")
        assert not list(primary.data_dir.rglob("*replica-*"))


def test_a_change_of_the_rate_applies_to_a_running_transfer():
    """A transfer that hardly progresses ends with the server, and finishes at once with another rate."""
    with start("cairn", repl_sync_rate="1kb") as primary, start("cairn") as replica:
        fill_noise(primary, 5)
        replica.client().execute_command("REPLICAOF", "127.0.0.1", primary.port)
        wait_until(lambda: stats(primary)["sync_files"] == 1, "the transfer")
        primary.client().config_set("repl-sync-rate", 1)
        assert_stays(lambda: replication(replica)["master_link_status"] == "down", 2, "the transfer")
        primary.client().config_set("repl-sync-rate", 0)
        wait_for_link(replica)
        replica.client().execute_command("REPLICAOF", "NO", "ONE")
        replica.client().set("its own", "data")  # so it needs a full synchronization again
        primary.client().config_set("repl-sync-rate", 1)
        replica.client().execute_command("REPLICAOF", "127.0.0.1", primary.port)
        wait_until(lambda: stats(primary)["sync_files"] == 2, "the transfer")
        began = time.monotonic()
        primary.shutdown()
        assert time.monotonic() - began < 9.5  # a shutdown that waits for replicas takes 10 s


def test_a_replica_killed_at_any_moment_has_the_old_or_the_new_data():
    """kill -9 of a replica during a transfer or while it is loaded never leaves a mixture."""
    rng = random.Random(int(time.time()))
    with start("cairn") as primary, start("cairn") as replica:
        fill_noise(primary, 12, size=2000)
        add_large(primary.client())
        expected = primary.client().dbsize()
        seen = set()
        for _ in range(by_size(3, 5, 8)):
            replica.client().flushall()
            add_large(replica.client())
            replica.client().set("old", "data")
            old = replica.client().dbsize()
            replica.client().execute_command("REPLICAOF", "127.0.0.1", primary.port)
            time.sleep(rng.uniform(0.02, 0.5))  # a random moment
            replica.kill9()
            replica.start()
            client = replica.client()
            is_old = client.get("old") == b"data"
            seen.add(is_old)
            assert client.dbsize() == len(client.keys("*")) == (old if is_old else expected)
            assert client.hlen("large:hash") == len(client.hgetall("large:hash")) == 2000
            assert client.zcard("large:zset") == len(client.zrange("large:zset", 0, -1)) == 2000
        print("old data after the kill:", seen)
        follow(replica, primary)
        assert_same(primary, replica)
