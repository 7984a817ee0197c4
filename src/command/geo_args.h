// SPDX-License-Identifier: BSD-3-Clause
//
// Shared parsing and replies of the geo commands: places, units, distances. Thread: any.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "command/args.h"
#include "resp/reply.h"
#include "types/geohash.h"
#include "types/zset.h"

namespace cairn {

// Parses "longitude latitude" within the valid ranges.
Result<GeoPoint> ReadGeoPoint(Args& args);

// Parses "M", "KM", "FT" or "MI". Returns the unit's length in metres.
Result<double> ReadGeoUnit(Args& args);

// Returns a member's place; nullopt if the member does not exist or its score is not a place.
Result<std::optional<GeoPoint>> FindGeoPoint(Zset& zset, std::string_view member);

// Replies with a distance with four decimals.
void ReplyDistance(Reply& reply, double distance);

// Replies with a pair of longitude and latitude.
void ReplyGeoPoint(Reply& reply, const GeoPoint& point);

}  // namespace cairn
