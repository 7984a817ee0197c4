# SPDX-License-Identifier: BSD-3-Clause
#
# The start of every program in bench/: builds the server, then runs the program under build/venv.
#
# It is sourced; start_program takes the program's name and its arguments. CAIRN_SERVER names another server to measure
# (a command line, such as "redis-server --appendonly yes"); then nothing is built.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/common.sh"

TARGETS=(cairn-server)  # the targets to build; a program that needs more sets them

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
