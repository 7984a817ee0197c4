// SPDX-License-Identifier: BSD-3-Clause
#include "types/geohash.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace cairn {
namespace {

constexpr unsigned kMostSteps = 26;
constexpr double kEarthRadius = 6372797.560856;  // metres
constexpr double kHalfEquator = 20037726.37;     // metres, of the Mercator projection
constexpr double kDegree = std::numbers::pi / 180;
constexpr double kPoleLatitude = 90;

double Radians(double degrees) { return degrees * kDegree; }
double Degrees(double radians) { return radians / kDegree; }

// A cell of a grid of 2^step columns (by longitude) and 2^step rows (by latitude).
struct Cell {
  uint32_t column = 0;
  uint32_t row = 0;
  unsigned step = 0;

  bool operator==(const Cell&) const = default;

  // The cell `east` columns and `north` rows away; the grid wraps around. A coordinate at the very end of its range has
  // an extra cell, one beyond the last, and keeps it.
  Cell Moved(int east, int north) const {
    const uint32_t mask = (uint32_t{1} << step) - 1;
    return {east == 0 ? column : (column + static_cast<uint32_t>(east)) & mask,
            north == 0 ? row : (row + static_cast<uint32_t>(north)) & mask, step};
  }
};

// The position of a coordinate within [-limit, limit], in cells.
uint32_t CellIndex(double coordinate, double limit, unsigned step) {
  const double share = (coordinate - -limit) / (limit - -limit);
  return static_cast<uint32_t>(share * static_cast<double>(uint64_t{1} << step));
}

Cell CellOf(const GeoPoint& point, unsigned step, double max_latitude = kMaxLatitude) {
  return {CellIndex(point.longitude, kMaxLongitude, step), CellIndex(point.latitude, max_latitude, step), step};
}

// Spreads the bits of `index` to every second bit.
uint64_t Spread(uint32_t index) {
  uint64_t bits = index;
  bits = (bits | bits << 16) & 0x0000ffff0000ffff;
  bits = (bits | bits << 8) & 0x00ff00ff00ff00ff;
  bits = (bits | bits << 4) & 0x0f0f0f0f0f0f0f0f;
  bits = (bits | bits << 2) & 0x3333333333333333;
  return (bits | bits << 1) & 0x5555555555555555;
}

uint32_t Gather(uint64_t bits) {
  bits &= 0x5555555555555555;
  bits = (bits | bits >> 1) & 0x3333333333333333;
  bits = (bits | bits >> 2) & 0x0f0f0f0f0f0f0f0f;
  bits = (bits | bits >> 4) & 0x00ff00ff00ff00ff;
  bits = (bits | bits >> 8) & 0x0000ffff0000ffff;
  return static_cast<uint32_t>(bits | bits >> 16);
}

uint64_t BitsOf(const Cell& cell) { return Spread(cell.row) | Spread(cell.column) << 1; }

GeoCell ScoresOf(const Cell& cell) {
  const unsigned shift = 2 * (kMostSteps - cell.step);
  const uint64_t bits = BitsOf(cell);
  return {bits << shift, (bits + 1) << shift};
}

struct Area {
  double west = 0;
  double east = 0;
  double south = 0;
  double north = 0;
};

// The coordinate at which the cell with this index begins.
double Edge(uint64_t index, double limit, unsigned step) {
  const double cells = static_cast<double>(uint64_t{1} << step);
  return -limit + (static_cast<double>(index) / cells) * (limit - -limit);
}

Area AreaOf(const Cell& cell) {
  return {.west = Edge(cell.column, kMaxLongitude, cell.step),
          .east = Edge(uint64_t{cell.column} + 1, kMaxLongitude, cell.step),
          .south = Edge(cell.row, kMaxLatitude, cell.step),
          .north = Edge(uint64_t{cell.row} + 1, kMaxLatitude, cell.step)};
}

double LatitudeDistance(double a, double b) { return kEarthRadius * std::fabs(Radians(b) - Radians(a)); }

// The bounding box of a shape. The side nearer to a pole spans more degrees; the side taken is the one in the shape's
// own hemisphere.
Area BoundsOf(const GeoShape& shape) {
  const GeoPoint& center = shape.center;
  const double up = shape.unit * (shape.is_box ? shape.height / 2 : shape.radius);
  const double aside = shape.unit * (shape.is_box ? shape.width / 2 : shape.radius);
  const double latitude_span = Degrees(up / kEarthRadius);
  const double edge = center.latitude < 0 ? center.latitude - latitude_span : center.latitude + latitude_span;
  const double longitude_span = Degrees(aside / kEarthRadius / std::cos(Radians(edge)));
  return {.west = center.longitude - longitude_span,
          .east = center.longitude + longitude_span,
          .south = center.latitude - latitude_span,
          .north = center.latitude + latitude_span};
}

// Distance in metres from the center to the farthest point.
double ReachOf(const GeoShape& shape) {
  if (!shape.is_box) return shape.radius * shape.unit;
  const double half_width = shape.width / 2;
  const double half_height = shape.height / 2;
  return std::sqrt(half_width * half_width + half_height * half_height) * shape.unit;
}

// The number of steps of the finest grid in which a cell and its neighbours (mostly) cover the reach.
unsigned StepsFor(double reach, double latitude) {
  if (reach == 0) return kMostSteps;
  int steps = 1;
  for (; reach < kHalfEquator; reach *= 2) ++steps;
  steps -= 2;
  const double from_equator = std::fabs(latitude);
  if (from_equator > 66) --steps;  // meridians are closer together there
  if (from_equator > 80) --steps;
  return static_cast<unsigned>(std::clamp<int>(steps, 1, kMostSteps));
}

// Returns whether the bounds extend beyond the neighbours of this cell.
bool ReachesBeyondNeighbours(const Cell& cell, const Area& bounds) {
  return AreaOf(cell.Moved(0, 1)).north < bounds.north || AreaOf(cell.Moved(0, -1)).south > bounds.south ||
         AreaOf(cell.Moved(1, 0)).east < bounds.east || AreaOf(cell.Moved(-1, 0)).west > bounds.west;
}

struct CellOffset {
  int east;
  int north;
};

// The order in which cells are searched.
constexpr std::array<CellOffset, 9> kCellOffsets = {
    {{0, 0}, {0, 1}, {0, -1}, {1, 0}, {-1, 0}, {1, 1}, {-1, 1}, {1, -1}, {-1, -1}}};

// Returns whether the shape stays within its own cell in this direction.
bool IsNeedless(const CellOffset& way, const Area& area, const Area& bounds) {
  return (way.north < 0 && area.south < bounds.south) || (way.north > 0 && area.north > bounds.north) ||
         (way.east < 0 && area.west < bounds.west) || (way.east > 0 && area.east > bounds.east);
}

}  // namespace

