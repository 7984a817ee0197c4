// SPDX-License-Identifier: BSD-3-Clause
// BullMQ: jobs that are delayed, fail, have priorities, depend on others and repeat. Arguments: host port.
"use strict";

const { FlowProducer, Queue, QueueEvents, Worker } = require("bullmq");
const IORedis = require("ioredis");
const { check, main, until } = require("./checks.js");

const JOBS = 200;
const connect = (host, port) => new IORedis({ host, port, maxRetriesPerRequest: null });

/** Two hundred jobs; every fourth is delayed and every tenth fails at first. Each is completed once. */
async function manyJobs(host, port) {
  const connection = connect(host, port);
  const queue = new Queue("many", { connection });
  const events = new QueueEvents("many", { connection: connect(host, port) });
  await events.waitUntilReady();
  let heard = 0;
  events.on("completed", () => (heard += 1));
  const done = new Map();
  let early = 0;
  const work = async (job) => {
    if (Date.now() < job.data.notBefore) early += 1;
    if (job.data.fails && job.attemptsMade === 0) throw new Error("the first attempt");
    done.set(job.data.n, (done.get(job.data.n) || 0) + 1);
    return job.data.n * 2;
  };
  const worker = new Worker("many", work, { connection: connect(host, port), concurrency: 10 });
  const now = Date.now();
  const jobs = await queue.addBulk(
    Array.from({ length: JOBS }, (_, n) => {
      const delay = n % 4 === 0 ? 100 + n * 5 : 0;
      const data = { n, fails: n % 10 === 0, notBefore: now + delay };
      const opts = { delay, attempts: 3, backoff: { type: "fixed", delay: 50 }, priority: n % 5 };
      return { name: "double", data, opts };
    })
  );
  const results = await Promise.all(jobs.map((job) => job.waitUntilFinished(events, 60000)));
  check("results", results, Array.from({ length: JOBS }, (_, n) => n * 2));
  check("each is done once", [...done.values()].every((times) => times === 1) && done.size, JOBS);
  check("none comes before its time", early, 0);
  check("counts", await queue.getJobCounts("waiting", "active", "delayed", "prioritized", "completed", "failed"),
    { waiting: 0, active: 0, delayed: 0, prioritized: 0, completed: JOBS, failed: 0 });
  await until(() => heard === JOBS);
  check("events", heard, JOBS);
  const tried = await Promise.all(jobs.filter((job) => job.data.fails).map((job) => queue.getJob(job.id)));
  check("attempts", tried.every((job) => job.attemptsMade === 2) && tried.length, JOBS / 10);
  check("progress and logs", await (async () => {
    await jobs[0].updateProgress(42);
    await jobs[0].log("a line");
    return [(await queue.getJob(jobs[0].id)).progress, (await queue.getJobLogs(jobs[0].id)).logs];
  })(), [42, ["a line"]]);
  await worker.close();
  await events.close();
  await queue.obliterate({ force: true });
  check("obliterate", await connection.keys("bull:many:*"), []);
  await queue.close();
}

/** Jobs added to a paused queue are processed in the order of their priorities. */
async function priorities(host, port) {
  const queue = new Queue("ordered", { connection: connect(host, port) });
  await queue.pause();
  for (const priority of [3, 1, 2, 1, 3, 2]) await queue.add("job", { priority }, { priority });
  const order = [];
  const worker = new Worker("ordered", async (job) => order.push(job.data.priority),
    { connection: connect(host, port), concurrency: 1 });
  await queue.resume();
  await until(() => order.length === 6);
  check("priorities", order, [1, 1, 2, 2, 3, 3]);
  await worker.close();
  await queue.close();
}

/** A job that always fails ends among the failed jobs, and can be retried by hand. */
async function failures(host, port) {
  const queue = new Queue("failing", { connection: connect(host, port) });
  let broken = true;
  const work = async () => {
    if (broken) throw new Error("broken");
    return "mended";
  };
  const worker = new Worker("failing", work, { connection: connect(host, port) });
  const job = await queue.add("job", {}, { attempts: 2 });
  await until(() => job.isFailed());
  check("failed", [await queue.getFailedCount(), (await queue.getJob(job.id)).failedReason], [1, "broken"]);
  broken = false;
  await (await queue.getJob(job.id)).retry();
  await until(() => job.isCompleted());
  check("retried", (await queue.getJob(job.id)).returnvalue, "mended");
  await worker.close();
  await queue.close();
}

/** A parent runs after its children, and gets their return values. */
async function flow(host, port) {
  const flows = new FlowProducer({ connection: connect(host, port) });
  let sum = null;
  const children = new Worker("parts", async (job) => job.data.n, { connection: connect(host, port), concurrency: 4 });
  const parents = new Worker("wholes", async (job) => {
    sum = Object.values(await job.getChildrenValues()).reduce((a, b) => a + b, 0);
  }, { connection: connect(host, port) });
  await flows.add({
    name: "sum",
    queueName: "wholes",
    children: Array.from({ length: 10 }, (_, n) => ({ name: "part", queueName: "parts", data: { n } })),
  });
  await until(() => sum !== null);
  check("flow", sum, 45);
  await Promise.all([children.close(), parents.close(), flows.close()]);
}

/** A scheduler creates jobs until it is removed. */
async function schedule(host, port) {
  const queue = new Queue("ticking", { connection: connect(host, port) });
  let ticks = 0;
  const worker = new Worker("ticking", async () => (ticks += 1), { connection: connect(host, port) });
  await queue.upsertJobScheduler("clock", { every: 100 }, { name: "tick" });
  await until(() => ticks >= 3);
  check("schedule", ticks >= 3, true);
  check("one schedule", (await queue.getJobSchedulers()).length, 1);
  check("taken away", await queue.removeJobScheduler("clock"), true);
  await worker.close();
  await queue.close();
}

main("BullMQ", [manyJobs, priorities, failures, flow, schedule]);
