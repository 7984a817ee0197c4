# SPDX-License-Identifier: BSD-3-Clause
"""BACKUP while clients write, cairn-restore, and what ends a backup: ABORT, kill -9, a damaged file."""

import os
import subprocess
import threading

import pytest
import redis
from harness import Server, tool_path
from mounts import small_disk
from waiting import wait_until

VALUE_BYTES = 4000


def fill(client, keys, prefix="k"):
    """Sets keys with values that do not compress."""
    pipe = client.pipeline(transaction=False)
    for i in range(keys):
        pipe.set(f"{prefix}:{i}", os.urandom(VALUE_BYTES))
        if i % 500 == 499:
            pipe.execute()
    pipe.execute()


def as_dict(reply):
    """A map of RESP2 or RESP3 with names and texts as str."""
    pairs = reply.items() if isinstance(reply, dict) else zip(reply[::2], reply[1::2])
    return {name.decode(): value.decode() if isinstance(value, bytes) else value for name, value in pairs}


def status(client):
    """BACKUP STATUS as a dictionary."""
    return as_dict(client.execute_command("BACKUP", "STATUS"))


def listed(client):
    """BACKUP LIST as dictionaries."""
    return [as_dict(entry) for entry in client.execute_command("BACKUP", "LIST")]


def back_up(client):
    """Makes a backup and returns its status."""
    assert client.execute_command("BACKUP", "START") == b"Backup started"
    wait_until(lambda: status(client)["state"] == "idle", "the end of the backup", timeout_s=60)
    return status(client)


def restore(backups, *arguments):
    """Runs cairn-restore."""
    return subprocess.run([str(tool_path("cairn-restore")), f"--backup_dir={backups}", *map(str, arguments)],
                          capture_output=True, text=True, check=False)


def digest_of(directory):
    """DEBUG DIGEST of a data directory."""
    with Server(data_dir=str(directory), enable_debug_command="yes") as server:
        return server.client().execute_command("DEBUG", "DIGEST")


def files_under(folder):
    """The names of all files below a folder."""
    return {os.path.join(path, name) for path, _, names in os.walk(folder) for name in names}


def test_a_second_backup_copies_what_is_new(tmp_path):
    backups = tmp_path / "backups"
    with Server(backup_dir=str(backups), backup_rate_limit=0, enable_debug_command="yes") as server:
        client = server.client()
        fill(client, 5000)
        client.hset("hash", mapping={f"field{i}": i for i in range(2000)})
        client.set("large", os.urandom(1 << 20))  # in a blob file
        first = back_up(client)
        assert first["result"] == "ok" and first["id"] == 1, first
        assert first["bytes-copied"] > 5000 * VALUE_BYTES
        fill(client, 50, "new")
        digest = client.execute_command("DEBUG", "DIGEST")
        second = back_up(client)
        assert second["result"] == "ok" and second["id"] == 2, second
        assert second["bytes-copied"] < first["bytes-copied"] / 10
        assert [backup["id"] for backup in listed(client)] == [1, 2]
        assert listed(client)[1]["bytes"] > 5000 * VALUE_BYTES
        info = client.info("backup")
        assert info["backups_completed"] == 2 and info["backup_in_progress"] == 0

        assert client.execute_command("BACKUP", "DELETE", 1) == b"OK"
        with pytest.raises(redis.ResponseError, match="No such backup"):
            client.execute_command("BACKUP", "DELETE", 1)
    assert restore(backups, "--list").stdout.startswith("2  ")
    assert restore(backups, "--verify").returncode == 0
    target = tmp_path / "restored"
    done = restore(backups, target)
    assert done.returncode == 0, done.stderr
    assert digest_of(target) == digest
    assert "is not empty" in restore(backups, target).stderr


