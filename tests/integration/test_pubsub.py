# SPDX-License-Identifier: BSD-3-Clause
"""Publish and subscribe: which client gets which messages, in which order, and the commands of subscribers."""

import threading
import time

import pytest

from harness import Server
from raw_client import RawClient
from waiting import wait_until


@pytest.fixture
def connect(server):
    """Opens connections to the server; they are closed after the test."""
    clients = []

    def open_client(protocol=2):
        clients.append(RawClient(server.port, protocol))
        return clients[-1]
    yield open_client
    for client in clients:
        client.close()


def message(channel, text, kind=b"*"):
    """A message in RESP."""
    return kind, [(b"$", b"message"), (b"$", channel), (b"$", text)]


def confirmation(word, channel, count, kind=b"*"):
    """The reply to subscribing or unsubscribing."""
    return kind, [(b"$", word), (b"$", channel), (b":", b"%d" % count)]


def info_number(client, field):
    """A number of INFO stats."""
    lines = client("info", "stats")[1].decode().splitlines()
    return int(next(line for line in lines if line.startswith(field + ":")).split(":")[1])


# ---- long names

def test_a_pattern_is_short_and_a_channel_may_be_long(connect):
    """PUBLISH compares the channel with all patterns while other publishers wait."""
    listener, publisher = connect(), connect()
    assert listener("psubscribe", "b*", "a" * 4097)[1] == b"ERR pattern exceeds maximum allowed size (4096 bytes)"
    assert publisher("pubsub", "numpat") == (b":", b"0")
    pattern, channel = "*" + "a" * 4094 + "*", "a" * 65000
    assert listener("psubscribe", pattern) == confirmation(b"psubscribe", pattern.encode(), 1)
    assert publisher("publish", channel, "x") == (b":", b"1")
    assert listener.read()[1][2:] == [(b"$", channel.encode()), (b"$", b"x")]
    other = connect()
    assert other("subscribe", channel) == confirmation(b"subscribe", channel.encode(), 1)
    assert publisher("pubsub", "channels", "*" + "a" * 8000 + "b*") == (b"*", [])
    assert publisher("pubsub", "channels", "*" + "a" * 32000) == (b"*", [(b"$", channel.encode())])


# ---- replies

@pytest.mark.parametrize("protocol", [2, 3])
def test_replies_to_subscribing_equal_redis(pair, protocol):
    if protocol == 3:
        for client in (pair.ours, pair.theirs):
            client("hello", "3")
    pair.lines("""
        subscribe a
        subscribe a
        psubscribe p*
        ssubscribe s
        ping
        ping hello
        ping a b
        get x
        set x 1
        set x
        client list x
        config get x
        multi
        exec
        foo
        publish a
        unsubscribe b
        unsubscribe a
        get x
        punsubscribe
        get x
        sunsubscribe
        get x
        sunsubscribe
        unsubscribe
        punsubscribe
        subscribe
        psubscribe
        ssubscribe
        subscribe a
        reset
        get x
    """)


def test_pubsub_replies_equal_redis(pair):
    pair.lines("""
        publish a b
        spublish a b
        publish a
        publish a b c
        pubsub
        pubsub foo
        pubsub channels
        pubsub channels *
        pubsub channels a b
        pubsub shardchannels a b
        pubsub numsub
        pubsub numsub a b
        pubsub shardnumsub a
        pubsub numpat
        pubsub numpat x
        pubsub help x
        command info subscribe
        command info psubscribe
        command info ssubscribe
        command info sunsubscribe
        command info publish
        command info spublish
        command info monitor
    """)


def test_a_transaction_can_subscribe(pair):
    pair.lines("""
        multi
        ssubscribe s
        monitor
        subscribe c
        get x
        exec
        get x
        reset
    """)


# ---- delivery

@pytest.mark.parametrize("protocol, kind", [(2, b"*"), (3, b">")])
def test_messages_and_patterns(connect, protocol, kind):
    listener, publisher = connect(protocol), connect()
    assert listener("subscribe", "news") == confirmation(b"subscribe", b"news", 1, kind)
    assert listener("psubscribe", "n*") == confirmation(b"psubscribe", b"n*", 2, kind)
    assert listener("ssubscribe", "news") == confirmation(b"ssubscribe", b"news", 1, kind)
    assert publisher("publish", "news", "x") == (b":", b"2")
    assert publisher("publish", "nothing", "y") == (b":", b"1")
    assert publisher("spublish", "news", "z") == (b":", b"1")
    assert listener.read() == message(b"news", b"x", kind)
    assert listener.read() == (kind, [(b"$", b"pmessage"), (b"$", b"n*"), (b"$", b"news"), (b"$", b"x")])
    assert listener.read() == (kind, [(b"$", b"pmessage"), (b"$", b"n*"), (b"$", b"nothing"), (b"$", b"y")])
    assert listener.read() == (kind, [(b"$", b"smessage"), (b"$", b"news"), (b"$", b"z")])


