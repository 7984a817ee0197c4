// SPDX-License-Identifier: BSD-3-Clause
//
// What the geo commands read and write in common: places, units, distances. Thread: any.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "command/args.h"
#include "resp/reply.h"
#include "types/geohash.h"
#include "types/zset.h"

namespace cairn {

// "longitude latitude", within what can be hashed.
Result<GeoPoint> ReadGeoPoint(Args& args);

// "M", "KM", "FT" or "MI": metres in one of them.
Result<double> ReadGeoUnit(Args& args);

// Where a member is; none for one that is not there or is nowhere.
Result<std::optional<GeoPoint>> FindGeoPoint(Zset& zset, std::string_view member);

// A distance, with four digits behind the point.
void ReplyDistance(Reply& reply, double distance);

// A pair of longitude and latitude.
void ReplyGeoPoint(Reply& reply, const GeoPoint& point);

}  // namespace cairn
