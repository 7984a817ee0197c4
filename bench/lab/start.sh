# SPDX-License-Identifier: BSD-3-Clause
#
# How every program in bench/ starts: build what is to be measured, then run it under build/venv.
#
# Sourced; start_program takes the program's name and its arguments. CAIRN_SERVER names another
# server to measure instead (a command line, such as "redis-server --appendonly yes"); nothing is
# built then.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/common.sh"

TARGETS=(cairn-server)  # to be built; a program that needs more names them

start_program() {
  local program="$1" target
  shift
  install_packages build test >&2
  if [ -z "${CAIRN_SERVER:-}" ]; then
    for target in "${TARGETS[@]}"; do (build_release "$target") >&2; done
  fi
  make_venv >&2
  exec "$ROOT/build/venv/bin/python" "$ROOT/bench/lab/$program.py" "$@"
}
