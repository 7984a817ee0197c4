# SPDX-License-Identifier: BSD-3-Clause
"""Commands about the server: TIME, SAVE and similar ones, SHUTDOWN, SLOWLOG, COMMANDLOG, COMPACT, FUNCTION."""

import shutil
import signal
import socket
import time

import pytest
import redis
from fake_peers import FakeReplica
from harness import Server, start_redis
from raw_client import RawClient
from waiting import wait_until


def test_the_same_replies(pair):
    pair.lines("""
        time x
        lastsave x
        save x
        bgsave foo
        bgsave schedule x
        bgrewriteaof x
        shutdown foo
        shutdown abort
        shutdown save nosave
        shutdown abort save
        slowlog
        slowlog foo
        slowlog get a
        slowlog get -2
        slowlog get 1 2
        slowlog len x
        slowlog reset x
        config set slowlog-log-slower-than -1
        slowlog reset
        slowlog len
        slowlog get
        slowlog get -1
        slowlog get 0
        config set slowlog-log-slower-than 10000
        function
        function flush
        function flush async
        function flush SYNC
        function flush foo
        function flush async x
        function list
        function list withcode
        function list libraryname
        function list libraryname x withcode
        function list foo
        function list withcode withcode
    """)


def test_time_is_the_clocks(r):
    seconds, micros = r.time()
    assert abs(seconds + micros / 1e6 - time.time()) < 5


def test_saves_reply_as_redis(r):
    assert r.save() is True
    assert r.execute_command("bgsave") in (b"Background saving started", True)
    assert r.execute_command("bgrewriteaof")
    assert abs(r.lastsave().timestamp() - time.time()) < 60


def test_the_slow_log_records_slow_commands(server):
    client = RawClient(server.port)
    client("client", "setname", "slowpoke")
    client("slowlog", "reset")
    client("config", "set", "slowlog-log-slower-than", "100000")
    client("debug", "sleep", "0.15")
    client("ping")
    (entry,) = client("slowlog", "get")[1]
    number, at_s, micros, argv, peer, name = [item[1] for item in entry[1]]
    assert abs(int(at_s) - time.time()) < 60
    assert int(micros) >= 150_000
    assert [word[1] for word in argv] == [b"debug", b"sleep", b"0.15"]
    assert peer.decode() == "%s:%d" % client.socket.getsockname()
    assert name == b"slowpoke"
    client("debug", "sleep", "0.15")
    newest = client("slowlog", "get", "1")[1][0][1]
    assert int(newest[0][1]) == int(number) + 1
    assert client("slowlog", "len") == (b":", b"2")
    client("config", "set", "slowlog-max-len", "1")
    client("debug", "sleep", "0.15")
    assert client("slowlog", "len") == (b":", b"1")
    client("slowlog", "reset")
    assert client("slowlog", "len") == (b":", b"0")
    client("config", "set", "slowlog-max-len", "128")
    client("config", "set", "slowlog-log-slower-than", "10000")


def test_the_slow_log_truncates_and_redacts(server):
    client = RawClient(server.port)
    client("slowlog", "reset")
    client("config", "set", "slowlog-log-slower-than", "0")
    client("rpush", "l", *range(40))
    client("set", "k", "x" * 200)
    client("auth", "default", "hidden")
    client("hello", "2", "auth", "default", "hidden")
    client("config", "set", "slowlog-log-slower-than", "10000")
    logged = [[word[1] for word in entry[1][3][1]] for entry in client("slowlog", "get", "-1")[1]]
    assert not any(b"hidden" in argv for argv in logged)
    assert [b"auth", b"(redacted)", b"(redacted)"] in logged
    assert [b"hello", b"2", b"auth", b"(redacted)", b"(redacted)"] in logged
    assert [b"set", b"k", b"x" * 128 + b"... (72 more bytes)"] in logged
    (push,) = [argv for argv in logged if argv[0] == b"rpush"]
    assert len(push) == 32 and push[-1] == b"... (11 more arguments)"
    client("slowlog", "reset")


