# SPDX-License-Identifier: BSD-3-Clause
"""The build file of the OCI image, followed line by line in a fresh Debian without a container engine."""

import json
import shutil
import signal
import subprocess

from harness import REPOSITORY, free_port
from waiting import wait_until

CONTAINERFILE = REPOSITORY / "conf" / "oci" / "Containerfile"


def instructions():
    """(instruction, its text) of the build file."""
    for line in CONTAINERFILE.read_text().replace("\\\n", "").splitlines():
        if line and not line.startswith("#"):
            yield line.split(None, 1)


def build(root, context):
    """Follows the build file in the root; returns the settings of the image."""
    settings = {}
    for name, text in instructions():
        if name == "FROM":
            assert text == "debian:12-slim"  # the root is a Debian 12
        elif name == "COPY":
            pattern, target = text.split()
            for path in context.glob(pattern):
                shutil.copy(path, root.path / target.lstrip("/"))
        elif name == "RUN":
            root.run("sh", "-c", text)
        else:
            assert name in {"USER", "WORKDIR", "VOLUME", "EXPOSE", "STOPSIGNAL", "ENTRYPOINT"}, name
            settings[name] = text
    return settings


def test_the_image_serves_from_its_entry_point(root, package):
    image = build(root, package.parent)
    assert image["EXPOSE"] == "6380"
    assert image["VOLUME"] == image["WORKDIR"] == "/var/lib/cairn"
    assert not list((root.path / "tmp").iterdir())
    port = free_port()
    entry = [*json.loads(image["ENTRYPOINT"]), "--port", str(port), "--requirepass", "secret"]
    process = root.spawn(*entry, user=image["USER"], stdout=subprocess.DEVNULL)
    cli = ["redis-cli", "-p", str(port), "--no-auth-warning", "-a", "secret"]

    def reply(*words):
        return subprocess.run([*cli, *words], capture_output=True, text=True, check=False).stdout.strip()

    try:
        wait_until(lambda: reply("PING") == "PONG")
        assert reply("SET", "key", "value") == "OK"
        assert reply("CONFIG", "GET", "dir") == "dir\n/var/lib/cairn"
        assert reply("CONFIG", "GET", "bind") == "bind\n* -::*"
        process.send_signal(getattr(signal, image["STOPSIGNAL"]))
        assert process.wait(60) == 0
    finally:
        if process.poll() is None:
            process.kill()
    assert (root.path / "var/lib/cairn/CURRENT").exists()
