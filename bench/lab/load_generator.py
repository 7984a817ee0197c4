# SPDX-License-Identifier: BSD-3-Clause
"""Runs redis-benchmark and reads its figures."""

import csv
import dataclasses
import subprocess


@dataclasses.dataclass(frozen=True)
class Figures:
    """Results of redis-benchmark: requests a second, and latencies in milliseconds."""

    throughput: float
    p50_ms: float
    p99_ms: float


def run_redis_benchmark(port: int, *arguments: str, limit_s: float = 600) -> Figures:
    """Runs redis-benchmark for one row and returns its figures; an error reply is an exception."""
    command = ["redis-benchmark", "-h", "127.0.0.1", "-p", str(port), "--csv", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=limit_s)
    if done.returncode != 0 or "rror" in done.stdout + done.stderr:
        raise RuntimeError(f"{' '.join(command)}: {done.stdout}{done.stderr}".strip())
    rows = list(csv.DictReader(line for line in done.stdout.splitlines() if line.startswith('"')))
    if len(rows) != 1:
        raise RuntimeError(f"{' '.join(command)} printed {len(rows)} rows: {done.stdout}")
    row = rows[0]
    return Figures(float(row["rps"]), float(row["p50_latency_ms"]), float(row["p99_latency_ms"]))
