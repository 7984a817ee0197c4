// SPDX-License-Identifier: BSD-3-Clause
//
// Geohashes: a place on earth as one integer, so that a sorted set can be searched for members near a place.
//
// The earth (without its poles, beyond 85.05112878 degrees, as in web maps) is halved again and again, by longitude and
// by latitude in turn. Each halving gives one bit: 1 for the eastern or the northern half. After `step` halvings of
// both, the rest is a cell, and all places in a cell share these bits. A member's score is a hash of 26 steps, 52 bits,
// which a double holds exactly. A cell of fewer steps is an interval of scores.
//
// CellsAround returns the cells that a search must look at: the same cells in the same order as Redis, even where fewer
// would do, because unsorted results come in that order.
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

// Returns the score of a place. REQUIRES: the place is valid.
uint64_t GeoScore(const GeoPoint& point);

// Returns the middle of a score's cell; nullopt for a score that is not a place.
std::optional<GeoPoint> GeoPointOf(double score);

// Returns the eleven characters of the standard geohash, which counts latitudes up to the poles.
std::string GeohashText(const GeoPoint& point);

// Distance in metres along the great circle (haversine, on a sphere).
double GeoDistance(const GeoPoint& a, const GeoPoint& b);

// The area of a search: a circle, or a box with sides along the meridians and parallels.
struct GeoShape {
  GeoPoint center;
  bool is_box = false;
  double radius = 0;  // in units, like width and height
  double width = 0;
  double height = 0;
  double unit = 1;  // metres

  // Distance in metres from the center to a place inside the shape; nullopt for a place outside.
  std::optional<double> DistanceWithin(const GeoPoint& point) const;
};

// The scores min <= score < max.
struct GeoCell {
  uint64_t min = 0;
  uint64_t max = 0;
};

// Returns up to nine cells that together cover the shape: its center's cell and the neighbours.
std::vector<GeoCell> CellsAround(const GeoShape& shape);

}  // namespace cairn
