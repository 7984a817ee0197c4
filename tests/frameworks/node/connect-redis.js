// SPDX-License-Identifier: BSD-3-Clause
// connect-redis: sessions of express-session, over HTTP and by direct calls of the store. Arguments: host port.
"use strict";

const http = require("node:http");
const session = require("express-session");
const IORedis = require("ioredis");
const { RedisStore } = require("connect-redis");
const { createClient } = require("redis");
const { check, main, sleep, until } = require("./checks.js");

/** A page that counts its visits in the session; /leave destroys the session. */
function serve(store) {
  const sessions = session({ store, secret: "s", resave: false, saveUninitialized: false, name: "sid" });
  const server = http.createServer((request, response) => {
    sessions(request, response, () => {
      if (request.url === "/leave") return request.session.destroy(() => response.end("left"));
      request.session.visits = (request.session.visits || 0) + 1;
      return response.end(String(request.session.visits));
    });
  });
  return new Promise((done) => server.listen(0, "127.0.0.1", () => done(server)));
}

/** The visits of a visitor with a cookie; those of another are counted separately. */
async function overHttp(host, port) {
  const client = await createClient({ socket: { host, port } }).connect();
  const server = await serve(new RedisStore({ client, prefix: "web:", ttl: 100 }));
  const visit = async (cookie, path = "/") => {
    const headers = cookie ? { cookie } : {};
    const response = await fetch(`http://127.0.0.1:${server.address().port}${path}`, { headers });
    const given = response.headers.get("set-cookie");
    return { text: await response.text(), cookie: given ? given.split(";")[0] : cookie };
  };
  const first = await visit();
  const counts = [first.text];
  for (let i = 0; i < 4; i += 1) counts.push((await visit(first.cookie)).text);
  check("visits", counts, ["1", "2", "3", "4", "5"]);
  check("another visitor", (await visit()).text, "1");
  const crowd = await Promise.all(Array.from({ length: 50 }, () => visit()));
  check("many visitors", new Set(crowd.map((one) => one.cookie)).size, 50);
  check("sessions", (await client.keys("web:*")).length, 52);
  check("ttl", (await client.ttl((await client.keys("web:*"))[0])) > 90, true);
  check("leave", [(await visit(first.cookie, "/leave")).text, (await visit(first.cookie)).text], ["left", "1"]);
  server.close();
  server.closeAllConnections();
  await client.close();
}

/** The store, with the other client it supports: set, get, touch, all, ids, destroy, clear, expired sessions. */
async function byCalls(host, port) {
  const client = new IORedis({ host, port });
  const store = new RedisStore({ client, prefix: "call:", ttl: 50 });
  const end = (maxAge) => maxAge && new Date(Date.now() + maxAge);
  const data = (n, maxAge) => ({ n, cookie: { originalMaxAge: maxAge, expires: end(maxAge) } });
  await store.set("a", data(1));
  check("get", (await store.get("a")).n, 1);
  check("get of nothing", await store.get("none"), null);
  check("ttl", await client.ttl("call:a"), 50);
  await client.expire("call:a", 5);
  await store.touch("a", data(1));
  check("touch", await client.ttl("call:a"), 50);
  for (let n = 0; n < 300; n += 1) await store.set(`n${n}`, data(n));
  check("length", await store.length(), 301);
  check("ids", (await store.ids()).length, 301);
  check("all", (await store.all()).reduce((sum, one) => sum + one.n, 0), 1 + (299 * 300) / 2);
  await store.set("short", data(9, 1200));
  check("before its end", (await store.get("short")).n, 9);
  await sleep(1300);
  await until(async () => (await store.get("short")) === null);
  check("after its end", await store.get("short"), null);
  await store.destroy("a");
  check("destroy", await store.get("a"), null);
  await store.clear();
  check("clear", [await store.length(), await client.keys("call:*")], [0, []]);
  client.disconnect();
}

main("connect-redis", [overHttp, byCalls]);
