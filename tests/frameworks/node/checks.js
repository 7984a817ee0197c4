// SPDX-License-Identifier: BSD-3-Clause
// Shared by the programs of this folder: comparing, counting, and the last line.
"use strict";

const { isDeepStrictEqual, inspect } = require("node:util");

const LIMIT_MS = 100000;
let passed = 0;
let failed = 0;

/** Counts one comparison. */
function check(name, actual, expected) {
  if (isDeepStrictEqual(actual, expected)) {
    passed += 1;
  } else {
    failed += 1;
    console.log(`FAILED ${name}: expected ${inspect(expected)}, got ${inspect(actual)}`);
  }
}

/** The name and text of the error that the call must raise. */
async function errorOf(call) {
  try {
    return `no error, but ${inspect(await call())}`;
  } catch (error) {
    return error.name;
  }
}

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

/** Waits until `holds` returns true, with a time limit. */
async function until(holds) {
  for (let i = 0; i < 1500 && !(await holds()); i += 1) await sleep(20);
}

/** Runs the parts one after the other, prints the result and ends the process. */
async function main(name, parts) {
  const [host, port] = [process.argv[2], Number(process.argv[3])];
  setTimeout(() => {
    console.log(`${name}: no end after ${LIMIT_MS / 1000} s: ${passed} passed, ${failed + 1} failed`);
    process.exit(1);
  }, LIMIT_MS).unref();
  for (const part of parts) {
    try {
      await part(host, port);
    } catch (error) {
      failed += 1;
      console.log(`FAILED ${part.name}: ${error.stack}`);
    }
  }
  console.log(`${name}: ${passed} passed, ${failed} failed`);
  process.exit(failed ? 1 : 0);
}

module.exports = { check, errorOf, sleep, until, main };
