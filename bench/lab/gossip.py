# SPDX-License-Identifier: BSD-3-Clause
"""The cost of the cluster bus by the number of nodes.

All nodes run in one thread with a simulated clock and network (lab/gossip.cc, tests/cluster/simulated_cluster.h), half
of them masters with a replica each. The figures are per node and second of the simulated time, and the milliseconds
from the death of a master until the first and the last node know of it, and until all see its replica in its place.
500 nodes take 2 minutes of a core, 1,000 take 16, and 11 GB of memory.
Exit status 1 if a failure is not known everywhere within two node timeouts.
"""

import argparse
import json
import pathlib
import subprocess
import sys

from servers import ROOT

PROGRAM = ROOT / "build" / "release" / "cairn_gossip"
COLUMNS = ("nodes", "messages/s", "KB/s sent", "ms CPU/s", "first ms", "all ms", "replaced ms")


def parse_options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, nargs="+", default=[6, 100, 200, 500, 1000])
    parser.add_argument("--seconds", type=int, default=5, help="that are measured before the failure")
    parser.add_argument("--timeout", type=int, default=15000, metavar="MS", help="cluster-node-timeout")
    parser.add_argument("--json", type=pathlib.Path)
    return parser.parse_args()


def main() -> int:
    """Runs the sizes; returns the exit status."""
    options = parse_options()
    runs = []
    print("".join(f"{name:>14}" for name in COLUMNS))
    for nodes in options.nodes:
        done = subprocess.run([PROGRAM, str(nodes), str(options.seconds), str(options.timeout)], check=True,
                              capture_output=True, text=True)
        run = json.loads(done.stdout)
        runs.append(run)
        values = (nodes, run["messages"], run["bytes"] / 1000, run["cpu_ms"], run["first_ms"], run["all_ms"],
                  run["replaced_ms"])
        texts = (f"{value:.1f}" if isinstance(value, float) else str(value) for value in values)
        print("".join(f"{text:>14}" for text in texts), flush=True)
    if options.json:
        options.json.write_text(json.dumps(runs, indent=1))
    return 1 if any(not 0 < run["all_ms"] <= 2 * options.timeout for run in runs) else 0


if __name__ == "__main__":
    sys.exit(main())
