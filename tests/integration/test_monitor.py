# SPDX-License-Identifier: BSD-3-Clause
"""MONITOR shows every request that is run, in Redis's format."""

import re
import socket

from harness import Server
from raw_client import RawClient

LINE = re.compile(r'^\d{10}\.\d{6} \[(\d+) (127\.0\.0\.1:\d+|unix:/\S+)\] (.*)$')
REQUESTS = [
    ["AUTH", "secret"],
    ["AUTH", "default", "secret"],
    ["HELLO", "2", "AUTH", "default", "secret", "SETNAME", "me"],
    ["PING"],
    ["set", "a", b'\x00\n\r\t\a\b"\\ \x7f\xff'],
    ["SELECT", "3"],
    ["GET", "a"],
    ["SELECT", "0"],
    ["GET"],
    ["NOSUCH"],
    ["CONFIG", "GET", "port"],
    ["MULTI"],
    ["SET", "x", "1"],
    ["INCR", "x"],
    ["SSUBSCRIBE", "s"],
    ["MONITOR"],
    ["EXEC"],
    ["MULTI"],
    ["GET"],
    ["EXEC"],
    ["MULTI"],
    ["DISCARD"],
    ["BLPOP", "nokey", "0.05"],
    ["KEYS", "*"],
    ["LPUSH", "x", "1"],
    ["EXEC"],
    ["", "x"],
]


def parsed(line):
    """(database, the request's arguments) of a line."""
    match = LINE.match(line.decode())
    assert match, line
    return match[1], match[3]


def shown(port, requests):
    """The lines of MONITOR for the requests, up to a last one."""
    monitor, client = RawClient(port), RawClient(port)
    assert monitor("monitor") == (b"+", b"OK")
    for words in [*requests, ["ECHO", "the end"]]:
        client(*words)
    lines = []
    while not lines or "the end" not in lines[-1][1]:
        kind, line = monitor.read()
        assert kind == b"+"
        lines.append(parsed(line))
    monitor.close()
    client.close()
    return lines


def test_requests_are_shown_as_in_redis(server, redis_server):
    assert shown(server.port, REQUESTS) == shown(redis_server.port, REQUESTS)


def test_a_monitor_and_reset(server):
    monitor, other = RawClient(server.port), RawClient(server.port)
    monitor("monitor")
    assert b" flags=O " in other("client", "list", "type", "normal")[1]
    assert monitor("reset") == (b"+", b"RESET")
    assert b" flags=O " not in other("client", "list")[1]
    other("ping")
    assert monitor("ping") == (b"+", b"PONG")
    monitor.close()
    other.close()


def test_the_lines_of_a_client_keep_their_order_across_threads():
    with Server(io_threads=4) as server:
        monitor = RawClient(server.port)
        monitor("monitor")
        clients = [RawClient(server.port) for _ in range(8)]
        for number in range(500):
            for name, client in enumerate(clients):
                client.send("set", f"key:{name}", number)
        seen = {name: [] for name in range(8)}
        for _ in range(500 * 8):
            words = parsed(monitor.read()[1])[1].split(" ")
            seen[int(words[1][5:-1])].append(int(words[2].strip('"')))
        assert all(numbers == list(range(500)) for numbers in seen.values())
        for client in [monitor, *clients]:
            client.close()


def test_a_client_of_a_unix_socket(tmp_path):
    path = tmp_path / "socket"
    with Server(unixsocket=path) as server:
        monitor = RawClient(server.port)
        monitor("monitor")

        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(path))
            client.sendall(b"PING\r\n")
            assert client.recv(100) == b"+PONG\r\n"
        line = monitor.read()[1].decode()
        assert f" [0 unix:{path}] \"PING\"" in line
        monitor.close()


def test_a_write_is_shown_before_another_client_can_read_it():
    """In MONITOR a read never stands before the write whose value it returned, whichever threads the clients have."""
    rounds = 300
    with Server(io_threads=4) as server:
        monitor, writer, reader = (RawClient(server.port) for _ in range(3))
        monitor("monitor")
        for number in range(rounds):
            writer.send("set", "key", number)
            while reader("get", "key") != (b"$", b"%d" % number):
                pass
            reader("echo", f"seen {number}")
            assert writer.read() == (b"+", b"OK")
        written = seen = -1
        while seen < rounds - 1:
            words = parsed(monitor.read()[1])[1]
            if words.startswith('"set"'):
                written = int(words.split(" ")[2].strip('"'))
            elif words.startswith('"echo"'):
                seen = int(words.rpartition(" ")[2].strip('"'))
                assert seen == written
        for client in (monitor, writer, reader):
            client.close()


SECRETS = [
    ["AUTH", "hidden"],
    ["AUTH", "hidden", "hidden", "hidden"],
    ["HELLO", "AUTH", "default", "hidden"],
    ["HELLO", "3", "AUTH", "hidden"],
    ["HELLO", "2", "SETNAME", "me", "AUTH", "default", "hidden"],
    ["MIGRATE", "127.0.0.1", "1", "nokey", "0", "10", "AUTH", "hidden"],
    ["MIGRATE", "127.0.0.1", "1", "", "0", "10", "AUTH2", "default", "hidden", "KEYS", "nokey", "auth", "nokey"],
    ["CONFIG", "SET", "masterauth", "hidden", "masteruser", "hidden"],
    ["CONFIG", "SET", "maxclients", "requirepass", "hidden"],
    ["ACL", "SETUSER", "bob", ">hidden", "nonsense"],
    ["ACL", "DRYRUN", "default", "AUTH", "hidden"],
    ["ACL", "DRYRUN", "default", "acl", "SetUser", "bob", ">hidden"],
    ["ACL", "DRYRUN", "default", "command", "getkeys", "hello", "3", "auth", "bob", "hidden"],
    ["COMMAND", "GETKEYS", "acl", "setuser", "bob", "on", ">hidden"],
    ["COMMAND", "GETKEYSANDFLAGS", "CONFIG", "SET", "requirepass", "hidden"],
    ["COMMAND", "GETKEYS", "MIGRATE", "h", "1", "k", "0", "10", "AUTH", "hidden"],
    ["command", "getkeys", "auth", "hidden"],
    ["command", "getkeys"],
    ["acl", "dryrun", "default"],
]


def test_secrets_are_neither_shown_nor_kept():
    """This includes requests that are arguments of other requests, and refused requests."""
    with Server(slowlog_log_slower_than=0, slowlog_max_len=1000) as server, RawClient(server.port) as client:
        lines = shown(server.port, SECRETS)
        assert not [line for line in lines if "hidden" in str(line)]
        assert any('"MIGRATE"' in line[1] and '"KEYS" "nokey" "auth" "nokey"' in line[1] for line in lines)
        assert any(line[1].startswith('"COMMAND" "GETKEYS" "acl" "setuser" "(redacted)"') for line in lines)
        for words in SECRETS:
            client("multi")
            client(*words)
            client("exec")
        told = [client("slowlog", "get", "-1"), client("acl", "log"), client("client", "list"),
                client("latency", "doctor"), client("info", "all")]
        assert "hidden" not in str(told) + server.log_tail(1000)
        assert str(told).count("(redacted)") > len(SECRETS)