def test_a_subscriber_in_the_client_list(connect):
    listener, other = connect(), connect()
    listener("subscribe", "a")
    listener("subscribe", "b")
    listener("psubscribe", "p*")
    listener("ssubscribe", "s")
    lines = other("client", "list", "type", "pubsub")[1].decode().splitlines()
    assert len(lines) == 1 and " flags=P " in lines[0] and " sub=2 psub=1 ssub=1 " in lines[0]
    assert other("pubsub", "channels") == (b"*", [(b"$", b"a"), (b"$", b"b")])
    assert other("pubsub", "channels", "a*") == (b"*", [(b"$", b"a")])
    assert other("pubsub", "shardchannels") == (b"*", [(b"$", b"s")])
    assert other("pubsub", "numsub", "a") == (b"*", [(b"$", b"a"), (b":", b"1")])
    fields = ["pubsub_channels", "pubsub_patterns", "pubsubshard_channels"]
    assert [info_number(other, field) for field in fields] == [2, 1, 1]
    assert other("client", "kill", "type", "pubsub") == (b":", b"1")
    with pytest.raises(ConnectionError):
        listener.read()
    wait_until(lambda: other("pubsub", "numpat") == (b":", b"0"))
    assert other("pubsub", "channels") == (b"*", [])


def test_silenced_clients_still_get_messages(connect):
    listener, publisher = connect(), connect()
    listener.send("client", "reply", "off")
    assert listener("subscribe", "a") == confirmation(b"subscribe", b"a", 1)
    publisher("publish", "a", "x")
    assert listener.read() == message(b"a", b"x")
    assert listener("unsubscribe", "a") == confirmation(b"unsubscribe", b"a", 0)


def test_a_blocked_client_gets_messages(connect):
    listener, publisher = connect(3), connect()
    listener("subscribe", "a")
    listener.send("blpop", "list", 0)
    wait_until(lambda: b"flags=Pb" in publisher("client", "list")[1])
    publisher("publish", "a", "x")
    assert listener.read() == message(b"a", b"x", b">")
    publisher("rpush", "list", "1")
    assert listener.read() == (b"*", [(b"$", b"list"), (b"$", b"1")])


def test_a_client_that_publishes_to_itself(connect):
    client = connect(3)
    client("subscribe", "a")
    client.send("set", "k", "1")
    client.send("publish", "a", "x")
    client.send("unsubscribe", "a")
    client.send("ping")
    assert [client.read() for _ in range(5)] == [
        (b"+", b"OK"), (b":", b"1"), message(b"a", b"x", b">"),
        confirmation(b"unsubscribe", b"a", 0, b">"), (b"+", b"PONG")]


def test_messages_of_a_failed_transaction_are_not_delivered(connect):
    listener, publisher = connect(), connect()
    listener("subscribe", "a")
    for words in (["watch", "k"], ["multi"], ["publish", "a", "no"]):
        publisher(*words)
    connect()("set", "k", "1")
    assert publisher("exec") == (b"*", None)
    assert publisher("publish", "a", "yes") == (b":", b"1")
    assert listener.read() == message(b"a", b"yes")


# ---- across threads

PUBLISHERS, LISTENERS, MESSAGES = 3, 4, 3000


def publish_numbers(port, name):
    """Sends pipelines of writes, each followed by a message about it."""
    client = RawClient(port)
    for start in range(0, MESSAGES, 100):
        for number in range(start, start + 100):
            client.send("set", f"key:{name}", number)
            client.send("publish", "all", f"{name}:{number}")
        for _ in range(100):
            assert client.read() == (b"+", b"OK")
            assert client.read() == (b":", b"%d" % LISTENERS)
    client.close()


@pytest.mark.slow
def test_every_message_comes_once_and_in_order():
    with Server(io_threads=4) as server:
        listeners = [RawClient(server.port, 2 + n % 2) for n in range(LISTENERS)]
        for listener in listeners:
            listener("subscribe", "all")
        threads = [threading.Thread(target=publish_numbers, args=(server.port, n)) for n in range(PUBLISHERS)]
        for thread in threads:
            thread.start()
        orders = [[listener.read()[1][2][1] for _ in range(PUBLISHERS * MESSAGES)] for listener in listeners]
        for thread in threads:
            thread.join()
        for name in range(PUBLISHERS):
            own = [text for text in orders[0] if text.startswith(b"%d:" % name)]
            assert own == [b"%d:%d" % (name, number) for number in range(MESSAGES)]
        assert all(order == orders[0] for order in orders)  # all subscribers see the same order


