# SPDX-License-Identifier: BSD-3-Clause
"""Fetches Debian's source packages of Redis: that of the machine's own release for Redis's test suite, and that of
Debian's newest suite for Redis 8.

Most machines have only `deb` entries, so this makes a private apt configuration of them: the same entries as `deb-src`,
with separate lists and archives. The system's apt is not changed, and root is not needed. A tree is fetched once; a
marker file says that it is complete.
"""

import dataclasses
import os
import pathlib
import re
import shutil
import subprocess

UPSTREAM_VERSION = "7.0.15"


@dataclasses.dataclass(frozen=True)
class Release:
    """A source package: the beginning of its upstream version, and the suite that has it if the machine's has not."""

    version: str
    suite: str | None = None


REDIS_7 = Release(UPSTREAM_VERSION)
REDIS_8 = Release("8.", "sid")


class FetchError(Exception):
    """The source package is not available; the message says how to help."""


def source_entries(text, one_line_format, suite=None):
    """The `deb` entries of an apt sources file as `deb-src` entries. With `suite`, they are Debian's entries with all
    components `main` and that suite."""
    if one_line_format:
        lines = [line for line in text.splitlines() if re.match(r"deb\s", line)]
        if suite:
            lines = [re.sub(r"(\S+)(\s+main\b.*)$", suite + " main", line) for line in lines if is_debians(line)]
        return "".join(re.sub(r"^deb", "deb-src", line) + "\n" for line in lines)
    if suite:
        stanzas = [part for part in re.split(r"\n\s*\n", text) if is_debians(part)]
        text = re.sub(r"(?mi)^Suites:.*$", f"Suites: {suite}", "\n\n".join(stanzas) + "\n")
    return re.sub(r"(?mi)^Types:.*$", "Types: deb-src", text)


def is_debians(entry):
    """Whether an entry of apt's sources is the main archive of the machine's own Debian release."""
    codename = re.search(r"(?m)^VERSION_CODENAME=(\S+)$", pathlib.Path("/etc/os-release").read_text("utf-8"))
    return bool(codename) and bool(re.search(rf"\s{codename[1]}(\s|$)", entry)) and bool(re.search(r"\bmain\b", entry))


def write_private_sources(apt_dir, suite=None, system_dir=pathlib.Path("/etc/apt")):
    """Copies the system's entries into `apt_dir`/parts as deb-src entries, of `suite` if it is given."""
    parts = apt_dir / "parts"
    shutil.rmtree(parts, ignore_errors=True)
    parts.mkdir(parents=True)
    found = [system_dir / "sources.list", *sorted((system_dir / "sources.list.d").glob("*"))]
    for path in found:
        if path.is_file() and path.suffix in (".list", ".sources"):
            entries = source_entries(path.read_text("utf-8"), path.suffix == ".list", suite)
            (parts / path.name).write_text(entries, "utf-8")


def apt_options(apt_dir):
    """Options that point apt at the private configuration."""
    for folder in ("lists/partial", "archives/partial"):
        (apt_dir / folder).mkdir(parents=True, exist_ok=True)
    pairs = {
        "Dir::Etc::sourcelist": apt_dir / "none",
        "Dir::Etc::sourceparts": apt_dir / "parts",
        "Dir::State::lists": apt_dir / "lists",
        "Dir::Cache": apt_dir,
        "APT::Sandbox::User": "root" if os.geteuid() == 0 else "",
    }
    return [word for name, value in pairs.items() for word in ("-o", f"{name}={value}")]


def pick_version(listing, wanted_version):
    """The version to fetch from the list of `apt-cache showsrc`: the newest that begins with `wanted_version`."""
    versions = re.findall(r"(?m)^Version: (\S+)$", listing)
    exact = wanted_version if wanted_version.endswith(".") else wanted_version + "-"
    wanted = [v for v in versions if re.match(r"(\d+:)?" + re.escape(exact), v)]
    if not wanted:
        raise FetchError(
            f"apt's sources have redis {versions or 'in no version'}, "
            f"not {wanted_version}: give a tree of it with --source-dir"
        )
    newest = wanted[0]
    for version in wanted[1:]:
        if subprocess.run(["dpkg", "--compare-versions", version, "gt", newest]).returncode == 0:
            newest = version
    return newest


def run(command, **options):
    """Runs a program; raises an error with its output if it fails."""
    try:
        done = subprocess.run(
            command,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            **options,
        )
    except FileNotFoundError as error:
        raise FetchError(f"{command[0]} is missing: install apt and dpkg-dev") from error
    if done.returncode != 0:
        raise FetchError(f"{' '.join(map(str, command))}:\n{done.stdout[-2000:]}")
    return done.stdout


def fetch(cache_dir, release=REDIS_7):
    """The unpacked source tree of a release in `cache_dir`, downloaded if it is missing."""
    tree = cache_dir / "tree"
    marker = cache_dir / "complete"
    if marker.exists() and tree.is_dir():
        return tree
    apt_dir = cache_dir / "apt"
    cache_dir.mkdir(parents=True, exist_ok=True)
    write_private_sources(apt_dir, release.suite)
    options = apt_options(apt_dir)
    subprocess.run(
        ["apt-get", *options, "update"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )  # entries without sources are ignored
    version = pick_version(run(["apt-cache", *options, "showsrc", "redis"]), release.version)
    run(["apt-get", *options, "source", "--download-only", f"redis={version}"], cwd=cache_dir)
    shutil.rmtree(tree, ignore_errors=True)
    description = next(cache_dir.glob(f"redis_{version.partition(':')[2] or version}.dsc"))
    run(["dpkg-source", "--no-check", "-x", description.name, tree.name], cwd=cache_dir)
    marker.write_text(version + "\n", "ascii")
    return tree
