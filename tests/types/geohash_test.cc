// SPDX-License-Identifier: BSD-3-Clause
//
// Scores decode to their places, and the cells around a shape cover it.
#include "types/geohash.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace cairn {
namespace {

double Between(Random& luck, double low, double high) {
  return low + (high - low) * static_cast<double>(luck.Below(1'000'000)) / 1e6;
}

TEST(Geohash, EncodesKnownPlaces) {
  const GeoPoint palermo{13.361389, 38.115556};
  const GeoPoint catania{15.087269, 37.502669};
  EXPECT_EQ(GeoScore(palermo), 3479099956230698u);
  EXPECT_EQ(GeoScore(catania), 3479447370796909u);
  EXPECT_EQ(GeohashText(*GeoPointOf(3479099956230698)), "sqc8b49rny0");
  EXPECT_NEAR(GeoDistance(palermo, catania), 166274.15, 1);
}

TEST(Geohash, ScoresDecodeToTheirPlaces) {
  Random luck(1);
  for (int i = 0; i < 2000; ++i) {
    const GeoPoint point{Between(luck, -180, 180), Between(luck, -85, 85)};
    const auto back = GeoPointOf(static_cast<double>(GeoScore(point)));
    ASSERT_TRUE(back);
    EXPECT_NEAR(back->longitude, point.longitude, 1e-5);
    EXPECT_NEAR(back->latitude, point.latitude, 1e-5);
  }
}

TEST(Geohash, CellsCoverTheCircle) {
  Random luck(2);
  for (int i = 0; i < 2000; ++i) {
    GeoShape shape;
    shape.center = {Between(luck, -150, 150), Between(luck, -60, 60)};
    shape.radius = Between(luck, 1, 100'000);
    const GeoPoint near{shape.center.longitude + Between(luck, -1, 1), shape.center.latitude + Between(luck, -1, 1)};
    if (!shape.DistanceWithin(near)) continue;
    const uint64_t score = GeoScore(near);
    bool found = false;
    for (const GeoCell& cell : CellsAround(shape)) found |= score >= cell.min && score < cell.max;
    EXPECT_TRUE(found);
  }
}

}  // namespace
}  // namespace cairn
