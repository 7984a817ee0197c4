# SPDX-License-Identifier: BSD-3-Clause
"""RQ: jobs with results, dependencies, retries and delays. Arguments: host port."""

import sys
import time

import redis
import rq
from rq.registry import FailedJobRegistry, FinishedJobRegistry, ScheduledJobRegistry

from checks import Running, check, main, until

JOBS = 100


def double(number):
    """Twice the number."""
    return number * 2


def fail_twice(key, port):
    """Counts its attempts in the server and fails the first two."""
    attempts = redis.Redis(port=port).incr(key)
    if attempts < 3:
        raise ValueError(attempts)
    return attempts


def fail():
    """Always fails."""
    raise ValueError("no")


def follow():
    """The return value of the job it depends on, plus one."""
    return rq.get_current_job().dependency.return_value() + 1


def ended(jobs):
    """Whether all jobs have ended."""
    return all(job.get_status(refresh=True) in ("finished", "failed") for job in jobs)


def check_results(queue):
    """A hundred jobs and the keys that remain."""
    jobs = queue.enqueue_many([rq.Queue.prepare_data(double, (n,)) for n in range(JOBS)])
    until(lambda: ended(jobs))
    check("results", [job.return_value(refresh=True) for job in jobs], [2 * n for n in range(JOBS)])
    check("queue", (len(queue), len(FinishedJobRegistry(queue=queue))), (0, JOBS))
    jobs[0].delete()
    check("deleted", rq.job.Job.exists(jobs[0].id, queue.connection), False)


def check_dependencies(queue):
    """A job that waits for another's result."""
    first = queue.enqueue(double, 20)
    second = queue.enqueue(follow, depends_on=first)
    until(lambda: ended([second]))
    check("dependency", second.return_value(refresh=True), 41)


def check_failures(queue):
    """Retries, and a job that always fails."""
    port = queue.connection.connection_pool.connection_kwargs["port"]
    tried = queue.enqueue(fail_twice, "attempts", port, retry=rq.Retry(max=3))
    failed = queue.enqueue(fail)
    until(lambda: ended([failed]) and tried.get_status(refresh=True) == "finished")
    check("retried", tried.return_value(refresh=True), 3)
    check("failed", FailedJobRegistry(queue=queue).get_job_ids(), [failed.id])
    check("why", "ValueError: no" in failed.latest_result().exc_string, True)


def check_delay(queue):
    """A delayed job does not block the queue."""
    due = time.time() + 1
    job = queue.enqueue_at(rq.utils.now() + rq_delay(1), double, 4)
    check("scheduled", ScheduledJobRegistry(queue=queue).get_job_ids(), [job.id])
    until(lambda: ended([job]))
    check("delayed", (job.return_value(refresh=True), time.time() >= due - 1), (8, True))


def rq_delay(seconds):
    """This many seconds, in the form that RQ expects."""
    import datetime

    return datetime.timedelta(seconds=seconds)


def run():
    """Starts the worker and runs the parts."""
    host, port = sys.argv[1:3]
    queue = rq.Queue("work", connection=redis.Redis(host, int(port)))
    worker = [sys.executable, "-m", "rq.cli", "worker", "--url", f"redis://{host}:{port}", "--worker-class",
              "rq.SimpleWorker", "--with-scheduler", "--path", ".", "--quiet", "work"]
    with Running(worker) as running:
        status = main("RQ", [check_results, check_dependencies, check_failures, check_delay], queue)
        if status:
            print("".join(running.said[-20:]))
    return status


if __name__ == "__main__":
    import rq_jobs  # jobs are named after their module; a worker cannot import __main__

    sys.exit(rq_jobs.run())
