# SPDX-License-Identifier: BSD-3-Clause
"""A file that cannot be read to its end has no effect."""

import errno

import pytest
import redis

from fault_control import Faults
from harness import Server


def test_a_read_error_in_the_acl_file_changes_no_user(tmp_path):
    """ACL LOAD deleted the users behind the error. A default user among them got all permissions and no password."""
    path = tmp_path / "users.acl"
    users = [f"user filler{i} off ~some:long:pattern:{i}:*" for i in range(400)]
    path.write_text("\n".join([*users, "user last on nopass ~* +@all"]) + "\n")
    assert path.stat().st_size > 2 * 8192  # several reads
    with Faults() as faults, Server(command=faults.command(), aclfile=path) as server:
        client = server.client()
        faults.arm("read", errno.EIO, path="users.acl", first=2)
        with pytest.raises(redis.ResponseError, match="Input/output error"):
            client.acl_load()
        assert faults.fired == 1
        assert client.acl_getuser("last") is not None
        assert client.acl_load()
        assert client.acl_getuser("last") is not None
