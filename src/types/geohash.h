// SPDX-License-Identifier: BSD-3-Clause
//
// Geohashes: a place on earth as one integer, so that a sorted set of them can be asked for what is near.
//
// The earth (without its poles, beyond 85.05112878 degrees, as web maps have it) is halved again and again, by
// longitude and by latitude in turn; each halving is a bit, 1 for the eastern or the northern half. After `step`
// halvings of both what is left is a cell, and all places in a cell share the bits before. A member's score is a hash
// of 26 steps, 52 bits, which a double holds exactly; a cell of fewer steps is an interval of scores.
//
// CellsAround answers which cells a search has to look at. It finds the same cells in the same
// order as Redis, even where fewer would do, since that is the order unsorted results come in.
//
// Thread: any; pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cairn {

inline constexpr double kMaxLongitude = 180;
inline constexpr double kMaxLatitude = 85.05112878;

struct GeoPoint {
  double longitude = 0;
  double latitude = 0;

  bool IsValid() const;
};

// The score of a place. REQUIRES: it is valid.
uint64_t GeoScore(const GeoPoint& point);

// The middle of a score's cell; none for a score that stands for no place.
std::optional<GeoPoint> GeoPointOf(double score);

// The eleven characters of the common geohash, which counts latitudes up to the poles.
std::string GeohashText(const GeoPoint& point);

// Metres along the great circle (haversine, on a sphere).
double GeoDistance(const GeoPoint& a, const GeoPoint& b);

// What is searched: a circle, or a box with sides along the meridians and parallels.
struct GeoShape {
  GeoPoint center;
  bool is_box = false;
  double radius = 0;  // in units, as what follows
  double width = 0;
  double height = 0;
  double unit = 1;  // metres

  // Metres from the center to a place within; none for one outside.
  std::optional<double> DistanceWithin(const GeoPoint& point) const;
};

// Scores from `min` on and below `max`.
struct GeoCell {
  uint64_t min = 0;
  uint64_t max = 0;
};

// Up to nine cells that together cover the shape: the one of its center and those around it.
std::vector<GeoCell> CellsAround(const GeoShape& shape);

}  // namespace cairn
