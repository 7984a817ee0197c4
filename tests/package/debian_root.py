# SPDX-License-Identifier: BSD-3-Clause
"""A Debian 12 in a folder, where a test installs packages and starts programs with chroot.

Invariants: (1) mounts are in a mount namespace of the command, so none outlives it; (2) packages come from the archives
that this machine's apt uses; (3) no service is started, because no systemd runs there.
"""

import os
import pathlib
import shutil
import subprocess

from harness import REPOSITORY

# $0 is the root, $1 ... are the arguments of chroot. The last exec makes the program the process that was started.
ENTER = 'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$@"'
FROM_HOST = ("etc/resolv.conf", "etc/hosts")
ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8",
               "DEBIAN_FRONTEND": "noninteractive"}


def run(*command, **options):
    """The output of a command, which must succeed."""
    done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False, **options)
    assert done.returncode == 0, f"{command} exited with {done.returncode}:\n{done.stdout[-4000:]}"
    return done.stdout


def missing_permission():
    """Why no Debian root can be made here, or None."""
    if os.geteuid() != 0:
        return "chroot needs root"
    if shutil.which("mmdebstrap") is None:
        return "mmdebstrap is not installed"
    probe = subprocess.run(["unshare", "--mount", "chroot", "/", "true"], capture_output=True, text=True, check=False)
    return f"chroot in a mount namespace is not permitted: {probe.stderr.strip()}" if probe.returncode else None


def build_package(folder, version=None):
    """Builds the Debian package into a folder; returns its path."""
    run(REPOSITORY / "scripts" / "package", "--into", folder, *(["--version", version] if version else []))
    [package] = folder.glob("cairn_*.deb")
    return package


class DebianRoot:
    """The folder of one Debian. REQUIRES: the user is root."""

    def __init__(self, path):
        self.path = pathlib.Path(path)

    def bootstrap(self):
        """Installs the essential packages and apt."""
        archives = run("apt-get", "indextargets", "--format", "deb $(REPO_URI) $(CODENAME) $(COMPONENT)",
                       "Created-By: Packages", "Origin: Debian").splitlines()
        run("mmdebstrap", "--quiet", "--variant=minbase", "bookworm", self.path, *sorted(set(archives)))
        for name in FROM_HOST:
            shutil.copy(f"/{name}", self.path / name)
        self.run("apt-get", "update", "-q")

    def copy(self, path):
        """Another folder with the same Debian."""
        run("cp", "-a", "--reflink=auto", self.path, path)
        return DebianRoot(path)

    def remove(self):
        """Deletes the folder."""
        shutil.rmtree(self.path)

    def command(self, *command, user="root"):
        """The command line, for this machine, that runs a command in the root."""
        inner = ["chroot", f"--userspec={user}:{user}", self.path, *command]
        return ["unshare", "--mount", "sh", "-c", ENTER, *map(str, [self.path, *inner[1:]])]

    def run(self, *command, user="root"):
        """The output of a command in the root, which must succeed."""
        return run(*self.command(*command, user=user), env=ENVIRONMENT)

    def spawn(self, *command, user="root", environment=None, **options):
        """Starts a program in the root; the process is the program itself."""
        return subprocess.Popen(self.command(*command, user=user), stdin=subprocess.DEVNULL,
                                env={**ENVIRONMENT, **(environment or {})}, **options)

    def install(self, package):
        """Installs a package file with apt, and what it depends on."""
        inside = self.path / "tmp" / package.name
        shutil.copy(package, inside)
        self.run("apt-get", "install", "-q", "-y", "--no-install-recommends", f"/tmp/{package.name}")
        inside.unlink()

    def files(self):
        """The paths of all files and folders, without what the kernel, apt and logs keep."""
        passing = ("proc", "dev", "sys", "tmp", "run", "var/cache", "var/log", "var/lib/apt", "var/lib/dpkg")
        found = set()
        for folder, folders, names in os.walk(self.path):
            inside = pathlib.Path(folder).relative_to(self.path)
            folders[:] = [name for name in folders if str(inside / name) not in passing]
            found |= {str(inside / name) for name in folders + names}
        return found
