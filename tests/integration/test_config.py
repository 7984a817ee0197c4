# SPDX-License-Identifier: BSD-3-Clause
"""Configuration from outside: starts with a file and a command line, and CONFIG compared with redis-server."""

import subprocess

import pytest
import redis
from harness import REPOSITORY, Server, default_command

# Name and values to set in turn; both servers must show the same.
SETTINGS = {
    "maxclients": ["100", "0", "-5", "abc", "5000000000", "10000"],
    "timeout": ["5", "-1", "9999999999999", "0"],
    "tcp-keepalive": ["60", "1.5", "300"],
    "maxmemory": ["1gb", "1g", "10k", "10kb", "1gbb", "-1", "0"],
    "maxmemory-policy": ["allkeys-lru", "ALLKEYS-LFU", "foo", "noeviction"],
    "proto-max-bulk-len": ["1mb", "10xb", "512mb"],  # our own bounds: see test_a_wrong_file_ends_the_start
    "client-query-buffer-limit": ["2mb", "1k", "1gb"],
    "appendfsync": ["always", "foo", "NO", "everysec"],
    "loglevel": ["debug", "foo", "notice"],
    "slowlog-log-slower-than": ["-1", "-5", "0", "10000"],
    "slowlog-max-len": ["10", "128"],
    "latency-tracking": ["no", "maybe", "yes"],
    "latency-monitor-threshold": ["100", "-1", "x", "0"],
    "latency-tracking-info-percentiles": ["50 99", "50 101", "-1", "x", "", "12.50 100", "50 99 99.9"],
    "notify-keyspace-events": ["KEA", "Kg$lshzxet", "AKE", "xK", "K E", "q", ""],
    "save": ["3600 1 60 10", "a b", "900", "-1 1", "0 1", "900 0", ""],
    "client-output-buffer-limit": [
        "normal 1mb 1k 10 slave 5mb 5mb 5", "normal 0 0", "foo 0 0 0", "normal 1x 0 0", "pubsub 1 2 -3", "",
        "normal 0 0 0 replica 256mb 64mb 60"],
    "hash-max-ziplist-entries": ["7", "-1", "1.0", "512"],
    "hash-max-listpack-value": ["9223372036854775808", "64"],
    "set-max-intset-entries": ["1", "512"],
    "zset-max-ziplist-value": ["1", "64"],
    "list-max-ziplist-size": ["-5", "100", "-2"],
    "list-compress-depth": ["1", "-1", "0"],
    "active-expire-effort": ["10", "11", "0", "1"],
    "lazyfree-lazy-user-del": ["yes", "YES", "1", "no"],
    "lfu-log-factor": [" 1", "1 ", "10"],
    "databases": ["20"],
    "dbfilename": ["other.rdb"],
    "nonsense": ["1"],
}


@pytest.mark.parametrize("name", SETTINGS)
def test_set_and_get_as_redis(pair, name):
    for value in SETTINGS[name]:
        pair("config", "set", name, value)
        pair("config", "get", name)


def test_the_same_errors(pair):
    pair.lines("""
        config
        config foo
        config get
        config set
        config set maxclients
        config set maxclients 100 timeout
        config set maxclients 100 maxclients 200
        config set dir /tmp
        config set maxclients 100 MAXCLIENTS 200
        config set timeout 7 nonsense 1
        config set nonsense 1 timeout 7
        config set timeout 7 databases 3
        config set timeout 7 hz abc
        config get timeout
        config set timeout 9 tcp-keepalive 301
        config get timeout
        config get TIMEOUT
        config get tcp-keepalive
        config get nonsense
        config get non*sense
        config set timeout 0 tcp-keepalive 300
        config set hash-max-ziplist-entries 5 hash-max-listpack-entries 6
        config get hash-max-ziplist-entries
        config set hash-max-listpack-entries 512
        config resetstat
        config resetstat 1
        config rewrite 1
        config rewrite
    """)


