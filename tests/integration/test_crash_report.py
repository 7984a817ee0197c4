# SPDX-License-Identifier: BSD-3-Clause
"""A crash of the server: the report in its log, and its data afterwards."""

import ctypes
import re
import shutil
import signal

import pytest
from harness import Server
from process_threads import thread_ids

FRAME_OF_MAIN = re.compile(r"^#\d+ 0x[0-9a-f]+ \(\+0x[0-9a-f]+\) main$", re.MULTILINE)


@pytest.mark.parametrize("has_file", [False, True])
def test_a_crash_writes_a_report_with_the_stack(has_file, tmp_path):
    """A failed assertion of RocksDB was one line in the log, which did not say who called it."""
    with Server(logfile=tmp_path / "log" if has_file else None) as server:
        server.client().set("k", "v")
        server.process.send_signal(signal.SIGABRT)
        assert server.process.wait(30) == -signal.SIGABRT
        log = ((tmp_path / "log") if has_file else server.log_path).read_text("utf-8")
        assert "crashed by signal: 6, si_code: 0" in log and "=== CAIRN BUG REPORT END ===" in log
        assert FRAME_OF_MAIN.search(log), log
        assert server.start().client().get("k") == b"v"


def test_without_its_log_the_report_is_on_the_standard_output(tmp_path):
    """For example if the log's folder was removed while the server ran."""
    folder = tmp_path / "logs"
    folder.mkdir()
    with Server(logfile=folder / "log") as server:
        shutil.rmtree(folder)
        server.process.send_signal(signal.SIGABRT)
        assert server.process.wait(30) == -signal.SIGABRT
        assert "=== CAIRN BUG REPORT END ===" in server.log_path.read_text("utf-8")


def test_the_report_names_the_thread():
    """Every thread lets through the signals of a crash."""
    with Server() as server:
        thread = thread_ids(server.pid, "cron")[0]
        assert ctypes.CDLL(None).tgkill(server.pid, thread, signal.SIGFPE) == 0
        assert server.process.wait(30) == -signal.SIGFPE
        assert "STACK TRACE of thread cron" in server.log_tail(lines=100)


def test_reports_can_be_switched_off():
    """As in Redis, also while the server runs."""
    with Server(crash_log_enabled=False) as server:
        server.process.send_signal(signal.SIGFPE)
        assert server.process.wait(30) == -signal.SIGFPE
        server.start().client().config_set("crash-log-enabled", "yes")
        server.client().config_set("crash-log-enabled", "no")
        server.process.send_signal(signal.SIGABRT)
        assert server.process.wait(30) == -signal.SIGABRT
        assert "BUG REPORT" not in server.log_tail(lines=100)
        server.start().client().config_set("crash-log-enabled", "yes")
        server.process.send_signal(signal.SIGABRT)
        assert server.process.wait(30) == -signal.SIGABRT
        assert "BUG REPORT START" in server.log_tail(lines=100)
