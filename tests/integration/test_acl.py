# SPDX-License-Identifier: BSD-3-Clause
"""ACL compared with Valkey, whose error texts and form of rules are those of Redis 7.2: users, their rules, refusals,
and where users are stored."""


import pytest
from harness import Server, default_command, start_valkey
from raw_client import Pair, RawClient, leaves, unordered
from waiting import wait_for_blocked, wait_until

@pytest.fixture(name="admin")
def own_pair():
    """Two separate servers, because users belong to the whole server."""
    with Server() as ours, start_valkey() as theirs:
        both = Pair(ours, theirs)
        both.ports = ours.port, theirs.port
        yield both
        both.close()


def connect_again(admin):
    """Two more connections to the same servers."""
    second = Pair.__new__(Pair)
    second.ours, second.theirs = (RawClient(port) for port in admin.ports)
    return second


def as_user(admin, *login):
    """Two more connections to the same servers, logged in."""
    second = connect_again(admin)
    second("auth", *login)
    return second


# Facts about a user that only Valkey 9 shows, or no longer shows.
OTHERS_FACTS = (b"databases", b"alldbs", b"sanitize-payload", b"skip-sanitize-payload")


def facts_of_both(reply):
    """The reply of ACL GETUSER or ACL LIST without OTHERS_FACTS."""
    kind, content = reply
    if isinstance(content, list):
        return kind, [facts_of_both(item) for item in content if item[1] not in OTHERS_FACTS]
    return kind, b" ".join(word for word in content.split(b" ") if word not in OTHERS_FACTS)


def assert_closed(client):
    """Asserts that the server closes this connection soon."""
    with pytest.raises((ConnectionError, OSError)):
        wait_until(lambda: not client("ping"), "the end of the connection")


def test_rules_and_how_they_are_shown(admin):
    for rules in ("", "on", "on nopass", "off >a >b >a <a", "resetpass", "#" + "0" * 64, "!" + "0" * 64,
                  "~a ~b %R~c %W~d %R~d %RW~e %wr~f", "resetkeys", "~*", "&a &b &a", "resetchannels",
                  "allchannels", "+get", "+get +config|get", "+@all -@dangerous", "+@all -get",
                  "-@all +get -get", "+@all +get", "+@read -get +@read", "+config|get -config", "-@scripting",
                  "-@all +config", "-@all +select|0", "+select", "nocommands", "(+get ~a) (+set %W~b)",
                  "( +get ~c &d )", "clearselectors", "ALLKEYS AllCommands",
                  "skip-sanitize-payload", "sanitize-payload", "%RW",
                  "reset", "reset on nopass allkeys allcommands allchannels"):
        admin("acl", "setuser", "u", *rules.split())
        admin("acl", "getuser", "u", normal=facts_of_both)
        admin("acl", "list", normal=facts_of_both)
    admin("acl", "users")


def test_wrong_rules(admin):
    for rules in ("foo", "+nosuch", "-nosuch", "+@nosuch", "+config|nosuch", "-config|nosuch", "+get|a|b",
                  "-get|a", "+config|get|a", "+select|", "%", "%~", "%X~a", "%RR~a", "~* ~a", "&* &a",
                  "#abc", "#" + "G" * 64, "!abc", "<none", "(", ")", "(foo)", "(&* &a)", "on (+get", "+", "-"):
        admin("acl", "setuser", "u", *rules.split())
    admin("acl", "setuser", "u", "~a b")
    admin("acl", "setuser", "u", " () ")
    admin("acl", "setuser", "a b", "on")
    admin("acl", "getuser", "u")
    admin("acl", "users")


