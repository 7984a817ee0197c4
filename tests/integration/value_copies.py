# SPDX-License-Identifier: BSD-3-Clause
"""Makes copies of keys by each command that makes one, and compares what they hold."""

COPY_PREFIXES = ("copy:", "dump:", "renamed:")


def value_digests(client, names, prefix=""):
    """The digest of each key's value, in the order of `names`."""
    return client.execute_command("DEBUG", "DIGEST-VALUE", *(prefix + name for name in names))


def make_copies(client, names):
    """Each key under three new names: by COPY, by DUMP and RESTORE, and by RENAME, which takes the old name away.

    RESTORE sets an expiry, and PERSIST removes it again, because the digest includes it.
    """
    for name in names:
        assert client.copy(name, "copy:" + name)
        client.restore("dump:" + name, 100_000, client.dump(name))
        assert client.persist("dump:" + name)
        client.rename(name, "renamed:" + name)
