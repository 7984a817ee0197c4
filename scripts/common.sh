# SPDX-License-Identifier: BSD-3-Clause
#
# Shared by the scripts: installs missing packages, builds, creates the Python environment.
#
# It is sourced, never run. It prints every action first, and everything it creates is under build/. A second call finds
# the work done and does nothing. It uses sudo only for apt-get and a missing /etc/hosts, and only for a user who is not
# root.

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"

say() {
  printf '==> %s\n' "$*"
}

die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "this needs root: $* (run it as root, or install sudo)"
  fi
}

# The packages of the named groups of packages.txt that are not installed.
missing_packages() {
  local group package state
  for group in "$@"; do
    for package in $(awk -v g="$group" '$1 == g { print $2 }' "$ROOT/scripts/packages.txt"); do
      state="$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)"
      [ "$state" = installed ] || echo "$package"
    done
  done
}

# RUNLEVEL=1 keeps Debian's maintainer scripts from starting services where no systemd runs (a chroot, a container): the
# tests start their own redis-server, on free ports.
install_packages() {
  command -v dpkg-query >/dev/null ||
    die "these scripts install Debian packages; elsewhere install those of packages.txt by hand"
  local missing
  missing="$(missing_packages "$@")"
  if [ -z "$missing" ]; then
    say "packages ($*): all installed"
    return
  fi
  say "packages ($*): installing" $missing
  as_root apt-get update -q
  as_root env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 \
    apt-get install -q -y --no-install-recommends $missing
}

# A bare root (debootstrap) has no /etc/hosts, and Redis's own test suite connects to "localhost".
name_localhost() {
  getent hosts localhost >/dev/null && return
  say "/etc/hosts: adding localhost"
  echo '127.0.0.1 localhost' | as_root tee -a /etc/hosts >/dev/null
}

# build_release [target ...]: configures once and compiles the changes, all targets if none is named.
build_release() {
  say "building ${*:-everything} into build/release"
  cd "$ROOT"
  if [ ! -f build/release/build.ninja ]; then
    cmake --preset release
  fi
  cmake --build build/release -j "$(nproc)" ${1:+--target "$@"}
}

# build/venv has redis-py and pytest; a changed requirements.txt installs again.
make_venv() {
  local stamp="$ROOT/build/venv/requirements.txt"
  if cmp -s "$ROOT/scripts/requirements.txt" "$stamp"; then
    say "build/venv: up to date"
    return
  fi
  say "build/venv: installing" $(grep -v '^#' "$ROOT/scripts/requirements.txt")
  mkdir -p "$ROOT/build"
  python3 -m venv "$ROOT/build/venv"
  "$ROOT/build/venv/bin/python" -m pip install -q --disable-pip-version-check \
    -r "$ROOT/scripts/requirements.txt"
  cp "$ROOT/scripts/requirements.txt" "$stamp"
}
