# SPDX-License-Identifier: BSD-3-Clause
"""The faults that the rounds rotate: the kinds of calls, the files, and the results of the calls."""

import dataclasses
import errno

from fault_control import KINDS

EVERY_KIND = " ".join(kind for kind in KINDS if kind != "read")  # for reads: test_read_errors.py


@dataclasses.dataclass(frozen=True)
class Plan:
    """Hits `count` calls of `kinds` on files that match `path`, from call number n of all calls on."""

    name: str
    kinds: str = EVERY_KIND
    path: str = "*"
    error: int = 0
    count: int = 1
    short: bool = False
    torn: bool = False
    delay_ms: int = 0

    def arm(self, faults, folder, number):
        """Arms the fault for calls on the files of a data directory; the numbers continue."""
        globs = "|".join(f"{folder}*/{glob}" for glob in self.path.split("|"))
        faults.arm(EVERY_KIND, self.error, path=f"{folder}*", first=number, count=self.count, short=self.short,
                   torn=self.torn, delay_ms=self.delay_ms, hit_kinds=self.kinds, hit_path=globs,
                   keeps_numbers=True)


def count_calls(faults, folder):
    """Numbers the calls on the files of a data directory, and hits none."""
    faults.arm(EVERY_KIND, path=f"{folder}*", keeps_numbers=True)


TABLES = "*.sst|*.blob"
FOREVER = 10**9  # until the fault is disarmed

PLANS = [
    Plan("any call ENOSPC", error=errno.ENOSPC),
    Plan("any call EIO", error=errno.EIO),
    Plan("log write ENOSPC", "write", "*.log", errno.ENOSPC),
    Plan("log write EIO", "write", "*.log", errno.EIO),
    Plan("log write torn, then ENOSPC", "write", "*.log", errno.ENOSPC, count=3, torn=True),
    Plan("log write short", "write", "*.log", short=True, count=4),
    Plan("log sync ENOSPC", "sync", "*.log", errno.ENOSPC),
    Plan("log sync EIO", "sync", "*.log", errno.EIO),
    Plan("log sync late", "sync", "*.log", delay_ms=60),
    Plan("table write ENOSPC", "write", TABLES, errno.ENOSPC),
    Plan("table write EIO", "write", TABLES, errno.EIO),
    Plan("table sync EIO", "sync", TABLES, errno.EIO),
    Plan("manifest write ENOSPC", "write", "MANIFEST*", errno.ENOSPC),
    Plan("manifest write EIO", "write", "MANIFEST*", errno.EIO),
    Plan("manifest sync EIO", "sync", "MANIFEST*", errno.EIO),
    Plan("open EMFILE", "open", error=errno.EMFILE),
    Plan("log open EMFILE", "open", "*.log", errno.EMFILE),
    Plan("table open EMFILE", "open", TABLES, errno.EMFILE, count=2),
    Plan("rename EIO", "rename link", error=errno.EIO),
    Plan("truncate EIO", "truncate", error=errno.EIO),
    Plan("allocate ENOSPC", "allocate", error=errno.ENOSPC),
    Plan("range sync EIO", "sync_range", error=errno.EIO),
    Plan("disk full for a while", "write allocate open", error=errno.ENOSPC, count=FOREVER),
    Plan("no descriptors for a while", "open map", error=errno.EMFILE, count=FOREVER),
    Plan("disk broken for a while", "write sync", error=errno.EIO, count=FOREVER),
]
