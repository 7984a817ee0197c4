# SPDX-License-Identifier: BSD-3-Clause
"""The sizes of a server's files on disk, which it may delete at any moment."""

import contextlib


def size_of(paths):
    """The total size of these files (pathlib paths); one that is deleted meanwhile counts nothing."""
    total = 0
    for path in paths:
        with contextlib.suppress(FileNotFoundError):
            total += path.stat().st_size
    return total


def table_bytes(server):
    """The size of RocksDB's tables."""
    return size_of(server.data_dir.glob("*.sst"))


def blob_bytes(server):
    """The size of RocksDB's blob files."""
    return size_of(server.data_dir.glob("*.blob"))


def data_bytes(server):
    """The size of the tables and blob files."""
    return table_bytes(server) + blob_bytes(server)
