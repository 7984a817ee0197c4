# SPDX-License-Identifier: BSD-3-Clause
"""Redis's tests of clusters: tests/cluster, whose runner starts twenty servers for each file, and the files of the
suite that start a cluster of their own.

The processes of tests/cluster are not those of the rest of the suite: cluster_driver.tcl reports their tests.
"""

import pathlib
import random
import re
import shutil

import suite_process

DRIVER = pathlib.Path(__file__).resolve().parent / "cluster_driver.tcl"
FOLDER = "cluster/"  # the beginning of the names of files of tests/cluster
# Three minutes of the files that cover most.
SHORT_UNITS = [
    "unit/cluster",
    "unit/cluster-scripting",
    "unit/cluster/announced-endpoints",
    "unit/cluster/links",
    "unit/cluster/misc",
    "cluster/02-failover",
    "cluster/23-multiple-slot-operations",
    "cluster/25-pubsubshard-slot-migration",
    "cluster/27-endpoints",
]
UNITS = [
    "unit/cluster",
    "unit/cluster-scripting",
    "unit/cluster/announced-endpoints",
    "unit/cluster/links",
    "unit/cluster/misc",
    "unit/cluster/packet",
    "cluster/00-base",
    "cluster/01-faildet",
    "cluster/02-failover",
    "cluster/03-failover-loop",
    "cluster/04-resharding",
    "cluster/05-slave-selection",
    "cluster/06-slave-stop-cond",
    "cluster/07-replica-migration",
    "cluster/08-update-msg",
    "cluster/09-pubsub",
    "cluster/10-manual-failover",
    "cluster/11-manual-takeover",
    "cluster/12-replica-migration-2",
    "cluster/12.1-replica-migration-3",
    "cluster/13-no-failover-option",
    "cluster/14-consistency-check",
    "cluster/15-cluster-slots",
    "cluster/16-transactions-on-replica",
    "cluster/17-diskless-load-swapdb",
    "cluster/18-info",
    "cluster/19-cluster-nodes-slots",
    "cluster/22-replica-in-sync",
    "cluster/23-multiple-slot-operations",
    "cluster/24-links",
    "cluster/25-pubsubshard-slot-migration",
    "cluster/26-pubsubshard",
    "cluster/27-endpoints",
    "cluster/28-cluster-shards",
    "cluster/29-slot-migration-response",
]
# The nodes that are killed are random, and so are the tests about them.
CHANCE = {"cluster/03-failover-loop"}
DRAWN = {"cluster/03-failover-loop": re.compile(r"(?<=#)\d+|(?<=epoch )\d+")}
DENIED_TAGS = ["large-memory"]
FIRST_PORTS = range(11000, 16000, 1000)  # the ports of the bus are 10000 above
TEST_TIMEOUT_S = 900  # a test of the resharding writes 200,000 elements


class ClusterProcess(suite_process.TestProcess):
    """A tclsh that runs a file of tests/cluster."""

    def __init__(self, tree, unit, skip_tests, log_path, environment):
        self.instances = tree / "tests" / "cluster" / "tmp"
        first_port = str(random.choice(FIRST_PORTS))
        skipped = suite_process.tcl_list(*skip_tests) if skip_tests else ""
        super().__init__(
            tree, lambda port: ["tclsh", str(DRIVER), str(port), first_port, skipped, unit], log_path, environment
        )

    def close(self):
        """Stops the tclsh and its servers, and deletes their files."""
        super().close()
        for path in self.instances.glob("redis_*"):
            shutil.rmtree(path, ignore_errors=True)