def test_the_other_subcommands(admin):
    admin.lines("""
        acl whoami | acl whoami x | acl | acl nosuch | acl cat nosuch | acl cat a b
        acl genpass 0 | acl genpass 4097 | acl genpass x | acl genpass 1 2 | acl getuser nobody
        acl getuser | acl deluser | acl deluser nobody | acl deluser default | acl setuser
        acl log | acl log x | acl log reset | acl log 1 2 | acl log -1
        acl help x | acl dryrun default get a | acl dryrun nobody get a | acl dryrun default nosuch
        acl dryrun default get | acl dryrun default config nosuch | client kill user nobody
    """.replace("|", "\n"))
    for bits, digits in ((), 64), ((5,), 2), ((4096,), 1024):
        for client in (admin.ours, admin.theirs):
            assert len(client("acl", "genpass", *bits)[1]) == digits
    # Valkey has JSON documents and filters in modules only.
    ours = set(leaves(admin.ours("acl", "cat"))) - {b"json", b"bloom", b"cuckoo", b"cms", b"topk", b"tdigest"}
    assert ours == set(leaves(admin.theirs("acl", "cat")))
    mine = set(leaves(admin.ours("acl", "cat", "transaction")))
    assert mine == set(leaves(admin.theirs("acl", "cat", "transaction")))
    for name in ("acl", "acl|setuser", "acl|cat", "acl|help", "acl|log", "acl|dryrun"):
        admin("command", "info", name, normal=lambda reply: unordered(reply)[1][0][1][:6])


def test_resp3(admin):
    admin("hello", "3", normal=lambda reply: reply[0])
    admin("acl", "setuser", "u", "on", ">p", "~a", "(+get ~b)")
    admin("acl", "getuser", "u", normal=lambda reply: unordered(facts_of_both(reply)))


def test_commands_that_a_user_may_run(admin):
    admin("acl", "setuser", "u", "on", ">p", "~own:*", "%R~in:*", "%W~out:*", "+@all", "-@dangerous", "-incr")
    user = as_user(admin, "u", "p")
    user.lines("""
        acl whoami | get own:a | set own:a 1 | get other | set in:a 1 | get in:a | set out:a 1 | get out:a
        set out:a 1 get | exists in:a | exists out:a | exists other | copy in:a out:a | copy out:a in:a
        mget own:a other | mset own:a 1 other 2 | incr own:a | keys * | flushall | config get x | ping
        zunionstore own:z 1 other | zunionstore own:z 2 own:a in:a | rename own:a out:b
        nosuch | get | xread streams other 0
    """.replace("|", "\n"))


def test_selectors(admin):
    admin("acl", "setuser", "u", "on", "nopass", "(+@write ~w:*)", "(+@read ~r:*)", "(%R~x +@all)")
    user = as_user(admin, "u", "any")
    user.lines("""
        set w:a 1 | get w:a | set r:a 1 | get r:a | ping | copy r:a w:a | get x | set x 1
    """.replace("|", "\n"))
    admin.lines("acl dryrun u get r:a\nacl dryrun u get w:a\nacl dryrun u incr r:a\nacl dryrun u ping")


def test_logging_in(admin):
    admin.lines("""
        auth default x | auth nobody x | auth x
        acl setuser u >p | auth u p | acl setuser u on +acl|whoami +auth | auth u q | auth u p | acl whoami
        acl users | reset | acl whoami | hello 2 auth u q | acl setuser default off | acl whoami
        reset | acl whoami | ping | auth u p | acl whoami
    """.replace(" | ", "\n"))
    fresh = connect_again(admin)
    fresh.lines("ping\nauth u p\nping")


def test_a_hello_that_fails_changes_nothing(admin):
    """As in Redis 7.2, HELLO parses all options before it authenticates the client, and names the client last."""
    admin("acl", "setuser", "u", "on", ">p", "+@all")
    client = connect_again(admin)
    for words in ("auth u p foo", "setname me foo", "setname me auth u q", "auth u q foo", "auth u p auth u q"):
        client("hello", "3", *words.split())
        client.lines("acl whoami\nclient getname")
    client("hello", "3", "auth", "u", "p", "setname", "a name")
    client.lines("acl whoami\nclient getname")
    admin("acl", "log", normal=lambda reply: [[leaves(entry)[i] for i in (1, 3, 5, 7, 9)] for entry in reply[1]])
    admin("acl", "setuser", "default", "resetpass", ">p")
    stranger = connect_again(admin)
    stranger("hello", "3", "setname", "me", normal=lambda reply: reply[1].split()[0])
    stranger.lines("auth p\nclient getname")