def test_get_takes_names_and_globs(server, redis_server):
    for patterns in (["hash-max-*"], ["*ziplist*", "hash-max-*"], ["slowlog-[lm]*"], ["maxclients", "maxclient?"]):
        mine, theirs = ({**s.client().config_get(*patterns)} for s in (server, redis_server))
        assert mine == theirs, patterns


def test_every_directive_takes_its_own_value(r):
    refused = []
    for name, value in r.config_get("*").items():
        try:
            r.config_set(name, value)
        except redis.ResponseError as error:
            assert str(error).endswith(("can't set immutable config", "can't set protected config")), (name, value)
            refused.append(name)
    assert "dir" in refused and "databases" in refused and not {"maxclients", "port", "bind"} & set(refused)


def run(*arguments, stdin=None):
    """Runs the server's program to its end."""
    return subprocess.run([*default_command(), *map(str, arguments)], input=stdin, capture_output=True, text=True,
                          timeout=60, check=False)


@pytest.fixture(name="conf")
def fixture_conf(tmp_path):
    """A function that writes a configuration file and returns its path."""
    def write(text):
        path = tmp_path / "cairn.conf"
        path.write_text(text)
        return path
    return write


@pytest.mark.parametrize("text, line, says", [
    ("port 7000\nprot 1\n", 2, "unknown directive 'prot'; is 'port' meant?"),
    ("# x\n\nhz abc\n", 3, "argument couldn't be parsed into an integer"),
    ("maxclients 0\n", 1, "argument must be between 1 and 4294967295 inclusive"),
    ("memory-budget 10xb\n", 1, "argument must be a memory value"),
    ("proto-max-bulk-len 6gb\n", 1, "argument must be between 1048576 and 2147483648 inclusive"),
    ("appendfsync sometimes\n", 1, "argument(s) must be one of the following: everysec, always, no"),
    ("logfile \"x\n", 1, "a quote is not closed"),
    ("port\n", 1, "wrong number of arguments"),
    ("listen 7001\n", 1, "'7001' is not <address:port>"),
    ("listen 127.0.0.1:7001 io-threads 0\n", 1, "'io-threads' takes a number from 1"),
    ("listen 127.0.0.1:7001 threads 2\n", 1, "unknown option 'threads'"),
    ("save 900\n", 1, "Invalid save parameters"),
    ("include /nowhere/at-all.conf\n", 1, "No such file or directory"),
])
def test_a_wrong_file_ends_the_start(conf, text, line, says):
    path = conf(text)
    ended = run(path)
    assert ended.returncode == 1
    assert f"{path}, line {line}" in ended.stderr and says in ended.stderr
    assert ended.stdout == ""


@pytest.mark.parametrize("arguments, says", [
    (["--prot", "1"], "unknown directive 'prot'"),
    (["--port"], "wrong number of arguments"),
    (["--port", "1", "2"], "wrong number of arguments"),
    (["--hz", "x"], "couldn't be parsed"),
    (["/nowhere/cairn.conf"], "cannot read the configuration file /nowhere/cairn.conf"),
    (["/", "x"], "cannot read the configuration file /"),
    (["-", "x", "y"], "unknown directive 'x'"),
    (["--port", "--hz", "20"], "wrong number of arguments"),
    (["--hz 'x"], "unbalanced quotes"),
])
def test_a_wrong_command_line_ends_the_start(arguments, says):
    ended = run(*arguments)
    assert ended.returncode == 1
    assert ended.stderr.startswith("cairn-server: ") and says in ended.stderr


def test_the_command_line_is_parsed_like_redis(conf):
    arguments = ["hz", "20", "--maxclients 55", "--masterauth", "--secret", "--timeout '7'", "--save"]
    with Server(command=[*default_command(), str(conf("")), *arguments], maxmemory="1mb") as server:
        shown = server.client().config_get("hz", "maxclients", "masterauth", "timeout", "save", "maxmemory")
    assert shown == {"hz": "20", "maxclients": "55", "masterauth": "--secret", "timeout": "7", "save": "",
                     "maxmemory": str(1 << 20)}