def test_a_backup_under_load_has_every_write_before_it(tmp_path):
    backups = tmp_path / "backups"
    with Server(backup_dir=str(backups), memory_budget="64mb") as server:
        client = server.client()
        fill(client, 3000)
        ended = threading.Event()

        def write():
            writer = server.client()
            number = 0
            while not ended.is_set():
                number = writer.incr("number")
                writer.rpush("list", number)

        thread = threading.Thread(target=write)
        thread.start()
        try:
            wait_until(lambda: int(client.get("number") or 0) > 100, "the writer")
            before = int(client.get("number"))
            assert back_up(client)["result"] == "ok"
            after = int(client.get("number"))
        finally:
            ended.set()
            thread.join()
    target = tmp_path / "restored"
    assert restore(backups, target).returncode == 0
    with Server(data_dir=str(target)) as server:
        client = server.client()
        number = int(client.get("number"))
        assert before <= number <= after
        assert number - 1 <= client.llen("list") <= number
        assert client.dbsize() == 3002


@pytest.mark.slow
def test_abort_and_kill_9_leave_no_backup_behind(tmp_path):
    backups = tmp_path / "backups"
    with Server(backup_dir=str(backups), backup_rate_limit="2mb") as server:
        client = server.client()
        fill(client, 5000)
        client.execute_command("BACKUP", "START")
        wait_until(lambda: status(client)["bytes-copied"] > 0, "bytes")
        with pytest.raises(redis.ResponseError, match="already in progress"):
            client.execute_command("BACKUP", "START")
        with pytest.raises(redis.ResponseError, match="already in progress"):
            client.execute_command("BACKUP", "DELETE", 1)
        assert client.execute_command("BACKUP", "ABORT") == b"OK"
        wait_until(lambda: status(client)["state"] == "idle", "the end")
        assert status(client)["result"] == "aborted"
        with pytest.raises(redis.ResponseError, match="No backup in progress"):
            client.execute_command("BACKUP", "ABORT")
        assert not listed(client)

        client.execute_command("BACKUP", "START")
        wait_until(lambda: status(client)["bytes-copied"] > 0, "bytes")
        server.kill9()
        server.start()
        client = server.client()
        assert client.dbsize() == 5000
        assert not listed(client)
        client.config_set("backup-rate-limit", 0)
        assert back_up(client)["result"] == "ok"
        assert len(listed(client)) == 1
        bytes_on_disk = sum(os.path.getsize(path) for path in files_under(backups))
        assert bytes_on_disk < listed(client)[0]["bytes"] * 1.1


