# SPDX-License-Identifier: BSD-3-Clause
"""The long form of the fault rounds: each of the first calls fails once, in every mode.

Each mode has its own process. The result of each pass is appended to a file as a line of JSON; a later run with the
same file resumes there.
"""

import collections
import json
import multiprocessing
import time

from rounds import Figures, run_pass


def read_results(path, mode):
    """The results of earlier runs in a mode: (passes, numbers hit, figures)."""
    passes, hit, figures = 0, set(), Figures()
    if path.exists():
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            if row["mode"] == mode:
                passes = max(passes, row["pass"])
                hit.update(row["hit"])
                figures.add(Figures(collections.Counter(row["counts"]), collections.Counter(row["fired"]),
                                    row["violations"]))
    return passes, hit, figures


def run_mode(path, mode, seed, numbers, until):
    """Runs passes until each of the numbers was hit, or the time is over."""
    passes, hit, _ = read_results(path, mode)
    left = set(numbers) - hit
    while left and time.monotonic() < until:
        passes += 1
        figures, now_hit = run_pass(mode, f"{seed}.{passes}", lambda seen: next_number(left, seen), until)
        left -= set(now_hit)
        row = {"mode": mode, "pass": passes, "hit": now_hit, "counts": figures.counts, "fired": figures.fired,
               "violations": figures.violations}
        with open(path, "a", encoding="utf-8") as results:
            results.write(json.dumps(row) + "\n")


def next_number(left, seen):
    """The first number that was not hit yet and is still to come."""
    return min((number for number in left if number > seen), default=None)


def run(path, modes, seed, numbers, seconds):
    """Runs the modes side by side and prints the sums; returns the number of violations."""
    until = time.monotonic() + seconds
    path.parent.mkdir(parents=True, exist_ok=True)
    processes = [multiprocessing.Process(target=run_mode, args=(path, mode, seed, numbers, until)) for mode in modes]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    violations = sum(process.exitcode != 0 for process in processes)
    for mode in modes:
        passes, hit, figures = read_results(path, mode)
        print(f"\n{mode}: {passes} passes, {len(hit & set(numbers))} of {len(numbers)} numbers hit")
        print("\n".join(figures.lines()))
        violations += len(figures.violations)
    return violations
