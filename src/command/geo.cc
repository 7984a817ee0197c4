// SPDX-License-Identifier: BSD-3-Clause
//
// Places on earth as members of a sorted set: GEOADD, GEODIST, GEOHASH and GEOPOS. The score encodes the place
// (types/geohash.h). Searches are in geo_search.cc.
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/number.h"
#include "command/context.h"
#include "command/families.h"
#include "command/geo_args.h"
#include "command/named.h"

namespace cairn {
namespace {

constexpr std::string_view kBadUnit = "ERR unsupported unit provided. please use M, KM, FT, MI";

struct AddOptions {
  AddRules rules;
  bool count_updates = false;  // CH
};

AddOptions ReadAddOptions(Args& args) {
  AddOptions options;
  for (;;) {
    if (args.Keyword("nx")) {
      options.rules.only_new = true;
    } else if (args.Keyword("xx")) {
      options.rules.only_existing = true;
    } else if (args.Keyword("ch")) {
      options.count_updates = true;
    } else {
      return options;
    }
  }
}

struct NamedScore {
  std::string_view member;
  double score;
};

// Replicates a ZADD with the same options, so that a replica need not compute the scores.
void ReplicateScores(CommandContext& ctx, const Args& args, const std::vector<NamedScore>& places) {
  if (!ctx.is_replicated()) return;
  std::vector<std::string> scores;
  for (const NamedScore& place : places) scores.push_back(std::to_string(static_cast<int64_t>(place.score)));
  std::vector<std::string_view> words(args.all().begin(), args.all().end() - static_cast<ptrdiff_t>(3 * places.size()));
  words[0] = "ZADD";
  for (size_t i = 0; i < places.size(); ++i) words.insert(words.end(), {scores[i], places[i].member});
  ctx.Replicate(words);
}

// GEOADD key [NX | XX] [CH] longitude latitude member [longitude latitude member ...]
Status GeoAdd(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(args.Bytes());
  const AddOptions options = ReadAddOptions(args);
  const bool contrary = options.rules.only_new && options.rules.only_existing;
  if (!args.More() || args.left() % 3 != 0 || contrary) return Status::Reply(errors::kSyntax);
  std::vector<NamedScore> places;
  places.reserve(args.left() / 3);
  while (args.More()) {
    const GeoPoint point = TRY(ReadGeoPoint(args));
    places.push_back({args.Bytes(), static_cast<double>(GeoScore(point))});
  }
  Zset zset(keys, key);
  TRY(zset.Open());
  uint64_t added_count = 0;
  uint64_t updated_count = 0;
  for (const NamedScore& place : places) {
    const Added added = TRY(zset.Add(place.member, place.score, options.rules));
    added_count += added.outcome == Added::Outcome::kAdded;
    updated_count += added.outcome == Added::Outcome::kUpdated;
  }
  TRY(zset.Save());
  if (added_count + updated_count > 0) {
    ctx.Changed(kZsetEvent, "zadd", key.bytes(), added_count + updated_count);
    ReplicateScores(ctx, args, places);
  }
  reply.Integer(static_cast<int64_t>(added_count + (options.count_updates ? updated_count : 0)));
  return Ok();
}

// GEODIST key member1 member2 [M | KM | FT | MI]
Status GeoDist(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(args.Bytes());
  const std::string_view first = args.Bytes();
  const std::string_view second = args.Bytes();
  if (args.left() > 1) return Status::Reply(errors::kSyntax);
  const double unit = args.More() ? TRY(ReadGeoUnit(args)) : 1;
  Zset zset(keys, key);
  TRY(zset.Open());
  const std::optional<GeoPoint> a = TRY(FindGeoPoint(zset, first));
  const std::optional<GeoPoint> b = TRY(FindGeoPoint(zset, second));
  if (a && b) {
    ReplyDistance(reply, GeoDistance(*a, *b) / unit);
  } else {
    reply.Null();
  }
  return Ok();
}

// GEOHASH key [member ...]
Status GeoHash(CommandContext& ctx, Args& args, Reply& reply) {
  Named<Zset> zset(ctx, args.Bytes());
  TRY(zset.Open());
  reply.Array(args.left());
  while (args.More()) {
    if (const auto point = TRY(FindGeoPoint(zset, args.Bytes()))) {
      reply.Bulk(GeohashText(*point));
    } else {
      reply.Null();
    }
  }
  return Ok();
}

// GEOPOS key [member ...]
Status GeoPos(CommandContext& ctx, Args& args, Reply& reply) {
  Named<Zset> zset(ctx, args.Bytes());
  TRY(zset.Open());
  reply.Array(args.left());
  while (args.More()) {
    if (const auto point = TRY(FindGeoPoint(zset, args.Bytes()))) {
      ReplyGeoPoint(reply, *point);
    } else {
      reply.NullArray();
    }
  }
  return Ok();
}

// A coordinate in INCRBYFLOAT's notation: a string in RESP2, a double in RESP3.
void ReplyCoordinate(Reply& reply, double coordinate) {
  if (reply.protocol() == 2) {
    reply.Bulk(FormatLongDouble(coordinate));
  } else {
    reply.Raw("," + FormatLongDouble(coordinate) + "\r\n");
  }
}

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "geoadd", .arity = -5, .flags = kWrite | kDenyOom, .keys = {OneKey(kRW | kUpdate)}, .run = GeoAdd,
     .group = Group::kGeo, .since = "3.2.0", .summary = "Adds places to a sorted set, or moves them.",
     .complexity = "O(log(N)) per place, N being the size of the sorted set",
     .syntax = "key [NX | XX] [CH] longitude:double latitude:double member [longitude:double latitude:double member "
               "...]"},
    {.name = "geodist", .arity = -4, .flags = kReadonly, .keys = {OneKey(kRO | kAccess)}, .run = GeoDist,
     .group = Group::kGeo, .since = "3.2.0", .summary = "Returns the distance between two places.",
     .complexity = "O(1)", .syntax = "key member1 member2 [M | KM | FT | MI]"},
    {.name = "geohash", .arity = -2, .flags = kReadonly, .keys = {OneKey(kRO | kAccess)}, .run = GeoHash,
     .group = Group::kGeo, .since = "3.2.0", .summary = "Returns the geohashes of places as text.",
     .complexity = "O(1) per member", .syntax = "key [member [member ...]]"},
    {.name = "geopos", .arity = -2, .flags = kReadonly, .keys = {OneKey(kRO | kAccess)}, .run = GeoPos,
     .group = Group::kGeo, .since = "3.2.0", .summary = "Returns the longitudes and latitudes of places.",
     .complexity = "O(1) per member", .syntax = "key [member [member ...]]"},
};
// clang-format on

}  // namespace

