# SPDX-License-Identifier: BSD-3-Clause
"""Commands about the connection compared with redis-server: PING ECHO AUTH HELLO SELECT QUIT RESET."""

import pytest
from harness import Server, start_redis
from raw_client import Pair, RawClient
from waiting import wait_until

PASSWORD = "secret word"


def without_version(reply):
    """A HELLO reply without the version and the client's id, which differ between any two servers."""
    kind, content = reply
    if content and isinstance(content, list):
        content = [item for i, item in enumerate(content) if i not in (3, 7)]
    return kind, content


def test_the_same_replies(pair):
    pair.lines("""
        ping | ping hello | ping '' | ping a b | PING | echo | echo a | echo '' | echo a b
        select | select abc | select 1.5 | select 16 | select -1 | select 99999999999 | select 3000000000
        select 15 | set here 1 | select 0 | get here | select 15 | get here | select 1 2
        auth | auth x | auth default x | auth nobody x | auth a b c | auth default ''
        hello x | hello 1 | hello 4 | hello 3 x | hello 3 auth a | hello 3 auth nobody b | hello 2 setname
        hello 2 setname a b | hello '' | hello 3 auth default x foo | reset x
    """.replace("|", "\n"))


@pytest.mark.parametrize("words", [[], ["2"], ["3"], ["3", "SETNAME", "me"],
                                   ["3", "auth", "default", "any", "setname", "you"]])
def test_hello(pair, words):
    pair("hello", *words, normal=without_version)
    pair("client", "getname")
    pair("debug", "protocol", "null")


def test_hello_changes_the_protocol_of_its_own_reply(server):
    client = RawClient(server.port)
    assert client("hello", "3")[0] == b"%"
    assert client("get", "none") == (b"_", b"")
    assert client("hello", "2")[0] == b"*"
    assert client("get", "none") == (b"$", b"-1")


@pytest.mark.parametrize("line", [b"", b"\n", b"x"])
def test_a_protocol_error_is_one_line(pair, line):
    """It shows the wrong byte, but not a line end."""
    for client in (pair.ours, pair.theirs):
        client.socket.sendall(b"*1\r\n" + line + b"\r\n")
    assert pair.ours.stream.read() == pair.theirs.stream.read()


def test_a_request_over_the_query_limit_ends_the_connection():
    with Server(client_query_buffer_limit="1mb") as server, RawClient(server.port) as client:
        with pytest.raises(ConnectionError):
            client.send("set", "key", "x" * (3 << 20))
            client.read()
        assert server.client().info("stats")["client_query_buffer_limit_disconnections"] == 1
        wait_until(lambda: "Closing client that reached max query buffer length" in server.log_tail())


def test_quit_replies_and_closes(pair):
    pair("quit")
    for client in (pair.ours, pair.theirs):
        with pytest.raises((ConnectionError, OSError)):
            client("ping")


def test_commands_after_quit_are_not_run(server, r):
    client = RawClient(server.port)
    client.socket.sendall(b"QUIT\r\nSET after-quit 1\r\n")
    assert client.read() == (b"+", b"OK")
    with pytest.raises(ConnectionError):
        client.read()
    assert r.get("after-quit") is None


def test_reset_restores_the_state_of_a_new_connection(pair):
    pair("client", "setname", "me")
    pair("select", "3")
    pair("multi")
    pair("set", "queued", "1")
    pair("reset")
    pair("client", "getname")
    pair("get", "none")  # the protocol is RESP2 again
    pair("exec")
    pair("set", "in-db-0", "1")
    pair("select", "0")
    pair("get", "in-db-0")


def test_reset_forgets_watched_keys(server, r):
    client = RawClient(server.port)
    client("watch", "w")
    client("reset")
    r.set("w", "changed")
    client("multi")
    client("ping")
    assert client("exec")[1] == [(b"+", b"PONG")]


@pytest.fixture(scope="module", name="locked")
def fixture_locked():
    """Cairn and redis-server, both with a password."""
    with Server(requirepass=PASSWORD) as ours, start_redis(requirepass=PASSWORD) as theirs:
        yield ours, theirs


def test_without_the_password_only_the_handshake_is_allowed(locked):
    pair = Pair(*locked)
    pair.lines("""
        ping
        get x
        nonsense
        set
        auth
        auth wrong
        auth nobody wrong
        hello
        hello 3
        hello 3 auth default wrong
        client id
        multi
    """)
    pair("auth", PASSWORD)
    pair("ping")
    pair("reset")
    pair("ping")
    pair("hello", "3", "auth", "default", PASSWORD, "setname", "me", normal=without_version)
    pair("client", "getname")
    pair("auth", "wrong")  # a wrong password does not log out the client
    pair("ping")
    pair("quit")


def test_a_password_set_later_applies_only_to_new_clients():
    with Server() as server:
        old = RawClient(server.port)
        assert old("config", "set", "requirepass", PASSWORD) == (b"+", b"OK")
        assert old("ping") == (b"+", b"PONG")
        new = RawClient(server.port)
        assert new("ping") == (b"-", b"NOAUTH Authentication required.")
        assert new("auth", PASSWORD) == (b"+", b"OK")
        assert old("config", "set", "requirepass", "") == (b"+", b"OK")
        assert RawClient(server.port)("ping") == (b"+", b"PONG")


def test_hello_tells_the_role():
    with Server() as primary, Server(replicaof=f"127.0.0.1 {primary.port}") as replica:
        for server, role in ((primary, b"master"), (replica, b"replica")):
            with RawClient(server.port) as client:
                fields = client("hello", "2")[1]
                assert (b"$", role) == fields[fields.index((b"$", b"role")) + 1]


def test_a_blocked_command_that_ends_without_a_reply(pair):
    """CLIENT REPLY applies to the null reply of a timeout too."""
    for client in (pair.ours, pair.theirs):
        client("client", "reply", "on")
        client.send("client", "reply", "skip")
        client.send("blpop", "nothing", "0.1")
        assert client("ping") in ((b"+", b"PONG"), (b"$", b"PONG"))