def test_the_command_logs_reply_like_valkey(newer_pair):
    newer_pair.lines("""
        commandlog | commandlog foo | commandlog get | commandlog get 1 | commandlog get 1 slow 2
        commandlog get x slow
        commandlog get -2 slow | commandlog get -1 foo | commandlog len | commandlog len x | commandlog len slow 1
        commandlog reset | commandlog reset x | commandlog help x | config get commandlog-*
        config set commandlog-request-larger-than x | config set commandlog-reply-larger-than -2
        config set commandlog-execution-slower-than -1 commandlog-slow-execution-max-len 7
        config get slowlog-*
        config set slowlog-log-slower-than 10000 slowlog-max-len 128
        commandlog reset slow | commandlog reset large-request | commandlog reset LARGE-REPLY
        config set commandlog-request-larger-than 1000 commandlog-reply-larger-than 1000
    """.replace(" | ", "\n"))
    newer_pair("set", "key", "x" * 2000)
    newer_pair("get", "key")
    newer_pair("multi")
    newer_pair("get", "key")
    newer_pair("exec")
    newer_pair("mset", "a", "x" * 500, "b", "y" * 500)
    newer_pair.lines("""
        commandlog len slow | commandlog len large-request | commandlog len large-reply
        config set commandlog-request-larger-than -1 commandlog-reply-larger-than -1
    """.replace(" | ", "\n"))

    def sizes(client, log):
        return [(entry[1][2][1], [word[1] for word in entry[1][3][1]])
                for entry in client("commandlog", "get", "-1", log)[1]]

    for log in ("large-request", "large-reply"):
        mine, theirs = (sizes(client, log) for client in (newer_pair.ours, newer_pair.theirs))
        assert [words for _, words in mine] == [words for _, words in theirs]
        # Valkey adds the head of EXEC's reply to its first command.
        assert all(abs(int(ours) - int(other)) <= 4 for (ours, _), (other, _) in zip(mine, theirs))
    newer_pair("config", "set", "commandlog-request-larger-than", "1048576", "commandlog-reply-larger-than", "1048576")
    newer_pair.lines("commandlog reset large-request\ncommandlog reset large-reply\ncommandlog len large-reply")


def test_compact_replies_when_it_is_done(r):
    r.mset({f"k{i}": "x" * 1000 for i in range(1000)})
    assert r.execute_command("compact") == b"OK"
    assert r.mget("k0", "k999") == [b"x" * 1000] * 2


@pytest.mark.parametrize("options", [[], ["NOSAVE"], ["SAVE"], ["NOW", "FORCE"]])
def test_shutdown_ends_with_every_write_kept(options):
    with Server() as server:
        server.client().set("kept", "yes")
        assert server.shutdown(*options) == 0
        server.start()
        assert server.client().get("kept") == b"yes"


def test_shutdown_is_refused_inside_a_transaction(r):
    with pytest.raises(redis.ResponseError, match="not allowed inside a transaction"):
        r.execute_command("multi")
        r.execute_command("shutdown")


def test_terminate_is_a_shutdown():
    with Server() as server:
        server.client().set("kept", "yes")
        assert server.terminate() == 0
        server.start()
        assert server.client().get("kept") == b"yes"


def test_a_hangup_is_ignored():
    with Server() as server:
        server.process.send_signal(signal.SIGHUP)
        server.client().set("kept", "yes")
        assert server.terminate() == 0


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_start_at_once(how):
    """The next start loads the whole file."""
    with start_redis() as redis_server:
        redis_server.client().execute_command("DEBUG", "POPULATE", 500_000)
        redis_server.client().save()
        with Server(start=False) as server:
            shutil.copy(redis_server.data_dir / "dump.rdb", server.data_dir)
            server.spawn()
            wait_until(lambda: "loading" in server.log_tail(), "the load", server)
            server.process.send_signal(how)
            assert server.process.wait(10) == 0
            assert "Received a signal during the start, exiting now." in server.log_tail()
            assert server.start().client().dbsize() == 500_000


def test_a_second_interrupt_ends_the_end():
    """The first one asks for an orderly end, which waits ten seconds for a replica that does not acknowledge."""
    with Server() as server, FakeReplica(server.port):
        server.client().set("kept", "yes")
        server.process.send_signal(signal.SIGINT)
        wait_until(lambda: "shutting down" in server.log_tail(), "the end", server)
        server.process.send_signal(signal.SIGTERM)
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(5) == 1
        assert "You insist... exiting now." in server.log_tail()
        assert server.start().client().get("kept") == b"yes"


def test_a_second_process_on_the_same_data_is_refused():
    with Server() as server:
        other = Server(data_dir=server.data_dir, start=False)
        with pytest.raises(RuntimeError, match="exited with 1"):
            other.start()
        assert server.client().ping()


def test_a_port_in_use_is_reported():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        server = Server(port=taken.getsockname()[1], start=False)
        server.spawn()  # start() would connect to the server that already listens
        assert server.process.wait(60) != 0
        assert "address already in use" in server.log_tail().lower()
        server.close()
