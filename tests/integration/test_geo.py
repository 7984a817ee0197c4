# SPDX-License-Identifier: BSD-3-Clause
"""Geo commands compared with redis-server: random places, also near the poles and the date line."""

import random

EDGES = """
geoadd g 13.361389 38.115556 Palermo 15.087269 37.502669 Catania
geoadd g nx ch 13 38 Palermo
geoadd g xx ch 13 38 Palermo
geoadd g nx xx 1 2 a
geoadd g 1 2
geoadd g 200 100 a
geoadd g x 2 a
geodist g Palermo Catania
geodist g Palermo Catania km
geodist g Palermo Catania yards
geodist g Palermo none
geodist none a b
geohash g Palermo none Catania
geopos g Palermo none Catania
geopos none a
geosearch g frommember none byradius 1 m
geosearch g fromlonlat 15 37 byradius 200 km asc withdist withcoord withhash
geosearch g fromlonlat 15 37 bybox 400 400 km desc count 1
geosearch g fromlonlat 15 37 byradius -1 km
geosearch g fromlonlat 15 37 asc asc asc
geosearch g byradius 200 km asc asc
geosearch g fromlonlat 15 37 byradius 1 km any
geosearch g fromlonlat 15 37 byradius 1 km count 0
geosearchstore d g fromlonlat 15 37 byradius 200 km storedist
zrange d 0 -1 withscores
geosearchstore d none fromlonlat 15 37 byradius 200 km
exists d
georadius g 15 37 200 km store d1 store d2
exists d1 d2
georadius g 15 37 200 km withdist store d
georadiusbymember g Palermo 300 km asc withdist
georadiusbymember none Palermo 300 km
georadius_ro g 15 37 200 km store d
georadiusbymember_ro g Palermo 300 km desc count 1
set s 1
geoadd s 1 2 a
geopos s a
"""


def test_edge_cases_equal_redis(pair):
    pair.lines(EDGES)


def test_random_searches_agree(pair):
    """Random places, searched in circles and boxes of every size."""
    luck = random.Random(11)
    ends = ([0, 179.9, -179.9, 180, -180], [0, 85, -85, 85.05112878, -85.05112878])

    def place():
        if luck.random() < 0.3:
            return luck.choice(ends[0]), luck.choice(ends[1])
        return luck.uniform(-180, 180), luck.uniform(-85, 85)

    for i in range(300):
        pair("geoadd", "g", *place(), f"m{i}")
    for _ in range(250):
        size = round(10 ** luck.uniform(0, 4.3), 3)
        shape = luck.choice([("byradius", size), ("bybox", size, size / 2)])
        order = luck.choice([(), ("asc",), ("count", 20, "any")])
        withs = ("withdist", "withcoord", "withhash")
        if order == ("asc",):
            withs = ("withdist",)
        pair("geosearch", "g", "fromlonlat", *place(), *shape, "km", *order, *withs)
        pair("geodist", "g", f"m{luck.randrange(300)}", f"m{luck.randrange(300)}", "km")
        pair("geohash", "g", f"m{luck.randrange(300)}")


def test_the_order_of_equal_distances_equals_redis(pair):
    """COUNT takes the first results of an unstable sort, so the sort must make the same steps as Redis's."""
    luck = random.Random(3)
    for size in (5, 7, 8, 30, 41, 200, 2000):
        places = [(luck.uniform(10, 20), luck.uniform(30, 40)) for _ in range(max(1, size // 5))]
        pair("del", "same")
        for i in range(size):
            pair("geoadd", "same", *luck.choice(places), f"m{i}")
        for _ in range(12):
            count = luck.choice([1, 2, 3, size // 2 + 1, size, size + 1])
            middle = luck.choice([("frommember", f"m{luck.randrange(size)}"), ("fromlonlat", 15, 35)])
            order = luck.choice([(), ("asc",), ("desc",)])
            pair("geosearch", "same", *middle, "byradius", 2000, "km", *order, "count", count, "withdist")


def test_of_several_targets_the_last_one_counts(pair):
    pair.lines("""
        geoadd places 1 1 a 2 2 b
        georadius places 1 1 500 km store one store two
        georadius places 1 1 500 km store store storedist two count 1
        georadiusbymember places a 500 km store one storedist three
        exists one
        zrange two 0 -1
        zrange three 0 -1
        georadius missing 1 1 500 km store places store two
        exists places
        exists two
    """)
