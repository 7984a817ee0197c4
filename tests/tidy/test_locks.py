# SPDX-License-Identifier: BSD-3-Clause
"""The locks of the server are those of base/mutex.h, which tests/locks/run checks.

The analysis does not see a lock of the standard library.
"""

import re

import tree

STANDARD = re.compile(r"std::(?:(?:recursive_|shared_|timed_)*mutex|condition_variable|lock_guard|\w+_lock)\b")


def test_every_lock_is_one_that_the_analysis_sees():
    for path in tree.sources():
        if path.name != "mutex.h":
            found = STANDARD.search(tree.text(path))
            assert not found, f"{path}: {found.group()}: see base/mutex.h"
