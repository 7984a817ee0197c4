# SPDX-License-Identifier: BSD-3-Clause
"""Sends a large RDB file of redis-server through cairn-import and cairn-export, back into redis-server.

redis-server is filled with all types, many small keys and some collections of a hundred thousand elements, and saves.
The file is imported, exported again, and loaded by redis-server. The digest of all keys (DEBUG DIGEST: names, types,
values, order, deadlines) must be the same in the first redis-server, in Cairn and in the redis-server that loaded the
export. Then the speeds: both tools until their data is on the disk, and redis-server's own start on each file for
comparison.

Exit status 1 if a digest differs or the import reads less than 50 MB of the file a second.
"""

import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

from process import cpu_seconds
from servers import ROOT, Server, default_command, start_redis

LEAST_MB_S = 50.0
NOISE_BYTES = 1 << 20
# One call adds about 4 MB of all types; texts are slices of random bytes, which hardly compress.
FILL = """
local noise, number, state = ARGV[1], ARGV[2], tonumber(ARGV[2])
local function draw(below)
  state = (state * 1103515245 + 12345) % 2147483648
  return math.floor(state / 65536) % below
end
local function text(size) local at = draw(32768) * 31 % (#noise - size); return noise:sub(at + 1, at + size) end
local function many(add, key, count, make)
  for at = 1, count, 500 do
    local words = {}
    for i = at, math.min(at + 499, count) do make(words, i) end
    redis.call(add, key, unpack(words))
  end
end
local function put(...) local words = ...; for i = 2, select('#', ...) do words[#words + 1] = (select(i, ...)) end end
for i = 1, 6000 do redis.call('SET', 'string:' .. number .. ':' .. i, text(100)) end
for i = 1, 300 do redis.call('SET', 'page:' .. number .. ':' .. i, text(2000), 'PXAT', 4102444800000 + i) end
for i = 1, 2000 do redis.call('SET', 'count:' .. number .. ':' .. i, i * 7919) end
for i = 1, 200 do
  local key = ':' .. number .. ':' .. i
  many('HSET', 'hash' .. key, 20, function(w, n) put(w, 'field:' .. n, text(40)) end)
  many('RPUSH', 'list' .. key, 40, function(w) put(w, text(30)) end)
  many('SADD', 'set' .. key, 30, function(w, n) put(w, n .. text(20)) end)
  many('SADD', 'ids' .. key, 50, function(w, n) put(w, n * 1000 + i) end)
  many('ZADD', 'zset' .. key, 30, function(w, n) put(w, n * 1.5, 'member:' .. n .. text(10)) end)
end
for i = 1, 10 do
  for n = 1, 60 do redis.call('XADD', 'stream:' .. number .. ':' .. i, n .. '-1', 'field', text(60), 'n', n) end
end
local large, from = math.floor(tonumber(number) / 20), tonumber(number) % 20 * 5000
many('HSET', 'large:hash:' .. large, 5000, function(w, n) put(w, 'field:' .. from + n, text(20)) end)
many('ZADD', 'large:zset:' .. large, 5000, function(w, n) put(w, draw(1000000), 'member:' .. from + n) end)
many('SADD', 'large:set:' .. large, 5000, function(w, n) put(w, 'member:' .. from + n) end)
many('RPUSH', 'large:list:' .. large, 5000, function(w) put(w, text(20)) end)
"""


def fill(server: Server, size_bytes: int):
    """Adds keys until the server uses about this much memory, a little more than the size of its file."""
    client = server.client(socket_timeout=600)
    run = client.register_script(FILL)
    noise = random.Random(1).randbytes(NOISE_BYTES)
    number = 0
    while client.info("memory")["used_memory"] < size_bytes * 1.6:
        for _ in range(10):
            run(args=[noise, number])
            number += 1


def digest(server: Server) -> tuple[str, int]:
    """The digest of all keys, and their number."""
    client = server.client(socket_timeout=600)
    return client.execute_command("DEBUG", "DIGEST"), client.dbsize()


def run_tool(name: str, data: pathlib.Path, path: pathlib.Path) -> dict:
    """Runs one of the tools: seconds, CPU seconds of all threads, megabytes of the file a second, megabytes of
    memory."""
    command = [ROOT / "build" / "release" / f"cairn-{name}", "--dir", data, path]
    started = time.monotonic()
    with subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.monotonic() - started
    if process.returncode != 0:
        raise RuntimeError(f"cairn-{name} failed with {process.returncode}")
    file_mb = path.stat().st_size / 1e6
    return {"s": seconds, "cpu_s": used.ru_utime + used.ru_stime, "mb": file_mb, "mb_s": file_mb / seconds,
            "memory_mb": used.ru_maxrss * 1024 / 1e6}


def load_by_redis(path: pathlib.Path) -> tuple[dict, tuple[str, int]]:
    """Starts redis-server on the file: the duration, and the digest."""
    started = time.monotonic()
    with start_redis(dir=path.parent, dbfilename=path.name, enable_debug_command="yes") as server:
        seconds = time.monotonic() - started
        used_s = cpu_seconds(server.pid)
        file_mb = path.stat().st_size / 1e6
        speed = {"s": seconds, "cpu_s": used_s, "mb": file_mb, "mb_s": file_mb / seconds,
                 "memory_mb": server.resident_bytes() / 1e6}
        return speed, digest(server)


def measure(options: argparse.Namespace, folder: pathlib.Path) -> dict:
    """Fills, saves, imports, exports and loads; returns the figures and the digests."""
    original, exported, data = folder / "original.rdb", folder / "exported.rdb", folder / "data"
    digests, speeds = {}, {}
    with start_redis(dir=folder, dbfilename=original.name, enable_debug_command="yes") as redis:
        fill(redis, options.size_mb << 20)
        redis.client(socket_timeout=600).save()
        digests["redis-server, filled"] = digest(redis)
    speeds["cairn-import"] = run_tool("import", data, original)
    with Server(command=default_command(), data_dir=data, enable_debug_command="yes") as cairn:
        digests["cairn-server on the import"] = digest(cairn)
        cairn.shutdown()
    speeds["cairn-export"] = run_tool("export", data, exported)
    speeds["redis-server on the original"], _ = load_by_redis(original)
    speeds["redis-server on the export"], digests["redis-server on the export"] = load_by_redis(exported)
    return {"speeds": speeds, "digests": digests}


def main() -> int:
    """Parses the command line, measures, prints the table; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--size-mb", type=int, default=2000, help="approximate size of the file")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cairn-rdb-") as folder:
        result = measure(options, pathlib.Path(folder))
    print(f"{'':30}{'seconds':>9}{'CPU s':>9}{'MB':>9}{'MB/s':>9}{'MB/CPU s':>10}{'memory MB':>11}")
    for name, speed in result["speeds"].items():
        print(f"{name:30}{speed['s']:9.1f}{speed['cpu_s']:9.1f}{speed['mb']:9.0f}{speed['mb_s']:9.1f}"
              f"{speed['mb'] / speed['cpu_s']:10.1f}{speed['memory_mb']:11.0f}")
    for name, (found, keys) in result["digests"].items():
        print(f"{name:30}{keys:9} keys, digest {found.decode()}")
    same = len(set(result["digests"].values())) == 1
    fast = result["speeds"]["cairn-import"]["mb_s"] >= LEAST_MB_S
    print("yes" if same else "NO", "the same keys everywhere")
    print("yes" if fast else "NO", f"at least {LEAST_MB_S:g} MB/s imported")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(result, indent=1, default=bytes.decode))
    return 0 if same and fast else 1


if __name__ == "__main__":
    sys.exit(main())
