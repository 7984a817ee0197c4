// SPDX-License-Identifier: BSD-3-Clause
//
// Count-min sketches: CMS.INITBYDIM, INITBYPROB, INCRBY, QUERY, MERGE and INFO.
#include "types/count_min.h"

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/words.h"
#include "command/context.h"
#include "command/families.h"
#include "command/fixed.h"

namespace cairn {
namespace {

// A sketch with the key that it refers to.
struct Sketch {
  Sketch(CommandContext& ctx, std::string_view name) : keys(ctx.keys()), key(keys.Name(name)), value(keys, key) {}
  Status Open() {
    TRY(value.Open());
    return value.exists() ? Ok() : Status::Reply("CMS: key does not exist");
  }

  Keyspace keys;
  const Key key;
  CountMin value;
};

struct Dimensions {
  int64_t width = 0;
  int64_t depth = 0;
};

Result<Dimensions> ParseDimensions(Args& args) {
  Dimensions dimensions;
  dimensions.width = args.IntegerIn(1, INT64_MAX, "CMS: invalid width");
  dimensions.depth = args.IntegerIn(1, INT64_MAX, "CMS: invalid depth");
  TRY(args.Done());
  return dimensions;
}

// The number that a double is; 0 if it is out of range.
int64_t ToInteger(double value) {
  constexpr double kEnd = 9223372036854775808.0;
  return value >= 1 && value < kEnd ? static_cast<int64_t>(value) : 0;
}

// RedisBloom computes the depth with floats, which can make it one larger than the exact one.
Result<Dimensions> ParseTolerances(Args& args) {
  const auto between = [&args](std::string_view error) {
    const double value = args.Float(error);
    if (value <= 0 || value >= 1) args.Fail(error);
    return value;
  };
  const double overestimate = between("CMS: invalid overestimation value");
  const double probability = between("CMS: invalid prob value");
  TRY(args.Done());
  const double rows = std::log10(static_cast<float>(probability)) / std::log10(0.5F);
  return Dimensions{.width = ToInteger(std::ceil(2 / overestimate)), .depth = ToInteger(std::ceil(rows))};
}

// CMS.INITBYDIM key width depth, and CMS.INITBYPROB key error probability
Status Create(CommandContext& ctx, Args& args, Reply& reply, Result<Dimensions> (*parse)(Args& args)) {
  Sketch sketch(ctx, args.Bytes());
  KeyEntry entry = TRY(sketch.keys.Find(sketch.key));
  if (entry.exists()) return Status::Reply("CMS: key already exists");
  const auto [width, depth] = TRY(parse(args));
  if (width < 1 || depth < 1 || width > INT64_MAX / depth) return Status::Reply("CMS: invalid init arguments");
  const CountMin::Shape shape{.width = static_cast<uint64_t>(width), .depth = static_cast<uint64_t>(depth)};
  if (!CountMin::Fits(shape.width, shape.depth)) return Status::Reply("CMS: Insufficient memory to create the key");
  TRY(sketch.value.Open(std::move(entry)));
  sketch.value.Create(shape);
  TRY(sketch.value.Save());
  ctx.Changed(kNoEvent, {}, sketch.key.bytes());
  reply.Ok();
  return Ok();
}

// CMS.INCRBY key item increment [item increment ...]
Status CmsIncrBy(CommandContext& ctx, Args& args, Reply& reply) {
  if (args.size() % 2 != 0) return Status::Reply(errors::WrongArity(ctx.command().full_name()));
  Sketch sketch(ctx, args.Bytes());
  TRY(sketch.Open());
  struct Increment {
    std::string_view item;
    int64_t by;
  };
  std::vector<Increment> increments;
  while (args.More()) {
    const std::string_view item = args.Bytes();
    const int64_t by = args.Integer("CMS: Cannot parse number");
    if (by < 0) args.Fail("CMS: Number cannot be negative");
    increments.push_back({item, by});
  }
  TRY(args.Done());
  reply.Array(increments.size());
  uint64_t changes = 0;
  for (const auto& [item, by] : increments) {
    const uint32_t estimate = TRY(sketch.value.Add(item, static_cast<uint64_t>(by)));
    if (by > 0) ++changes;
    if (estimate == UINT32_MAX) {
      reply.Error("CMS: INCRBY overflow");
    } else {
      reply.Integer(estimate);
    }
  }
  if (changes == 0) return Ok();
  TRY(sketch.value.Save());
  ctx.Changed(kNoEvent, {}, sketch.key.bytes(), changes);
  return Ok();
}

// CMS.QUERY key item [item ...]
Status CmsQuery(CommandContext& ctx, Args& args, Reply& reply) {
  Sketch sketch(ctx, args.Bytes());
  TRY(sketch.Open());
  reply.Array(args.left());
  while (args.More()) reply.Integer(TRY(sketch.value.Estimate(args.Bytes())));
  return Ok();
}

// The position of WEIGHTS among the arguments behind the count of keys; none: -1. Like RedisBloom, it takes the first
// argument with that text, be it the name of a key.
ptrdiff_t FindWeights(std::span<const std::string_view> args) {
  for (size_t i = 0; i < args.size(); ++i) {
    if (EqualsIgnoreCase(args[i], "weights")) return static_cast<ptrdiff_t>(i);
  }
  return -1;
}

// The sources of a merge, with the keys that they refer to. A sketch that is named several times is opened once.
struct Sources {
  absl::flat_hash_map<std::string_view, std::unique_ptr<Sketch>> sketches;
  std::vector<CountMin::Weighted> weighted;
};

// Opens the sources that `args`, the arguments behind the count of keys, name with their weights.
Status OpenSources(CommandContext& ctx, std::span<const std::string_view> args, int64_t count,
                   const CountMin::Shape& shape, Sources& sources) {
  const ptrdiff_t weights = FindWeights(args);
  const auto size = static_cast<int64_t>(args.size());
  if (weights < 0 && count != size) return Status::Reply("CMS: wrong number of keys");
  if (weights >= 0 && (weights != count || count > size || size != 1 + 2 * count)) {
    return Status::Reply("CMS: wrong number of keys/weights");
  }
  for (int64_t i = 0; i < count; ++i) {
    Args weight(args.subspan(static_cast<size_t>(count + i), weights < 0 ? 0 : 2));
    const int64_t by = weights < 0 ? 1 : weight.Integer("CMS: invalid weight value");
    TRY(weight.Check());
    const std::string_view name = args[static_cast<size_t>(i)];
    std::unique_ptr<Sketch>& source = sources.sketches[name];
    if (source == nullptr) {
      source = std::make_unique<Sketch>(ctx, name);
      TRY(source->Open());
    }
    const CountMin::Shape& other = source->value.shape();
    if (other.width != shape.width || other.depth != shape.depth) {
      return Status::Reply("CMS: width/depth is not equal");
    }
    sources.weighted.push_back({&source->value, by});
  }
  return Ok();
}

// CMS.MERGE destination numkeys source [source ...] [WEIGHTS weight [weight ...]]
Status CmsMerge(CommandContext& ctx, Args& args, Reply& reply) {
  Sketch target(ctx, args.Bytes());
  TRY(target.Open());
  const int64_t count = args.Integer("CMS: invalid numkeys");
  TRY(args.Check());
  if (count <= 0) return Status::Reply("CMS: Number of keys must be positive");
  Sources sources;
  TRY(OpenSources(ctx, args.all().subspan(3), count, target.value.shape(), sources));
  if (TRY(target.value.Merge(sources.weighted))) {
    TRY(target.value.Save());
    ctx.Changed(kNoEvent, {}, target.key.bytes());
  }
  reply.Ok();
  return Ok();
}

// CMS.INFO key
Status CmsInfo(CommandContext& ctx, Args& args, Reply& reply) {
  Sketch sketch(ctx, args.Bytes());
  TRY(sketch.Open());
  const CountMin::Shape& shape = sketch.value.shape();
  reply.Map(3);
  reply.Simple("width");
  reply.Integer(static_cast<int64_t>(shape.width));
  reply.Simple("depth");
  reply.Integer(static_cast<int64_t>(shape.depth));
  reply.Simple("count");
  reply.Integer(static_cast<int64_t>(shape.count));
  return Ok();
}

constexpr auto kGroup = Group::kCountMin;

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "cms.initbydim", .arity = 4, .flags = kWrite | kDenyOom | kFast, .keys = {OneKey(kRW | kInsert)},
     .run = Fixed<Create, ParseDimensions>, .group = kGroup, .since = "2.0.0",
     .summary = "Creates a count-min sketch with a width and a depth.", .complexity = "O(1)",
     .syntax = "key width:integer depth:integer"},
    {.name = "cms.initbyprob", .arity = 4, .flags = kWrite | kDenyOom | kFast, .keys = {OneKey(kRW | kInsert)},
     .run = Fixed<Create, ParseTolerances>, .group = kGroup, .since = "2.0.0",
     .summary = "Creates a count-min sketch with an error and its probability.", .complexity = "O(1)",
     .syntax = "key error:double probability:double"},
    {.name = "cms.incrby", .arity = -4, .flags = kWrite | kDenyOom, .keys = {OneKey(kRW | kUpdate | kAccess)},
     .run = CmsIncrBy, .group = kGroup, .since = "2.0.0",
     .summary = "Increments items of a count-min sketch, and returns their estimates.",
     .complexity = "O(N*D) with N items and a depth of D", .syntax = "key item increment [item increment ...]"},
    {.name = "cms.query", .arity = -3, .flags = kReadonly, .keys = {OneKey(kRO | kAccess)}, .run = CmsQuery,
     .group = kGroup, .since = "2.0.0", .summary = "Returns the estimates of items of a count-min sketch.",
     .complexity = "O(N*D) with N items and a depth of D", .syntax = "key item [item ...]"},
    {.name = "cms.merge", .arity = -4, .flags = kWrite | kDenyOom,
     .keys = {OneKey(kRW | kUpdate), CountedKeys(kRO | kAccess, 2)}, .run = CmsMerge, .group = kGroup,
     .since = "2.0.0", .summary = "Replaces a count-min sketch with the weighted sum of others.",
     .complexity = "O(N*C) with N sketches of C counters",
     .syntax = "destination numkeys source [source ...] [WEIGHTS weight [weight ...]]"},
    {.name = "cms.info", .arity = 2, .flags = kReadonly | kFast, .keys = {OneKey(kRO | kAccess)}, .run = CmsInfo,
     .group = kGroup, .since = "2.0.0", .summary = "Returns the dimensions and the total of a count-min sketch.",
     .complexity = "O(1)", .syntax = "key"},
};
// clang-format on

}  // namespace

std::span<const CommandRow> CountMinCommands() { return kRows; }

}  // namespace cairn