def test_a_write_is_visible_when_its_message_arrives(server, connect):
    listener, reader = connect(), connect()
    listener("subscribe", "all")
    publisher = RawClient(server.port)
    for start in range(0, 2000, 100):
        for number in range(start, start + 100):
            publisher.send("set", "key", number)
            publisher.send("publish", "all", number)
        for number in range(start, start + 100):
            told = int(listener.read()[1][2][1])
            assert told == number and int(reader("get", "key")[1]) >= told
        for _ in range(200):
            publisher.read()
    publisher.close()


def keep_publishing(port, stop):
    """Publishes in pipelines until `stop` is set."""
    client = RawClient(port)
    while not stop.is_set():
        for _ in range(20):
            client.send("publish", "a", "x" * 100)
        for _ in range(20):
            client.read()
    client.close()


@pytest.fixture
def flood(server):
    """Publishes to the channel `a` all the time."""
    stop = threading.Event()
    thread = threading.Thread(target=keep_publishing, args=(server.port, stop))
    thread.start()
    yield
    stop.set()
    thread.join()


@pytest.mark.usefixtures("flood")
def test_messages_never_split_replies(connect):
    client = connect(3)
    for n in range(2000):
        client("rpush", "list", f"element {n}")
    client.send("subscribe", "a")
    expected = [(b">", b"subscribe")]
    for n in range(150):
        client.send("echo", n)  # fast lane
        client.send("keys", "list")  # slow lane
        client.send("lrange", "list", 0, -1)
        expected += [(b"$", b"%d" % n), (b"*", [(b"$", b"list")]), (b"*", 2000)]
    replies = []
    while len(replies) < len(expected):
        kind, content = client.read()
        if kind != b">":
            replies.append((kind, 2000 if kind == b"*" and len(content) == 2000 else content))
        elif content[0][1] == b"subscribe":
            replies.append((kind, b"subscribe"))
        else:
            assert replies and content[1:] == [(b"$", b"a"), (b"$", b"x" * 100)]
    assert replies == expected


@pytest.mark.usefixtures("flood")
def test_no_message_comes_after_unsubscribing(connect):
    client = connect()
    for _ in range(200):
        client.send("subscribe", "a")
        client.send("unsubscribe", "a")
        client.send("ping")
        words = []
        while not words or words[-1] != b"PONG":
            kind, content = client.read()
            words.append(content if kind == b"+" else content[0][1])
        assert words[0] == b"subscribe" and words[-2:] == [b"unsubscribe", b"PONG"]


@pytest.mark.usefixtures("flood")
def test_the_protocol_can_change_during_messages(connect):
    client = connect(3)
    client("subscribe", "a")
    for _ in range(100):
        client.send("hello", "3")
        kind = None
        while kind != b"%":
            kind = client.read()[0]
            assert kind in b"%>"


# ---- limits

def test_a_slow_subscriber_is_disconnected(server, connect):
    publisher, listener, normal = connect(), connect(), connect(3)
    before = info_number(publisher, "client_output_buffer_limit_disconnections")
    publisher("config", "set", "client-output-buffer-limit", "pubsub 1mb 0 0")
    listener("subscribe", "a")
    wait_until(lambda: publisher("publish", "a", "x" * 100000) == (b":", b"0"))
    assert normal("ping") == (b"+", b"PONG")
    with pytest.raises(ConnectionError):
        while True:
            listener.read()
    assert info_number(publisher, "client_output_buffer_limit_disconnections") == before + 1
    wait_until(lambda: "exceed client-output-buffer-limit" in server.log_tail())


def test_the_soft_limit_applies_after_its_time(connect):
    publisher, listener = connect(), connect()
    publisher("config", "set", "client-output-buffer-limit", "pubsub 0 100kb 1")
    listener("subscribe", "a")
    started = time.monotonic()
    for _ in range(200):
        publisher("publish", "a", "x" * 100000)
    wait_until(lambda: publisher("pubsub", "numsub", "a")[1][1] == (b":", b"0"))
    assert time.monotonic() - started > 1
    publisher("config", "set", "client-output-buffer-limit", "pubsub 32mb 8mb 60")


def test_the_longest_soft_limit_disconnects_no_client(connect):
    """Its time in microseconds is beyond 64 bits."""
    publisher, listener = connect(), connect()
    publisher("config", "set", "client-output-buffer-limit", f"pubsub 0 100kb {(1 << 63) - 1}")
    listener("subscribe", "a")
    for _ in range(200):
        assert publisher("publish", "a", "x" * 100000) == (b":", b"1")
    publisher("config", "set", "client-output-buffer-limit", "pubsub 32mb 8mb 60")