def test_transactions(admin):
    admin("acl", "setuser", "u", "on", "nopass", "~a", "+@all")
    user = as_user(admin, "u", "x")
    user.lines("multi\nset a 1\nset b 1\nexec\nget a")
    user.lines("multi\nset a 1\nget a\nincr a")
    admin("acl", "setuser", "u", "-get", "resetkeys", "~b")
    user("exec")
    admin("acl", "log", normal=lambda reply: [[leaves(entry)[i] for i in (1, 3, 5, 7, 9)] for entry in reply[1]])
    admin("get", "a")


def test_the_log(admin):
    admin("acl", "setuser", "u", "on", ">p", "~a", "+get")
    user = as_user(admin, "u", "p")
    user.lines("set a 1\nset a 1\nget b\nconfig get x\nmulti\nget b\nauth u wrong")
    shown = lambda reply: [[leaves(entry)[i] for i in (0, 1, 3, 5, 7, 9)] for entry in reply[1]]
    admin("acl", "log", normal=shown)
    admin("acl", "log", "2", normal=shown)
    entry = leaves(admin.ours("acl", "log", "1"))
    assert entry[::2][-3:] == [b"entry-id", b"timestamp-created", b"timestamp-last-updated"]
    assert b"user=u " in entry[13]
    admin("config", "set", "acllog-max-len", "1")
    user("set", "c", "1")
    admin("acl", "log", normal=shown)
    admin("acl", "log", "reset")
    admin("acl", "log")


def test_a_change_applies_at_once_and_a_removed_user_is_disconnected(admin):
    admin("acl", "setuser", "u", "on", "nopass", "allkeys", "+@all")
    user, other = as_user(admin, "u", "x"), as_user(admin, "u", "x")
    user("set", "a", "1")
    admin("acl", "setuser", "u", "-set")
    user("set", "a", "1")
    user("client", "setname", "mine")
    assert b"user=u " in admin.ours("client", "list")[1]
    admin("acl", "deluser", "u", "nobody", "u")
    for pair in (user, other):
        assert_closed(pair.ours)
        assert_closed(pair.theirs)


def test_a_user_that_removes_itself_gets_a_reply(admin):
    admin("acl", "setuser", "u", "on", "nopass", "+@all")
    user = as_user(admin, "u", "x")
    user("acl", "deluser", "u")
    assert_closed(user.ours)


def test_killing_by_user(admin):
    admin("acl", "setuser", "u", "on", "nopass", "+@all")
    user = as_user(admin, "u", "x")
    admin("client", "kill", "user", "u")
    assert_closed(user.ours)


def test_a_blocked_client_that_loses_its_permission_is_refused():
    with Server() as server:
        admin, user = RawClient(server.port), RawClient(server.port)
        admin("acl", "setuser", "u", "on", "nopass", "allkeys", "+@all")
        user("auth", "u", "x")
        user.send("blpop", "list", "0")
        wait_for_blocked(server)
        admin("acl", "setuser", "u", "-blpop")
        admin("rpush", "list", "a")
        assert user.read()[1] == b"NOPERM User u has no permissions to run the 'blpop' command"
        assert admin("lrange", "list", "0", "-1")[1] == [(b"$", b"a")]
        assert user("ping") == (b"+", b"PONG")


def test_requirepass_is_the_default_users_password(admin):
    admin("config", "set", "requirepass", "pw")
    admin("acl", "getuser", "default", normal=facts_of_both)
    admin.lines("acl list\nping")
    fresh = connect_again(admin)
    fresh.lines("ping\nauth x\nauth pw\nacl whoami\nauth default pw")
    admin.lines("config set requirepass ''\nacl list\nauth pw")


def test_users_in_the_configuration_file(tmp_path):
    path = tmp_path / "cairn.conf"
    path.write_text("user default on nopass ~* &* +@all -flushdb\nuser app on >p (+get ~x)\n")
    command = default_command() + [str(path)]
    with Server(command=command) as server:
        client = RawClient(server.port)
        assert client("flushdb")[1] == b"NOPERM User default has no permissions to run the 'flushdb' command"
        assert client("config", "get", "user")[1] == []
        assert client("config", "set", "user", "x")[1].startswith(b"ERR Unknown option")
        client("acl", "setuser", "new", "on", ">q", "+get")
        listed = client("acl", "list")
        assert client("config", "rewrite") == (b"+", b"OK")
        assert b">" not in path.read_bytes()
        server.restart("terminate")
        assert RawClient(server.port)("acl", "list") == listed