def test_a_damaged_backup_is_refused(tmp_path):
    backups = tmp_path / "backups"
    with Server(backup_dir=str(backups)) as server:
        client = server.client()
        fill(client, 500)
        assert back_up(client)["result"] == "ok"
    table = max(files_under(backups), key=os.path.getsize)
    with open(table, "r+b") as file:
        file.seek(os.path.getsize(table) // 2)
        file.write(b"damaged")
    verified = restore(backups, "--verify")
    assert verified.returncode == 1 and os.path.basename(table) in verified.stderr, verified.stderr
    assert restore(backups, tmp_path / "restored").returncode == 1
    assert not (tmp_path / "restored").exists()


def test_an_older_backup_does_not_replace_a_damaged_newest_one(tmp_path):
    """It lacks writes, so cairn-restore takes it only if --id names it."""
    backups = tmp_path / "backups"
    with Server(backup_dir=str(backups), backup_rate_limit=0) as server:
        client = server.client()
        for value in ("one", "two"):
            client.set("key", value)
            assert back_up(client)["result"] == "ok"
        (backups / "private" / "2" / "CURRENT").unlink()
        assert [backup["id"] for backup in listed(client)] == [1]
    done = restore(backups, "--list")
    assert done.returncode == 1 and done.stdout.startswith("1  ") and "damaged backups: 2" in done.stderr, done
    target = tmp_path / "restored"
    for arguments in (["--verify"], ["--verify", "--id=2"], [target]):
        done = restore(backups, *arguments)
        assert done.returncode == 1 and "backup 2 is damaged" in done.stderr and "CURRENT" in done.stderr, done
    assert not target.exists()
    assert restore(backups, "--verify", "--id=1").returncode == 0
    assert restore(backups, "--id=1", target).returncode == 0
    (backups / "private" / "1" / "CURRENT").unlink()
    done = restore(backups, "--list")
    assert done.returncode == 1 and not done.stdout and "damaged backups: 1, 2" in done.stderr, done


def test_a_server_without_a_directory_refuses(r):
    for words in ("START", "LIST", "DELETE 1"):
        with pytest.raises(redis.ResponseError, match="backup-dir is not set"):
            r.execute_command("BACKUP", *words.split())
    assert r.execute_command("BACKUP", "HELP")[0].startswith(b"BACKUP <subcommand>")


def test_a_full_disk_ends_a_backup_and_keeps_the_older_one(tmp_path):
    with (small_disk(tmp_path / "small", 8) as disk,
          Server(backup_dir=str(disk / "backups"), backup_rate_limit=0) as server):
        client = server.client()
        fill(client, 500)
        assert back_up(client)["result"] == "ok"
        fill(client, 3000, "more")
        assert "No space left" in back_up(client)["result"]
        assert client.info("backup")["backups_failed"] == 1
        client.set("after", "x")
        assert [backup["id"] for backup in listed(client)] == [1]
        assert restore(disk / "backups", "--verify").returncode == 0
        assert sum(os.path.getsize(path) for path in files_under(disk)) < 4_000_000


def test_a_nearly_full_data_disk_refuses_a_backup(tmp_path):
    with Server(backup_dir=str(tmp_path / "backups")) as server:
        client = server.client()
        client.set("k", "v")
        client.config_set("min-free-disk", "1000000gb")
        with pytest.raises(redis.ResponseError, match="No backup: "):
            wait_until(lambda: back_up(client) is None, "the refusal")
        assert client.get("k") == b"v"


def test_a_slash_at_the_end_of_the_target_and_the_owner_of_an_empty_one(tmp_path):
    backups = tmp_path / "backups"
    with Server(backup_dir=str(backups), backup_rate_limit=0) as server:
        server.client().set("key", "value")
        assert back_up(server.client())["result"] == "ok"
    old_mask = os.umask(0o022)
    try:
        assert restore(backups, f"{tmp_path}/new/").returncode == 0
        owned = tmp_path / "owned"
        owned.mkdir(mode=0o711)
        owner = (os.getuid(), os.getgid()) if os.getuid() else (12345, 23456)
        os.chown(owned, *owner)
        assert restore(backups, f"{owned}/").returncode == 0
        os.chown(backups, *owner)
        assert restore(backups, tmp_path / "missing").returncode == 0
    finally:
        os.umask(old_mask)
    assert {path.stat().st_mode & 0o7777 for path in (tmp_path / "new").iterdir() if path.is_file()} <= {0o640, 0o600}
    assert owned.stat().st_mode & 0o7777 == 0o711
    assert {(path.stat().st_uid, path.stat().st_gid) for path in [owned, *owned.rglob("*")]} == {owner}
    missing = tmp_path / "missing"  # root gives it the owner of the backups
    assert {(path.stat().st_uid, path.stat().st_gid) for path in [missing, *missing.rglob("*")]} == {owner}


def test_a_target_that_is_a_link_to_a_directory(tmp_path):
    """It was copied beside the link, perhaps to another disk, and then could not replace it."""
    backups = tmp_path / "backups"
    with Server(backup_dir=str(backups), backup_rate_limit=0) as server:
        server.client().set("key", "value")
        assert back_up(server.client())["result"] == "ok"
    (tmp_path / "disk" / "data").mkdir(parents=True)
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "disk" / "data")
    done = restore(backups, link)
    assert done.returncode == 0, done.stderr
    assert link.is_symlink()
    with Server(data_dir=tmp_path / "disk" / "data") as server:
        assert server.client().get("key") == b"value"


def test_a_directory_that_is_missing_is_no_list(tmp_path):
    done = restore(tmp_path / "nowhere", "--list")
    assert done.returncode == 1 and "nowhere: No such file or directory" in done.stderr