def test_programs_that_do_not_serve_print_and_exit(conf):
    assert "Usage: cairn-server" in run("--help").stdout
    assert run("-v").stdout.startswith("Cairn server v=")
    assert run("--list-directives").stdout == (REPOSITORY / "docs" / "configuration.md").read_text()
    assert run(conf("port 1\n"), "--check-config").stdout == "The configuration is valid.\n"
    assert run(REPOSITORY / "conf" / "cairn.conf", "--check-config").returncode == 0
    assert run("-", "--check-config", stdin="hz 10\n").returncode == 0
    assert run("--check-config", conf("port 1\n"), "hz", "20").stdout == "The configuration is valid.\n"
    assert "standard input, line 2" in run("-", "--check-config", stdin="hz 10\nhz x\n").stderr


@pytest.mark.parametrize("text, says", [
    ("user app on +nosuchcommand\n", "nosuchcommand"),
    ("user app on nopass\naclfile users.acl\n", "use one of them"),
    ("aclfile /nowhere/users.acl\n", "No such file or directory"),
    ("rename-command NOSUCH other\n", "rename-command 'NOSUCH'"),
    ("databases 2\ndatabase 5 storage-mode memory\n", "database"),
    ("tls-port 7000\n", "tls-cert-file"),
    ('dir ""\n', "dir is empty"),
    ("dbfilename ../dump.rdb\n", "dbfilename can't be a path, just a filename"),
])
def test_check_config_finds_what_a_start_would(conf, text, says):
    checked = run(conf(text), "--check-config")
    assert checked.returncode == 1 and says in checked.stderr and not checked.stdout


def test_a_socket_may_have_a_blank_in_its_name(conf):
    assert run(conf('listen "unix:/tmp/a b" readonly\n'), "--check-config").returncode == 0


# The uncommented directives of Redis 7.0's redis.conf, with replication and files.
REDIS_CONF = """
bind 127.0.0.1 -::1
protected-mode yes
tcp-backlog 511
timeout 0
tcp-keepalive 300
daemonize no
loglevel notice
logfile ""
databases 16
always-show-logo no
set-proc-title yes
proc-title-template "{title} {listen-addr} {server-mode}"
stop-writes-on-bgsave-error yes
rdbcompression yes
rdbchecksum yes
dbfilename dump.rdb
rdb-del-sync-files no
replica-serve-stale-data yes
replica-read-only yes
repl-diskless-sync yes
repl-diskless-sync-delay 5
repl-diskless-sync-max-replicas 0
repl-diskless-load disabled
repl-disable-tcp-nodelay no
replica-priority 100
acllog-max-len 128
acl-pubsub-default resetchannels
lazyfree-lazy-eviction no
lazyfree-lazy-expire no
lazyfree-lazy-server-del no
replica-lazy-flush no
lazyfree-lazy-user-del no
lazyfree-lazy-user-flush no
oom-score-adj no
oom-score-adj-values 0 200 800
disable-thp yes
appendonly no
appendfilename "appendonly.aof"
appenddirname "appendonlydir"
appendfsync everysec
no-appendfsync-on-rewrite no
auto-aof-rewrite-percentage 100
auto-aof-rewrite-min-size 64mb
aof-load-truncated yes
aof-use-rdb-preamble yes
aof-timestamp-enabled no
slowlog-log-slower-than 10000
slowlog-max-len 128
latency-monitor-threshold 0
notify-keyspace-events ""
hash-max-listpack-entries 512
hash-max-listpack-value 64
list-max-listpack-size -2
list-compress-depth 0
set-max-intset-entries 512
zset-max-listpack-entries 128
zset-max-listpack-value 64
hll-sparse-max-bytes 3000
stream-node-max-bytes 4096
stream-node-max-entries 100
activerehashing yes
client-output-buffer-limit normal 0 0 0
client-output-buffer-limit replica 256mb 64mb 60
client-output-buffer-limit pubsub 32mb 8mb 60
hz 10
dynamic-hz yes
aof-rewrite-incremental-fsync yes
rdb-save-incremental-fsync yes
jemalloc-bg-thread yes
"""


