// SPDX-License-Identifier: BSD-3-Clause
// redlock: a lock has one owner at a time, for the requested duration. Arguments: host port.
"use strict";

const IORedis = require("ioredis");
const Redlock = require("redlock");
const { check, errorOf, main, sleep } = require("./checks.js");

/** A lock is acquired, refused to others, extended, released. */
async function oneLock(host, port) {
  const client = new IORedis({ host, port });
  const locks = new Redlock([client], { retryCount: 0 });
  const lock = await locks.lock("resource", 2000);
  check("refused", await errorOf(() => locks.lock("resource", 2000)), "LockError");
  const longer = await lock.extend(5000);
  check("extend", (await client.pttl("resource")) > 2500, true);
  await longer.unlock();
  check("unlock", await client.exists("resource"), 0);
  check("unlock twice", await errorOf(() => longer.unlock()), "LockError");
  const short = await locks.lock(["first", "second"], 100);
  check("two resources", await client.exists("first", "second"), 2);
  await sleep(150);
  const next = await locks.lock(["second"], 1000);
  check("one that has run out is no lock", next.value !== short.value, true);
  check("nor can it be given back", await errorOf(() => short.unlock()), "LockError");
  await next.unlock();
  client.disconnect();
}

/** Twenty clients that want one lock: a counter that they read and write under it misses no increment. */
async function contention(host, port) {
  const client = new IORedis({ host, port });
  const clients = Array.from({ length: 20 }, () => new IORedis({ host, port }));
  let inside = 0;
  let most = 0;
  await Promise.all(
    clients.map(async (one) => {
      const locks = new Redlock([one], { retryCount: -1, retryDelay: 3, retryJitter: 5 });
      for (let i = 0; i < 5; i += 1) {
        const lock = await locks.lock("counter lock", 10000);
        inside += 1;
        most = Math.max(most, inside);
        await one.set("counter", Number(await one.get("counter")) + 1);
        inside -= 1;
        await lock.unlock();
      }
      one.disconnect();
    })
  );
  check("one at a time", most, 1);
  check("counter", await client.get("counter"), "100");
  client.disconnect();
}

main("redlock", [oneLock, contention]);
