// SPDX-License-Identifier: BSD-3-Clause
//
// Searches for places nearby: GEOSEARCH and GEOSEARCHSTORE, and the older GEORADIUS commands.
//
// All of them run the same search and differ in syntax. Results come in Redis's order: cell by cell, as CellsAround
// returns them, each by score; or by distance if requested.
#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/partial_sort.h"
#include "command/context.h"
#include "command/families.h"
#include "command/fixed.h"
#include "command/geo_args.h"
#include "command/key_options.h"

namespace cairn {
namespace {

constexpr std::string_view kNoMember = "ERR could not decode requested zset member";
constexpr std::string_view kBadCount = "ERR COUNT must be > 0";
constexpr std::string_view kAnyAlone = "ERR the ANY argument requires COUNT argument";

// Where a command takes the center of the search from, and whether it stores the result.
enum class From : uint8_t { kPoint, kMember, kOptions };
struct Form {
  From from;
  bool stores;     // into the first key, GEOSEARCHSTORE
  bool may_store;  // STORE, STOREDIST
};

enum class Order : uint8_t { kNone, kNearest, kFarthest };

struct Search {
  GeoShape shape;
  bool has_center = false;
  bool has_shape = false;
  bool center_was_member = false;
  Order order = Order::kNone;
  uint64_t count = 0;  // 0: all
  bool any = false;    // the first `count` found
  bool with_distance = false;
  bool with_hash = false;
  bool with_point = false;
  std::optional<std::string_view> target;  // where to store
  bool store_distance = false;             // as the score
};

struct Hit {
  std::string member;
  GeoPoint point;
  double distance;  // metres
  double score;
};

// ---- arguments

Result<double> ReadLength(Args& args, std::string_view not_a_number) {
  const double length = args.Float(not_a_number);
  TRY(args.Check());
  return length;
}

// "radius unit"
Status ReadCircle(Args& args, Search& search) {
  const double radius = TRY(ReadLength(args, "ERR need numeric radius"));
  if (radius < 0) return Status::Reply("ERR radius cannot be negative");
  search.shape.is_box = false;
  search.shape.radius = radius;
  search.shape.unit = TRY(ReadGeoUnit(args));
  search.has_shape = true;
  return Ok();
}

// "width height unit"
Status ReadBox(Args& args, Search& search) {
  const double width = TRY(ReadLength(args, "ERR need numeric width"));
  const double height = TRY(ReadLength(args, "ERR need numeric height"));
  if (width < 0 || height < 0) return Status::Reply("ERR height or width cannot be negative");
  search.shape.is_box = true;
  search.shape.width = width;
  search.shape.height = height;
  search.shape.unit = TRY(ReadGeoUnit(args));
  search.has_shape = true;
  return Ok();
}

// In a missing set no member is an error: the result is empty anyway.
Status ReadMember(Args& args, Zset& zset, Search& search) {
  const std::string_view member = args.Bytes();
  search.has_center = search.center_was_member = true;
  if (!zset.exists()) return Ok();
  const std::optional<GeoPoint> point = TRY(FindGeoPoint(zset, member));
  if (!point) return Status::Reply(kNoMember);
  search.shape.center = *point;
  return Ok();
}

Status ReadCount(Args& args, Search& search) {
  const int64_t count = args.Integer();
  TRY(args.Check());
  if (count <= 0) return Status::Reply(kBadCount);
  search.count = static_cast<uint64_t>(count);
  return Ok();
}

// Parses FROMMEMBER, FROMLONLAT, BYRADIUS or BYBOX. Returns false for any other argument.
Result<bool> ReadPlaceOption(Args& args, Zset& zset, Search& search) {
  const bool at_member = search.has_center && search.center_was_member;
  const bool at_point = search.has_center && !search.center_was_member;
  const bool box = search.has_shape && search.shape.is_box;
  const bool circle = search.has_shape && !search.shape.is_box;
  if (args.left() > 1 && !at_point && args.Keyword("frommember")) {
    TRY(ReadMember(args, zset, search));
  } else if (args.left() > 2 && !at_member && args.Keyword("fromlonlat")) {
    search.shape.center = TRY(ReadGeoPoint(args));
    search.has_center = true;
  } else if (args.left() > 2 && !box && args.Keyword("byradius")) {
    TRY(ReadCircle(args, search));
  } else if (args.left() > 3 && !circle && args.Keyword("bybox")) {
    TRY(ReadBox(args, search));
  } else {
    return false;
  }
  return true;
}

// Parses STORE key and STOREDIST key of the older commands, or STOREDIST of GEOSEARCHSTORE.
bool ReadStoreOption(Args& args, const Form& form, Search& search) {
  if (form.stores) {
    if (!args.Keyword("storedist")) return false;
    search.store_distance = true;
    return true;
  }
  if (!form.may_store || args.left() < 2) return false;
  const bool distance = args.Keyword("storedist");
  if (!distance && !args.Keyword("store")) return false;
  search.target = args.Bytes();
  search.store_distance = distance;
  return true;
}

Status ReadOption(Args& args, const Form& form, Zset& zset, Search& search) {
  if (args.Keyword("withdist")) {
    search.with_distance = true;
  } else if (args.Keyword("withhash")) {
    search.with_hash = true;
  } else if (args.Keyword("withcoord")) {
    search.with_point = true;
  } else if (args.Keyword("any")) {
    search.any = true;
  } else if (args.Keyword("asc")) {
    search.order = Order::kNearest;
  } else if (args.Keyword("desc")) {
    search.order = Order::kFarthest;
  } else if (args.left() > 1 && args.Keyword("count")) {
    TRY(ReadCount(args, search));
  } else if (!ReadStoreOption(args, form, search)) {
    const bool known = form.from == From::kOptions && TRY(ReadPlaceOption(args, zset, search));
    if (!known) return Status::Reply(errors::kSyntax);
  }
  return Ok();
}

// Checks the combination of options.
Status CheckOptions(const Args& args, const Form& form, const Search& search) {
  const bool with_any = search.with_distance || search.with_hash || search.with_point;
  if (search.target && with_any) {
    const std::string who = form.stores ? "GEOSEARCHSTORE" : "STORE option in GEORADIUS";
    return Status::Reply("ERR " + who + " is not compatible with WITHDIST, WITHHASH and WITHCOORD options");
  }
  const std::string name(errors::Shown(args[0]));
  if (form.from == From::kOptions && !search.has_center) {
    return Status::Reply("ERR exactly one of FROMMEMBER or FROMLONLAT can be specified for " + name);
  }
  if (form.from == From::kOptions && !search.has_shape) {
    return Status::Reply("ERR exactly one of BYRADIUS and BYBOX can be specified for " + name);
  }
  if (search.any && search.count == 0) return Status::Reply(kAnyAlone);
  return Ok();
}

Result<Search> ReadSearch(Args& args, const Form& form, Zset& zset) {
  Search search;
  if (form.stores) search.target = args[1];
  if (form.from == From::kPoint) {
    search.shape.center = TRY(ReadGeoPoint(args));
    TRY(ReadCircle(args, search));
  } else if (form.from == From::kMember && zset.exists()) {
    TRY(ReadMember(args, zset, search));
    TRY(ReadCircle(args, search));
  } else if (form.from == From::kMember) {
    args.Skip(3);  // ignored, whatever they are
  }
  while (args.More()) TRY(ReadOption(args, form, zset, search));
  TRY(args.Done());
  TRY(CheckOptions(args, form, search));
  // COUNT without ANY returns the nearest places.
  const bool unordered = search.order == Order::kNone && !search.any;
  if (search.count > 0 && unordered) search.order = Order::kNearest;
  return search;
}

// ---- searching

Result<std::vector<Hit>> FindHits(CommandMemory& memory, Zset& zset, const Search& search) {
  std::vector<Hit> hits;
  if (!zset.exists()) return hits;
  const uint64_t limit = search.any ? search.count : UINT64_MAX;
  for (const GeoCell& cell : CellsAround(search.shape)) {
    if (hits.size() >= limit) break;
    ZsetRange range{.by = ZsetRange::By::kScore};
    range.scores = {.min = static_cast<double>(cell.min), .max = static_cast<double>(cell.max), .max_exclusive = true};
    TRY(zset.ForEach(range, [&](std::string_view member, double score) -> Result<bool> {
      const std::optional<GeoPoint> point = GeoPointOf(score);
      const std::optional<double> distance = point ? search.shape.DistanceWithin(*point) : std::nullopt;
      if (!distance) return true;
      memory.Use(sizeof(Hit) + member.size());
      hits.push_back({std::string(member), *point, *distance, score});
      return hits.size() < limit;
    }));
  }
  return hits;
}

// Moves the requested hits to the front and drops the others; equal distances keep Redis's order.
void SortHits(std::vector<Hit>& hits, const Search& search) {
  const size_t wanted = search.count == 0 ? hits.size() : std::min<size_t>(search.count, hits.size());
  if (search.order != Order::kNone) {
    const bool nearest = search.order == Order::kNearest;
    PartialSort(std::span(hits), 0, wanted, [nearest](const Hit& a, const Hit& b) {
      const int order = static_cast<int>(a.distance > b.distance) - static_cast<int>(a.distance < b.distance);
      return nearest ? order : -order;
    });
  }
  hits.resize(wanted);
}

void ReplyHits(const std::vector<Hit>& hits, const Search& search, Reply& reply) {
  const size_t extras = size_t{search.with_distance} + search.with_hash + search.with_point;
  reply.Array(hits.size());
  for (const Hit& hit : hits) {
    if (extras > 0) reply.Array(1 + extras);
    reply.Bulk(hit.member);
    if (search.with_distance) ReplyDistance(reply, hit.distance / search.shape.unit);
    if (search.with_hash) reply.Integer(static_cast<int64_t>(hit.score));
    if (search.with_point) ReplyGeoPoint(reply, hit.point);
  }
}

Status StoreHits(CommandContext& ctx, std::vector<Hit> hits, const Search& search, const Form& form, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key target = keys.Name(*search.target);
  std::vector<ScoredMember> elements;
  elements.reserve(hits.size());
  for (Hit& hit : hits) {
    const double score = search.store_distance ? hit.distance / search.shape.unit : hit.score;
    elements.push_back({std::move(hit.member), score});
  }
  const KeyEntry replaced = TRY(keys.Find(target, Access::kPeek));
  reply.Integer(static_cast<int64_t>(elements.size()));
  const size_t stored = elements.size();
  TRY(Zset::Replace(keys, target, replaced, std::move(elements)));
  ctx.Stored(kZsetEvent, form.stores ? "geosearchstore" : "georadiusstore", target.bytes(), stored == 0,
             replaced.exists());
  if (stored > 1) ctx.CountChanges(stored - 1);
  return Ok();
}

// GEOSEARCH, GEOSEARCHSTORE, GEORADIUS, GEORADIUS_RO, GEORADIUSBYMEMBER and GEORADIUSBYMEMBER_RO.
Status RunSearch(CommandContext& ctx, Args& args, Reply& reply, const Form& form) {
  Keyspace keys = ctx.keys();
  keys.EmitMisses(true);
  if (form.stores) args.Skip(1);
  const Key source = keys.Name(args.Bytes());
  Zset zset(keys, source);
  TRY(zset.Open());
  const Search search = TRY(ReadSearch(args, form, zset));
  std::vector<Hit> hits = TRY(FindHits(ctx.txn().command().memory(), zset, search));
  SortHits(hits, search);
  if (search.target) return StoreHits(ctx, std::move(hits), search, form, reply);
  ReplyHits(hits, search, reply);
  return Ok();
}

// The keys of GEORADIUS and GEORADIUSBYMEMBER, whose options begin at argument kFrom. Of several targets the last one
// counts.
template <size_t kFrom>
bool FindRadiusKeys(std::span<const std::string_view> argv, std::vector<KeyUse>& uses) {
  static constexpr OptionWord kOptions[] = {{"COUNT", 1}, {"STORE", 1}, {"STOREDIST", 1}};
  if (argv.size() < 2) return false;
  uses.push_back({1, kRO | kAccess});
  size_t target = 0;
  WalkOptions(argv, kFrom, kOptions, [&target](std::string_view word, size_t at) {
    if (word.starts_with("STORE")) target = at + 1;
    return true;
  });
  if (target != 0) uses.push_back({static_cast<uint32_t>(target), kOW | kUpdate});
  return true;
}

constexpr std::string_view kSearchCost = "O(N+M*log(M)) with N the places in the cells around and M those found";

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "geosearch", .arity = -7, .flags = kReadonly, .keys = {OneKey(kRO | kAccess)},
     .run = Fixed<RunSearch, Form{From::kOptions, false, false}>, .group = Group::kGeo, .since = "6.2.0",
     .summary = "Returns the places within a circle or a box.", .complexity = kSearchCost,
     .syntax = "key <FROMMEMBER member | FROMLONLAT longitude:double latitude:double> <BYRADIUS radius:double <M | KM "
               "| FT | MI> | BYBOX width:double height:double <M | KM | FT | MI>> [ASC | DESC] [COUNT count [ANY]] "
               "[WITHCOORD] [WITHDIST] [WITHHASH]"},
    {.name = "geosearchstore", .arity = -8, .flags = kWrite | kDenyOom,
     .keys = {OneKey(kOW | kUpdate), OneKey(kRO | kAccess, 2)},
     .run = Fixed<RunSearch, Form{From::kOptions, true, false}>, .group = Group::kGeo, .since = "6.2.0",
     .summary = "Stores the places within a circle or a box.", .complexity = kSearchCost,
     .syntax = "destination source <FROMMEMBER member | FROMLONLAT longitude:double latitude:double> <BYRADIUS "
               "radius:double <M | KM | FT | MI> | BYBOX width:double height:double <M | KM | FT | MI>> [ASC | DESC] "
               "[COUNT count [ANY]] [STOREDIST]"},
    {.name = "georadius", .arity = -6, .flags = kWrite | kDenyOom,
     .keys = {OneKey(kRO | kAccess), {.flags = kOW | kUpdate, .begin = 6, .keyword = "STORE"},
              {.flags = kOW | kUpdate, .begin = 6, .keyword = "STOREDIST"}},
     .run = Fixed<RunSearch, Form{From::kPoint, false, true}>, .group = Group::kGeo, .since = "3.2.0",
     .summary = "Returns or stores the places within a distance of a point.",
     .complexity = kSearchCost,
     .syntax = "key longitude:double latitude:double radius:double <M | KM | FT | MI> "
               "[WITHCOORD] [WITHDIST] [WITHHASH] [COUNT count [ANY]] [ASC | DESC] [STORE key] "
               "[STOREDIST key]",
     .deprecated_since = "6.2.0",
     .replaced_by = "`GEOSEARCH` and `GEOSEARCHSTORE` with the `BYRADIUS` argument",
     .find_keys = FindRadiusKeys<6>},
    {.name = "georadius_ro", .arity = -6, .flags = kReadonly, .keys = {OneKey(kRO | kAccess)},
     .run = Fixed<RunSearch, Form{From::kPoint, false, false}>, .group = Group::kGeo, .since = "3.2.10",
     .summary = "Returns the places within a distance of a point.", .complexity = kSearchCost,
     .syntax = "key longitude:double latitude:double radius:double <M | KM | FT | MI> [WITHCOORD] [WITHDIST] "
               "[WITHHASH] [COUNT count [ANY]] [ASC | DESC]", .deprecated_since = "6.2.0",
     .replaced_by = "`GEOSEARCH` with the `BYRADIUS` argument"},
    {.name = "georadiusbymember", .arity = -5, .flags = kWrite | kDenyOom,
     .keys = {OneKey(kRO | kAccess), {.flags = kOW | kUpdate, .begin = 5, .keyword = "STORE"},
              {.flags = kOW | kUpdate, .begin = 5, .keyword = "STOREDIST"}},
     .run = Fixed<RunSearch, Form{From::kMember, false, true}>, .group = Group::kGeo, .since = "3.2.0",
     .summary = "Returns or stores the places within a distance of a member.",
     .complexity = kSearchCost,
     .syntax = "key member radius:double <M | KM | FT | MI> [WITHCOORD] [WITHDIST] [WITHHASH] "
               "[COUNT count [ANY]] [ASC | DESC] [STORE key] [STOREDIST key]",
     .deprecated_since = "6.2.0",
     .replaced_by =
         "`GEOSEARCH` and `GEOSEARCHSTORE` with the `BYRADIUS` and `FROMMEMBER` arguments",
     .find_keys = FindRadiusKeys<5>},
    {.name = "georadiusbymember_ro", .arity = -5, .flags = kReadonly, .keys = {OneKey(kRO | kAccess)},
     .run = Fixed<RunSearch, Form{From::kMember, false, false}>, .group = Group::kGeo, .since = "3.2.10",
     .summary = "Returns the places within a distance of a member.", .complexity = kSearchCost,
     .syntax = "key member radius:double <M | KM | FT | MI> [WITHCOORD] [WITHDIST] [WITHHASH] [COUNT count [ANY]] [ASC "
               "| DESC]", .deprecated_since = "6.2.0",
     .replaced_by = "`GEOSEARCH` with the `BYRADIUS` and `FROMMEMBER` arguments"},
};
// clang-format on

}  // namespace

std::span<const CommandRow> GeoSearchCommands() { return kRows; }

}  // namespace cairn
