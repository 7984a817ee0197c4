# SPDX-License-Identifier: BSD-3-Clause
"""Makes the harness of tests/integration importable, and the fixtures of this folder: packages and Debian roots."""

import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "integration"))

from debian_root import DebianRoot, build_package, missing_permission  # noqa: E402


@pytest.fixture(scope="session")
def older_package(tmp_path_factory):
    """A package of this build with a lower version number."""
    return build_package(tmp_path_factory.mktemp("older"), "0.0.1")


@pytest.fixture(scope="session")
def package(tmp_path_factory):
    """The package of this build."""
    return build_package(tmp_path_factory.mktemp("package"))


@pytest.fixture(scope="session")
def bare_root(tmp_path_factory):
    """A fresh Debian 12, to copy."""
    reason = missing_permission()
    if reason:
        pytest.skip(reason)
    root = DebianRoot(tmp_path_factory.mktemp("debian") / "root")
    root.bootstrap()
    yield root
    root.remove()


@pytest.fixture
def root(bare_root, tmp_path):
    """A copy of the fresh Debian 12, for one test."""
    copy = bare_root.copy(tmp_path / "root")
    yield copy
    copy.remove()