@pytest.mark.parametrize("text", ["user a\nuser a\n", "user default\nuser default\n", "user a +nosuch\n",
                                  "user a on\naclfile users.acl\n", "aclfile nosuch.acl\n"])
def test_wrong_users_end_the_start(tmp_path, text):
    path = tmp_path / "cairn.conf"
    path.write_text(text)
    server = Server(command=default_command() + [str(path)], start=False)
    with server, pytest.raises(RuntimeError):
        server.start()


def test_the_acl_file(tmp_path):
    (tmp_path / "users.acl").write_text("user app on nopass ~* +@all\n\nuser other on >p\n")
    with Server(aclfile=tmp_path / "users.acl") as server:
        admin, app = RawClient(server.port), RawClient(server.port)
        assert app("auth", "app", "x") == (b"+", b"OK")
        admin("acl", "setuser", "new", "on", "nopass", "+get", "~k*")
        assert admin("acl", "save") == (b"+", b"OK")
        listed = admin("acl", "list")
        assert admin("acl", "load") == (b"+", b"OK")
        assert app("get", "k") == (b"$", b"-1")
        assert admin("acl", "list") == listed
        (tmp_path / "users.acl").write_text("user app on\nuser app off\n")
        assert b"Duplicate user 'app' found on line 2" in admin("acl", "load")[1]
        assert admin("acl", "list") == listed
    with Server(aclfile=tmp_path / "users.acl", start=False) as server, pytest.raises(RuntimeError):
        server.start()


def test_acl_load_closes_only_clients_that_lose_their_user_or_their_channels(tmp_path):
    users = tmp_path / "users.acl"
    users.write_text("user app on nopass ~* &* +@all\nuser gone on nopass ~* &* +@all\n")
    with Server(aclfile=users) as server:
        admin = RawClient(server.port)
        app, reader, gone = (RawClient(server.port) for _ in range(3))
        for client, user in ((app, "app"), (reader, "app"), (gone, "gone")):
            assert client("auth", user, "x") == (b"+", b"OK")
        assert reader("subscribe", "news")[0] == b"*"
        users.write_text("user app on nopass ~mine* &other +@all\n")
        assert admin("acl", "load") == (b"+", b"OK")
        assert_closed(gone)
        assert_closed(reader)
        assert app("get", "k")[1].startswith(b"NOPERM")
        assert app("get", "mine") == (b"$", b"-1")


def test_channels(admin):
    admin("acl", "setuser", "u", "on", "nopass", "+@all", "allkeys", "resetchannels", "&news.*", "&one")
    user = as_user(admin, "u", "x")
    for command in ("publish news.x hi", "publish other hi", "publish one hi", "spublish other hi",
                    "subscribe other", "subscribe one other", "psubscribe news.*", "ssubscribe other",
                    "psubscribe other*"):
        user(*command.split())
        user("reset")
        user("auth", "u", "x")
    user("multi")
    user("publish", "other", "hi")
    user("exec")


@pytest.mark.parametrize("rule, subscription, stays", [
    ("&news:*", ("subscribe", "news:1"), True), ("&news:1", ("subscribe", "news:1"), True),
    ("&news:1", ("subscribe", "news:2"), False), ("resetchannels", ("ssubscribe", "news:1"), False),
    ("&news:*", ("psubscribe", "news:*"), True), ("&news:1", ("psubscribe", "news:*"), False)])
def test_a_subscriber_that_loses_its_permission_is_disconnected(server, rule, subscription, stays):
    """CLIENT LIST shows it at once, as in Redis."""
    admin, listener = RawClient(server.port), RawClient(server.port)
    admin("acl", "setuser", "listener", "on", "nopass", "+@all", "allchannels")
    for command in (("auth", "listener", "x"), ("client", "setname", "listening"), subscription):
        listener(*command)
    assert admin("acl", "setuser", "listener", "resetchannels", rule) == (b"+", b"OK")
    assert (b"name=listening" in admin("client", "list")[1]) == stays


