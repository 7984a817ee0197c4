# SPDX-License-Identifier: BSD-3-Clause
"""Celery with broker and results in the same server. Arguments: host port.

The worker is a separate process, which imports this file for its tasks and gets the server's address from the
environment.
"""

import os
import sys
import time

import celery
import redis

from checks import LIMIT_S, Running, check, main, until

TASKS = 100
URL = os.environ.get("FRAMEWORK_URL", "redis://127.0.0.1:6379")

app = celery.Celery("celery_tasks", broker=URL + "/0", backend=URL + "/1")
app.conf.update(broker_connection_retry_on_startup=True, result_expires=1000,
                worker_send_task_events=True)


@app.task
def double(number):
    """Twice the number."""
    return number * 2


@app.task
def total(numbers):
    """The sum; the callback of a chord."""
    return sum(numbers)


@app.task(bind=True, max_retries=3)
def third_time(self, number):
    """Fails twice."""
    if self.request.retries < 2:
        raise self.retry(countdown=0.1)
    return number + self.request.retries


@app.task
def fail(text):
    """Always fails."""
    raise ValueError(text)


@app.task
def now():
    """The time at which it ran."""
    return time.time()


def check_results(_):
    """A hundred tasks, their results, and the keys that remain."""
    results = [double.delay(n) for n in range(TASKS)]
    check("results", [r.get(timeout=LIMIT_S) for r in results], [2 * n for n in range(TASKS)])
    check("states", {r.state for r in results}, {"SUCCESS"})
    for result in results:
        result.forget()
    check("forgotten", results[0].state, "PENDING")


def check_retries(_):
    """Tasks that fail at first, and one that always fails."""
    results = [third_time.delay(n) for n in range(10)]
    check("retried", [r.get(timeout=LIMIT_S) for r in results], [n + 2 for n in range(10)])
    failed = fail.delay("no")
    check("error", repr(failed.get(timeout=LIMIT_S, propagate=False)), "ValueError('no')")
    check("failed", failed.state, "FAILURE")


def check_delay(_):
    """A task with a countdown does not run before its time."""
    earliest = time.time() + 1
    check("countdown", now.apply_async(countdown=1).get(timeout=LIMIT_S) >= earliest - 0.01, True)


def check_canvas(_):
    """Groups, chains and chords."""
    group = celery.group(double.s(n) for n in range(20))
    check("group", group.apply_async().get(timeout=LIMIT_S), [2 * n for n in range(20)])
    chain = celery.chain(double.s(1), double.s(), double.s())
    check("chain", chain.apply_async().get(timeout=LIMIT_S), 8)
    chord = celery.chord((double.s(n) for n in range(20)), total.s())
    check("chord", chord.apply_async().get(timeout=LIMIT_S), 380)


def check_remote_control(client):
    """The worker replies over pub/sub, and the queue is empty afterwards."""
    check("ping", [list(reply.values()) for reply in app.control.ping(timeout=5)],
          [[{"ok": "pong"}]])
    until(lambda: client.hlen("unacked") == 0)
    check("all acknowledged", (client.llen("celery"), client.hlen("unacked")), (0, 0))


def run():
    """Starts the worker and runs the parts."""
    host, port = sys.argv[1:3]
    os.environ["FRAMEWORK_URL"] = url = f"redis://{host}:{port}"
    app.conf.update(broker_url=url + "/0", result_backend=url + "/1")
    client = redis.Redis(host, int(port))
    worker = [sys.executable, "-m", "celery", "-A", "celery_tasks", "worker", "--pool", "threads",
              "--concurrency", "4", "--without-gossip", "--without-mingle", "-l", "WARNING"]
    with Running(worker) as running:
        status = main("Celery", [check_results, check_retries, check_delay, check_canvas,
                                 check_remote_control], client)
        if status:
            print("".join(running.said[-20:]))
    return status


if __name__ == "__main__":
    import celery_tasks  # tasks are named after the module celery_tasks, not __main__

    sys.exit(celery_tasks.run())