Result<GeoPoint> ReadGeoPoint(Args& args) {
  GeoPoint point;
  point.longitude = args.Float();
  point.latitude = args.Float();
  TRY(args.Check());
  if (point.IsValid()) return point;
  return Status::Reply(
      fmt::format("ERR invalid longitude,latitude pair {:.6f},{:.6f}", point.longitude, point.latitude));
}

Result<double> ReadGeoUnit(Args& args) {
  if (args.Keyword("m")) return 1.0;
  if (args.Keyword("km")) return 1000.0;
  if (args.Keyword("ft")) return 0.3048;
  if (args.Keyword("mi")) return 1609.34;
  return Status::Reply(kBadUnit);
}

Result<std::optional<GeoPoint>> FindGeoPoint(Zset& zset, std::string_view member) {
  std::optional<GeoPoint> point;
  if (!zset.exists()) return point;
  if (const std::optional<double> score = TRY(zset.Score(member))) point = GeoPointOf(*score);
  return point;
}

void ReplyDistance(Reply& reply, double distance) {
  const int64_t scaled = std::llrint(distance * 10000);
  reply.Bulk(fmt::format("{}.{:04}", scaled / 10000, scaled % 10000));
}

void ReplyGeoPoint(Reply& reply, const GeoPoint& point) {
  reply.Array(2);
  ReplyCoordinate(reply, point.longitude);
  ReplyCoordinate(reply, point.latitude);
}

std::span<const CommandRow> GeoCommands() { return kRows; }

}  // namespace cairn
