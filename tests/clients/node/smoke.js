// SPDX-License-Identifier: BSD-3-Clause
//
// ioredis: every family once. Arguments: host port.
"use strict";
const assert = require("node:assert");
const Redis = require("ioredis");

let passed = 0;
let failed = 0;

// Counts one comparison; `actual` may be a promise.
async function check(name, actual, expected) {
  try {
    assert.deepStrictEqual(await actual, expected);
    passed += 1;
  } catch (error) {
    failed += 1;
    console.log(`FAILED ${name}: ${error.message}`);
  }
}

async function checkStrings(r) {
  await check("set", r.set("s", "one", "EX", 1000), "OK");
  await check("set nx", r.set("s", "two", "NX"), null);
  await check("append", r.append("s", "!"), 4);
  await check("getrange", r.getrange("s", 0, 2), "one");
  await check("strlen", r.strlen("s"), 4);
  await check("incrby", r.incrby("n", 5), 5);
  await check("incrbyfloat", r.incrbyfloat("n", 0.5), "5.5");
  await check("mset", r.mset({ a: 1, b: 2 }), "OK");
  await check("mget", r.mget("a", "b", "none"), ["1", "2", null]);
  await check("getdel", r.getdel("a"), "1");
  await check("bytes", r.set("raw", Buffer.from([0, 13, 10, 255])), "OK");
  await check("bytes back", r.getBuffer("raw"), Buffer.from([0, 13, 10, 255]));
  await check("wrong type", r.lpush("s", 1).catch((e) => e.message.slice(0, 9)), "WRONGTYPE");
}

async function checkHashes(r) {
  await check("hset", r.hset("h", { f: "v", n: 1 }), 2);
  await check("hget", r.hget("h", "f"), "v");
  await check("hgetall", r.hgetall("h"), { f: "v", n: "1" });
  await check("hmget", r.hmget("h", "n", "none"), ["1", null]);
  await check("hincrby", r.hincrby("h", "n", 2), 3);
  await check("hincrbyfloat", r.hincrbyfloat("h", "n", 0.5), "3.5");
  await check("hkeys", r.hkeys("h"), ["f", "n"]);
  await check("hscan", r.hscan("h", 0), ["0", ["f", "v", "n", "3.5"]]);
  await check("hdel", r.hdel("h", "f", "none"), 1);
  await check("hexists", r.hexists("h", "f"), 0);
}

async function checkSets(r) {
  await check("sadd", r.sadd("x", 1, 2, 3), 3);
  await check("sadd y", r.sadd("y", 2, 3, 4), 3);
  await check("smembers", r.smembers("x"), ["1", "2", "3"]);
  await check("sinter", r.sinter("x", "y").then((m) => m.sort()), ["2", "3"]);
  await check("sdiffstore", r.sdiffstore("d", "x", "y"), 1);
  await check("sismember", r.sismember("d", 1), 1);
  await check("smove", r.smove("x", "y", 1), 1);
  await check("spop", r.spop("d"), "1");
  await check("scard", r.scard("y"), 4);
}

async function checkSortedSets(r) {
  await check("zadd", r.zadd("z", 1, "a", 2.5, "b", 3, "c"), 3);
  await check("zrange", r.zrange("z", 0, -1), ["a", "b", "c"]);
  await check("zrange by score", r.zrange("z", "(1", "+inf", "BYSCORE", "LIMIT", 0, 1), ["b"]);
  await check("zrevrange", r.zrevrange("z", 0, 0, "WITHSCORES"), ["c", "3"]);
  await check("zscore", r.zscore("z", "b"), "2.5");
  await check("zrank", r.zrank("z", "none"), null);
  await check("zincrby", r.zincrby("z", 10, "a"), "11");
  await check("zunionstore", r.zunionstore("u", 1, "z", "WEIGHTS", 2), 3);
  await check("zpopmin", r.zpopmin("z"), ["b", "2.5"]);
  await check("zcount", r.zcount("z", 3, 11), 2);
}

async function checkLists(r) {
  await check("rpush", r.rpush("l", "a", "b", "c"), 3);
  await check("lpush", r.lpush("l", "z"), 4);
  await check("lrange", r.lrange("l", 0, -1), ["z", "a", "b", "c"]);
  await check("linsert", r.linsert("l", "BEFORE", "b", "n"), 5);
  await check("lpos", r.lpos("l", "b"), 3);
  await check("lrem", r.lrem("l", 1, "n"), 1);
  await check("lmove", r.lmove("l", "m", "RIGHT", "LEFT"), "c");
  await check("ltrim", r.ltrim("l", 0, 1), "OK");
  await check("rpop", r.rpop("l", 5), ["a", "z"]);
  await check("empty list is no key", r.exists("l"), 0);
}

async function checkKeys(r) {
  await check("type", r.type("h"), "hash");
  await check("encoding", r.object("ENCODING", "y"), "intset");
  await check("expire", r.expire("s", 100), 1);
  await check("ttl", r.ttl("s"), 100);
  await check("persist", r.persist("s"), 1);
  await check("rename", r.rename("s", "k2"), "OK");
  await check("copy", r.copy("k2", "k3"), 1);
  await check("move", r.move("k3", 1), 1);
  await check("scan", scanAll(r, "k*"), ["k2"]);
  await check("del", r.del("k2", "none"), 1);
  await check("select", r.select(1), "OK");
  await check("other database", r.dbsize(), 1);
  await check("flushdb", r.flushdb(), "OK");
  await check("select back", r.select(0), "OK");
}

async function scanAll(r, match) {
  const found = [];
  for await (const keys of r.scanStream({ match })) {
    found.push(...keys);
  }
  return found.sort();
}

async function checkServer(r) {
  await check("ping", r.ping(), "PONG");
  await check("client", r.client("SETNAME", "smoke"), "OK");
  await check("client name", r.client("GETNAME"), "smoke");
  await check("config", r.config("GET", "databases"), ["databases", "16"]);
  await check("info", r.info("server").then((t) => /redis_version:\d+\./.test(t)), true);
  await check("command", r.command("COUNT").then((n) => n > 100), true);
  await check("time", r.time().then((t) => Number(t[0]) > 1.6e9), true);
  await check("unknown", r.call("NOSUCH").catch((e) => e.message.slice(0, 28)),
    "ERR unknown command 'NOSUCH'");
}

async function checkPipeline(r) {
  const pipeline = r.pipeline();
  for (let i = 0; i < 1000; i += 1) {
    pipeline.set(`p${i}`, i).get(`p${i}`);
  }
  const replies = await pipeline.exec();
  await check("pipeline", replies.filter((_, i) => i % 2).map(([, value]) => Number(value)),
    Array.from({ length: 1000 }, (_, i) => i));
}

async function main() {
  const r = new Redis(Number(process.argv[3]), process.argv[2], { maxRetriesPerRequest: 0 });
  await r.flushall();
  for (const checks of [checkStrings, checkHashes, checkSets, checkSortedSets, checkLists,
    checkKeys, checkServer, checkPipeline]) {
    await checks(r);
  }
  r.disconnect();
  console.log(`ioredis: ${passed} passed, ${failed} failed`);
  process.exitCode = failed ? 1 : 0;
}

main();
