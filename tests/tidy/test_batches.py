# SPDX-License-Identifier: BSD-3-Clause
"""Only storage/batch.cc writes into a WriteBatch, because RocksDB's own functions truncate or overflow large rows."""

import re

import tree

WRITE = re.compile(r"\b\w*batch\w*(\.|->)(Put|PutLogData|Delete|SingleDelete|DeleteRange|Merge)\(")


def test_writes_into_a_batch_are_checked():
    for path in tree.sources():
        if path.name == "batch.cc":
            continue
        found = WRITE.search(tree.text(path))
        assert found is None, f"{path}: {found[0]} without storage/batch.h"
