# SPDX-License-Identifier: BSD-3-Clause
"""Load through clients of clusters, whose replies and data are known exactly.

Each folder beside this file has a program for one client library. Its arguments are a prefix, a seed and the addresses
of nodes; it runs one command after the other until its standard input closes. Command number i is INCR, RPUSH, HSET or
ZADD, as i % 4 says, with the key `prefix:kind:((i * 7919 + seed) % 500)`. A reply that is not the expected one is an
error, so a write that is lost or runs twice is found at once; every eighth command is read back. It prints

    at I               sometimes
    error I TEXT       for each command that fails or whose reply is wrong
    done N LONGEST     at the end: the number of commands, and the milliseconds of the longest one
"""

import collections
import pathlib
import subprocess
import sys
import threading

from harness import by_size
from programs import Program, build, is_built, missing_toolchain

HOME = pathlib.Path(__file__).resolve().parent
MOST_END_SECONDS = 60
PROGRAMS = {
    "redis-py": Program("python", "redis-py", [sys.executable, "--version"], (3, 8), [], [sys.executable, "load.py"]),
    "go-redis": Program("go", "go-redis", ["go", "version"], (1, 18), ["go", "build", "-o", "load", "."], ["./load"]),
    "ioredis": Program("node", "ioredis", ["node", "--version"], (14,),
                       ["npm", "install", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"],
                       ["node", "load.js"]),
    "Jedis": Program("java", "Jedis", ["mvn", "--version"], (3, 6),
                     ["mvn", "-q", "-B", "package", "dependency:copy-dependencies"],
                     ["java", "-cp", "target/classes:target/dependency/*", "Load"]),
    "redis-rs": Program("rust", "redis-rs", ["cargo", "--version"], (1, 70), ["cargo", "build", "-j2"],
                        ["./target/debug/load"]),
}


def prepared_programs():
    """The programs that can run here, built; prints the others."""
    ready = []
    for name in by_size(["redis-py", "go-redis"], ["redis-py", "go-redis", "ioredis"], list(PROGRAMS)):
        program = PROGRAMS[name]
        reason = missing_toolchain(program)
        if not reason and not is_built(program, HOME):
            if program.build and by_size(True, False, False):
                reason = "not built yet, and --quick builds nothing"
            else:
                reason = build(program, HOME)
                assert not reason, f"{name} does not build: {reason}"
        if reason:
            print(f"*** SKIPPED {name}: {reason} ***")
        else:
            ready.append(program)
    return ready


class Client:
    """A running program."""

    def __init__(self, program, seed, servers):
        self.name, self.prefix, self.seed = program.library, program.name, seed
        self.at = self.commands = self.longest_ms = 0
        self.errors = []
        arguments = [self.prefix, str(seed), *(f"{server.host}:{server.port}" for server in servers)]
        self.process = subprocess.Popen([*program.run, *arguments], cwd=program.target(HOME), text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        """Ends the program. One whose command never returns is killed, which is an error."""
        self.process.stdin.close()
        self.thread.join(MOST_END_SECONDS)
        if self.thread.is_alive():
            self.errors.append("it did not end")
            self.process.kill()
            self.thread.join()
        self.process.wait()

    def _read(self):
        for line in self.process.stdout:
            words = line.split()
            if words[:1] == ["at"]:
                self.at = int(words[1])
            elif words[:1] == ["done"]:
                self.commands, self.longest_ms = int(words[1]), int(words[2])
            else:
                self.errors.append(line.strip())

    def expected(self):
        """The data after its commands: key -> value, in the form of `found`. REQUIRES: it has ended, without error."""
        data = collections.defaultdict(list)
        for i in range(self.commands):
            data[f"{self.prefix}:{'clhz'[i % 4]}:{(i * 7919 + self.seed) % 500}"].append(str(i))
        return {key: str(len(values)) if ":c:" in key else sorted(values) for key, values in data.items()}

    def found(self, servers):
        """The data of this client on the nodes."""
        data = {}
        for server in servers:
            with server.client(decode_responses=True) as client:
                for key in client.scan_iter(f"{self.prefix}:*", count=1000):
                    kind = key.split(":")[1]
                    data[key] = (client.get(key) if kind == "c" else sorted(client.lrange(key, 0, -1)) if kind == "l"
                                 else sorted(client.hkeys(key)) if kind == "h" else sorted(client.zrange(key, 0, -1)))
        return data
