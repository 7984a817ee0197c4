// SPDX-License-Identifier: BSD-3-Clause
//
// The load of tests/clusters/cluster_load.py through ioredis's client of clusters.
'use strict';

const Redis = require('ioredis');

const [prefix, seed, ...addresses] = process.argv.slice(2);
const nodes = addresses.map((address) => {
  const [host, port] = address.split(':');
  return { host, port: Number(port) };
});

// run runs command number i; it throws if the reply is not the expected one.
async function run(client, i, counts) {
  const kind = 'clhz'[i % 4];
  const key = `${prefix}:${kind}:${(i * 7919 + Number(seed)) % 500}`;
  let reply;
  if (kind === 'c') reply = await client.incr(key);
  else if (kind === 'l') reply = await client.rpush(key, i);
  else if (kind === 'h') reply = await client.hset(key, i, i);
  else reply = await client.zadd(key, i, i);
  let expected = 1;
  if (kind === 'c' || kind === 'l') {
    expected = (counts.get(key) || 0) + 1;
    counts.set(key, expected);
  }
  if (reply !== expected) throw new Error(`${key}: ${reply} instead of ${expected}`);
  if (i % 8 === 0 && Number(await client.get(key)) !== expected) throw new Error(`${key}: not ${expected} is read`);
}

async function main() {
  const client = new Redis.Cluster(nodes);
  client.on('error', (error) => console.log('error', 'connection', error.message));
  let ended = false;
  process.stdin.resume();
  process.stdin.on('end', () => { ended = true; });
  const counts = new Map();
  let longest = 0;
  let i = 0;
  for (; !ended; i += 1) {
    const begin = Date.now();
    try {
      await run(client, i, counts);
    } catch (error) {
      console.log('error', i, error.message);
    }
    longest = Math.max(longest, Date.now() - begin);
    if (i % 100 === 0) console.log('at', i);
  }
  console.log('done', i, longest);
  client.disconnect();
}

main();