def test_sort_by_other_keys_needs_all_of_them(admin):
    admin("rpush", "list", "2", "1")
    admin("acl", "setuser", "u", "on", "nopass", "+@all", "~list", "~weight*")
    user = as_user(admin, "u", "x")
    for command in ("sort list", "sort list by weight*", "sort list by nosort", "sort list get #",
                    "sort list get weight*"):
        user(*command.split())


def test_databases_like_valkey(admin):
    """The rules db=, alldbs and resetdbs: how they are shown, and which calls they deny."""
    for client in (admin.ours, admin.theirs):
        for _, name in client("acl", "users")[1]:  # of earlier tests
            client("acl", "deluser", name)
    for rules in ("on nopass ~* +@all", "db=0", "db=0,3", "db=1 db=2", "alldbs", "db=1,5,3", "resetdbs", "db=x",
                  "db=-1", "db=", "db=1,,2", "db=99", "db=2147483648", "(db=2 +get ~*)", "clearselectors", "db=0,1"):
        admin("acl", "setuser", "u", *rules.split())
        admin("acl", "list", normal=without_payload_rules)
        admin("acl", "getuser", "u", normal=without_payload_rules)
    calls = """
        get a | select 1 | select 3 | select x | ping | swapdb 0 1 | swapdb 0 3 | swapdb 7 0 | swapdb 0 x | move a 1
        move a 3 | copy a b db 1 | copy a b db 3 | copy a b replace db 3 | copy a b db 1 db 3 | copy a b db | flushall
        flushdb | keys * | dbsize | randomkey | info | exec | publish a b | script flush | function flush
    """
    dry_runs = [line.strip() for line in calls.replace("\n", "|").split("|") if line.strip()]
    for db in ("0", "5"):
        admin("select", db)
        for call in dry_runs:
            # Where both databases are denied, Valkey names the other one and Cairn the command.
            if db == "0" or not call.startswith(("move", "copy")):
                admin("acl", "dryrun", "u", *call.split())
        admin("acl", "dryrun", "u", "eval", "return 1", "0")
    admin("select", "0")
    user = as_user(admin, "u", "x")
    user.lines("""
        get a | select 3 | move a 3 | swapdb 0 3 | copy a b db 3 | flushall | dbsize | select 1 | dbsize | select 0
        multi | get a | exec | multi | get a | select 3 | exec
    """.replace(" | ", "\n"))
    user("eval", "return redis.acl_check_cmd('select', '3')", "0")
    user("multi")
    user("get", "a")
    admin("acl", "setuser", "u", "db=2")
    user("exec")
    admin("acl", "deluser", "u")


def without_payload_rules(reply):
    """The reply of ACL GETUSER or ACL LIST without what only Redis shows."""
    kind, content = reply
    rules = (b"sanitize-payload", b"skip-sanitize-payload")
    if isinstance(content, list):
        return kind, [without_payload_rules(item) for item in content if item[1] not in rules]
    return kind, b" ".join(word for word in content.split(b" ") if word not in rules)


@pytest.mark.parametrize("words", [
    ("PFMERGE", "other"),
    ("GEORADIUS", "mine", 0, 0, 1, "m", "STORE", "mine2", "STORE", "other"),
    ("GEORADIUSBYMEMBER", "mine", "a", 1, "m", "STORE", "mine2", "STOREDIST", "other"),
    ("XREADGROUP", "GROUP", "g", "STREAMS", "STREAMS", "other", ">"),
    ("MSETEX", 2, "mine", "v", "other", "v"),
])
def test_every_key_of_a_call_is_checked(server, words):
    with RawClient(server.port) as admin, RawClient(server.port) as user:
        admin("acl", "setuser", "limited", "on", "nopass", "+@all", "~mine*", "~STREAMS")
        user("auth", "limited", "x")
        kind, text = user(*words)
        assert kind == b"-" and text.startswith(b"NOPERM"), text
        assert admin("exists", "other") == (b":", b"0")
        admin("acl", "deluser", "limited")
