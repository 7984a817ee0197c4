# SPDX-License-Identifier: BSD-3-Clause
#
# What the scripts share: install what is missing, build, make the Python environment.
#
# Sourced, never run. Everything it does is printed first, everything it makes lives under build/,
# and a second call finds the work done and does nothing. sudo is used for apt-get and a
# missing /etc/hosts alone, and only by a user who is not root.

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

# Packages of the named groups of packages.txt that dpkg does not know as installed.
missing_packages() {
  local group package state
  for group in "$@"; do
    for package in $(awk -v g="$group" '$1 == g { print $2 }' "$ROOT/scripts/packages.txt"); do
      state="$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)"
      [ "$state" = installed ] || echo "$package"
    done
  done
}

# RUNLEVEL=1 keeps Debian's maintainer scripts from starting services where no systemd runs (a
# chroot, a container): the tests start the redis-server they need themselves, on free ports.
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

# build_release [target]: configures once and compiles what changed, all targets if none is named.
build_release() {
  say "building ${1:-everything} into build/release"
  cd "$ROOT"
  if [ ! -f build/release/build.ninja ]; then
    cmake --preset release
  fi
  cmake --build build/release -j "$(nproc)" ${1:+--target "$1"}
}

# build/venv holds redis-py and pytest; a changed requirements.txt installs again.
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
