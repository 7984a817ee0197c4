# SPDX-License-Identifier: BSD-3-Clause
"""The marks of tests."""


def pytest_configure(config):
    """Registers the marks."""
    config.addinivalue_line("markers", "measures(what): asserts a cost, so it is not run under a sanitizer")
    config.addinivalue_line("markers", "alone: compares times, so scripts/test runs no other test beside it")
    config.addinivalue_line("markers", "slow: takes longer than a second; scripts/test --quick leaves it out")
    config.addinivalue_line("markers", "older: needs servers of older commits, which a first use builds")
    config.addinivalue_line("markers", "newer: needs redis-server 8, which a first use builds; tests/pairs/run --newer")