bool GeoPoint::IsValid() const {
  return longitude >= -kMaxLongitude && longitude <= kMaxLongitude && latitude >= -kMaxLatitude &&
         latitude <= kMaxLatitude;
}

uint64_t GeoScore(const GeoPoint& point) {
  // At the very end of its range an index has one bit more than usual; the score keeps it.
  return BitsOf(CellOf(point, kMostSteps));
}

std::optional<GeoPoint> GeoPointOf(double score) {
  // ZADD can store scores that are not places.
  if (!(score > -9.2e18 && score < 1.8e19)) return std::nullopt;
  const uint64_t bits = score < 0 ? static_cast<uint64_t>(static_cast<int64_t>(score)) : static_cast<uint64_t>(score);
  const Area area = AreaOf({Gather(bits >> 1), Gather(bits), kMostSteps});
  return GeoPoint{.longitude = std::clamp((area.west + area.east) / 2, -kMaxLongitude, kMaxLongitude),
                  .latitude = std::clamp((area.south + area.north) / 2, -kMaxLatitude, kMaxLatitude)};
}

std::string GeohashText(const GeoPoint& point) {
  constexpr std::string_view kAlphabet = "0123456789bcdefghjkmnpqrstuvwxyz";
  constexpr unsigned kBits = 2 * kMostSteps;
  const uint64_t bits = BitsOf(CellOf(point, kMostSteps, kPoleLatitude));
  std::string text;
  for (unsigned end = 5; end <= kBits; end += 5) text += kAlphabet[bits >> (kBits - end) & 31];
  return text + '0';  // 52 bits are two short of the eleventh character
}

double GeoDistance(const GeoPoint& a, const GeoPoint& b) {
  const double v = std::sin((Radians(b.longitude) - Radians(a.longitude)) / 2);
  if (v == 0) return LatitudeDistance(a.latitude, b.latitude);
  const double a_latitude = Radians(a.latitude);
  const double b_latitude = Radians(b.latitude);
  const double u = std::sin((b_latitude - a_latitude) / 2);
  const double h = u * u + std::cos(a_latitude) * std::cos(b_latitude) * v * v;
  return 2.0 * kEarthRadius * std::asin(std::sqrt(h));
}

std::optional<double> GeoShape::DistanceWithin(const GeoPoint& point) const {
  if (is_box) {
    if (LatitudeDistance(point.latitude, center.latitude) > height * unit / 2) return std::nullopt;
    const GeoPoint beside{.longitude = center.longitude, .latitude = point.latitude};
    if (GeoDistance(point, beside) > width * unit / 2) return std::nullopt;
    return GeoDistance(center, point);
  }
  const double distance = GeoDistance(center, point);
  if (distance > radius * unit) return std::nullopt;
  return distance;
}

std::vector<GeoCell> CellsAround(const GeoShape& shape) {
  const Area bounds = BoundsOf(shape);
  unsigned steps = StepsFor(ReachOf(shape), shape.center.latitude);
  Cell own = CellOf(shape.center, steps);
  if (steps > 1 && ReachesBeyondNeighbours(own, bounds)) own = CellOf(shape.center, --steps);
  const Area area = AreaOf(own);
  std::vector<GeoCell> cells;
  std::optional<Cell> last;  // the previous cell, to skip a repetition
  for (const CellOffset& way : kCellOffsets) {
    if (steps >= 2 && IsNeedless(way, area, bounds)) continue;
    const Cell cell = own.Moved(way.east, way.north);
    if (last == cell) continue;
    if (!cells.empty()) last = cell;
    cells.push_back(ScoresOf(cell));
  }
  return cells;
}

}  // namespace cairn
