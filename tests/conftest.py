# SPDX-License-Identifier: BSD-3-Clause
"""The marks of tests."""


def pytest_configure(config):
    """Registers the marks."""
    config.addinivalue_line("markers", "measures(what): asserts a cost, so it is not run under a sanitizer")
    config.addinivalue_line("markers", "slow: takes longer than a second; scripts/test --quick leaves it out")