def test_a_redis_conf_is_accepted_unchanged(conf):
    ended = run(conf(REDIS_CONF), "--check-config")
    assert ended.returncode == 0, ended.stderr


def test_file_and_command_line_both_apply(conf, tmp_path):
    path = conf("# mine\nmaxclients 77\nhz 20\nlisten unix:" + str(tmp_path / "a.sock") + " readonly\n")
    with Server(command=[*default_command(), str(path)], hz=30) as server:
        client = server.client()
        assert client.config_get("maxclients", "hz") == {"maxclients": "77", "hz": "30"}
        other = redis.Redis(unix_socket_path=str(tmp_path / "a.sock"))
        assert other.ping()
        with pytest.raises(redis.ResponseError, match="read only"):
            other.set("a", 1)
        other.close()
        client.config_set("maxclients", 78)
        client.config_set("requirepass", "two words")
        client.config_rewrite()
        lines = path.read_text().splitlines()
        assert lines[:2] == ["# mine", "maxclients 78"]
        assert lines[2] == "hz 30"
        assert 'requirepass "two words"' in lines
        assert run(path, "--check-config").returncode == 0


def test_a_rewritten_file_with_every_directive_gives_the_same_configuration(conf):
    path = conf("maxclients 77\n")
    with Server(command=[*default_command(), str(path)], enable_debug_command="yes") as server:
        client = server.client()
        client.acl_setuser("app", enabled=True, passwords=["+secret"], commands=["+get"], keys=["a:*"])
        before = client.config_get("*")
        assert client.execute_command("DEBUG", "CONFIG-REWRITE-FORCE-ALL") == b"OK"
        assert "hz 10" in path.read_text().splitlines()
        assert run(path, "--check-config").returncode == 0
        server.restart()
        assert server.client().config_get("*") == before
        assert "app" in server.client().acl_users()


def test_dbfilename_can_be_set_if_protected_configs_are_enabled():
    for allowed in ("yes", "local"):
        with Server(enable_protected_configs=allowed) as server:
            assert server.client().config_set("dbfilename", "other.rdb")
            with pytest.raises(redis.ResponseError, match="can't set immutable config"):
                server.client().config_set("dir", "/tmp")


def test_secrets_are_not_in_the_slow_log(r):
    r.config_set("slowlog-log-slower-than", 0)
    try:
        r.slowlog_reset()
        r.execute_command("CONFIG", "SET", "masterauth", "hidden", "maxclients", 9999, "tls-key-file-pass", "hidden")
        r.execute_command("CONFIG", "SET", "masterauth", "", "maxclients", 10000, "tls-key-file-pass", "")
        said = [entry["command"] for entry in r.slowlog_get()]
        assert b"CONFIG SET masterauth (redacted) maxclients 9999 tls-key-file-pass (redacted)" in said
        assert not any(b"hidden" in line for line in said)
    finally:
        r.config_set("slowlog-log-slower-than", 10000)


def test_rewrite_needs_a_file(r):
    with pytest.raises(redis.ResponseError, match="The server is running without a config file"):
        r.config_rewrite()


def test_limits_take_effect_at_once(r):
    r.config_set("hash-max-ziplist-entries", 2)
    try:
        r.hset("h", mapping={"a": 1, "b": 2, "c": 3})
        assert r.object("encoding", "h") == b"hashtable"
    finally:
        r.config_set("hash-max-ziplist-entries", 512)
