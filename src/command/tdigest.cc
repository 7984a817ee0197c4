// SPDX-License-Identifier: BSD-3-Clause
//
// Changes of t-digests: TDIGEST.CREATE, ADD, RESET and MERGE; and TDIGEST.INFO. Estimates are in tdigest_estimate.cc.
#include "types/tdigest.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "base/words.h"
#include "command/families.h"
#include "command/tdigest_key.h"

namespace cairn {
namespace {

constexpr size_t kNodesPerStep = 32;    // decoded, sorted and merged
constexpr size_t kWalkedPerStep = 512;  // nodes that an estimate walks over

}  // namespace

Status TDigestKey::Find() {
  entry_ = TRY(keys_.FindTyped(key_, Type::kTDigest));
  if (!entry_.exists()) return Ok();
  digest_ = TRY(TDigest::Decode(entry_.payload()));
  return ctx_.txn().command().Spend((digest_->merged_nodes() + digest_->unmerged_nodes()) / kNodesPerStep);
}

Status TDigestKey::CompressFor(size_t estimates) {
  digest_->Compress();
  return ctx_.txn().command().Spend(estimates * digest_->merged_nodes() / kWalkedPerStep);
}

Status TDigestKey::Open() {
  TRY(Find());
  return exists() ? Ok() : Status::Reply(kNoTDigestKey);
}

Status TDigestKey::Write(int64_t expire_ms, uint64_t changes) {
  const RecordHeader header = {.type = Type::kTDigest, .encoding = Encoding::kRaw, .expire_ms = expire_ms};
  TRY(keys_.Write(key_, entry_, header, digest_->Encode()));
  ctx_.Changed(kNoEvent, {}, key_.bytes(), changes);
  return Ok();
}

namespace {

// The index of a word among the arguments from `from` on, ignoring case; args.size() if it is missing.
size_t FindWord(const Args& args, size_t from, std::string_view word) {
  size_t at = from;
  while (at < args.size() && !EqualsIgnoreCase(args[at], word)) ++at;
  return at;
}

Result<int64_t> ParseCompression(std::string_view text) {
  const std::string_view argv[] = {{}, text};
  Args args(argv);
  const int64_t compression = args.Integer("ERR T-Digest: error parsing compression parameter");
  TRY(args.Done());
  if (compression > 0) return compression;
  return Status::Reply("ERR T-Digest: compression parameter needs to be a positive integer");
}

// TDIGEST.CREATE key [COMPRESSION compression]
Status TDigestCreate(CommandContext& ctx, Args& args, Reply& reply) {
  if (args.size() != 2 && args.size() != 4) return Status::Reply(errors::WrongArity(ctx.command().full_name()));
  TDigestKey key(ctx, args.Bytes());
  TRY(key.Find());
  if (key.exists()) return Status::Reply("ERR T-Digest: key already exists");
  int64_t compression = TDigest::kDefaultCompression;
  if (args.More()) {
    if (FindWord(args, 2, "compression") == args.size()) return Status::Reply("ERR T-Digest: wrong keyword");
    compression = TRY(ParseCompression(args[3]));
  }
  if (compression > TDigest::kMostCompression) return Status::Reply("ERR T-Digest: allocation failed");
  key.set_digest(TDigest(compression));
  TRY(key.Save());
  reply.Ok();
  return Ok();
}

// TDIGEST.ADD key value [value ...]
Status TDigestAdd(CommandContext& ctx, Args& args, Reply& reply) {
  TDigestKey key(ctx, args.Bytes());
  TRY(key.Open());
  std::vector<double> values;
  while (args.More()) {
    values.push_back(args.Float("ERR T-Digest: error parsing val parameter"));
    if (!std::isfinite(values.back())) args.Fail("ERR T-Digest: val parameter needs to be a finite number");
  }
  TRY(args.Done());
  for (const double value : values) {
    if (!key.digest().Add(value)) return Status::Reply("ERR T-Digest: overflow detected");
  }
  TRY(key.Save(values.size()));
  reply.Ok();
  return Ok();
}

// TDIGEST.RESET key
Status TDigestReset(CommandContext& ctx, Args& args, Reply& reply) {
  TDigestKey key(ctx, args.Bytes());
  TRY(key.Open());
  reply.Ok();
  if (key.digest().IsNew()) return Ok();
  key.digest().Reset();
  return key.Save();
}

struct MergeOptions {
  int64_t compression = 0;  // 0: the highest of the sources
  bool overrides = false;
};

// Like RedisBloom, it ignores other words once it has found one of the two options.
Result<MergeOptions> ParseMergeOptions(CommandContext& ctx, const Args& args, size_t from) {
  MergeOptions options;
  if (from == args.size()) return options;
  const size_t compression = FindWord(args, from, "compression");
  options.overrides = FindWord(args, from, "override") < args.size();
  if (compression + 1 == args.size()) return Status::Reply(errors::WrongArity(ctx.command().full_name()));
  if (compression < args.size()) options.compression = TRY(ParseCompression(args[compression + 1]));
  if (compression == args.size() && !options.overrides) return Status::Reply("ERR T-Digest: wrong keyword");
  return options;
}

// Opens all sources and returns their highest compression.
Result<int64_t> HighestCompression(CommandContext& ctx, std::span<const std::string_view> names) {
  int64_t highest = 0;
  for (const std::string_view name : names) {
    TDigestKey source(ctx, name);
    TRY(source.Open());
    highest = std::max(highest, source.digest().compression());
  }
  return highest;
}

// TDIGEST.MERGE destination numkeys source [source ...] [COMPRESSION compression] [OVERRIDE]
Status TDigestMerge(CommandContext& ctx, Args& args, Reply& reply) {
  TDigestKey target(ctx, args.Bytes());
  TRY(target.Find());
  const int64_t count = args.Integer("ERR T-Digest: error parsing numkeys");
  TRY(args.Check());
  if (count <= 0) return Status::Reply("ERR T-Digest: numkeys needs to be a positive integer");
  if (count > static_cast<int64_t>(args.left())) return Status::Reply(errors::WrongArity(ctx.command().full_name()));
  const auto sources_end = static_cast<size_t>(count) + 3;
  MergeOptions options = TRY(ParseMergeOptions(ctx, args, sources_end));
  const bool keeps_target = target.exists() && !options.overrides;
  if (options.compression == 0 && keeps_target) options.compression = target.digest().compression();
  const auto sources = args.all().subspan(3, static_cast<size_t>(count));
  const int64_t highest = TRY(HighestCompression(ctx, sources));
  if (options.compression == 0) options.compression = highest;
  if (options.compression > TDigest::kMostCompression) {
    return Status::Reply("ERR T-Digest: allocation of destination digest failed");
  }
  TDigest merged(options.compression);
  bool fits = !keeps_target || merged.Merge(target.digest());
  // Each source is opened again: one digest at a time is in memory, however often the request names it.
  for (size_t i = 0; i < sources.size() && fits; ++i) {
    TDigestKey source(ctx, sources[i]);
    TRY(source.Open());
    TRY(ctx.txn().command().Spend(1 + (merged.merged_nodes() + merged.unmerged_nodes()) / kNodesPerStep));
    fits = merged.Merge(std::move(source.digest()));
  }
  if (!fits) return Status::Reply("ERR T-Digest: overflow detected");
  target.set_digest(std::move(merged));
  TRY(target.Replace());
  reply.Ok();
  return Ok();
}

// The bytes that RedisBloom allocates for a digest: its struct, and two numbers for each node that it may have.
int64_t BytesInRedis(const TDigest& digest) {
  constexpr int64_t kStructBytes = 80;
  return kStructBytes + 16 * static_cast<int64_t>(digest.capacity());
}

// TDIGEST.INFO key
Status TDigestInfo(CommandContext& ctx, Args& args, Reply& reply) {
  TDigestKey key(ctx, args.Bytes());
  TRY(key.Open());
  const TDigest& digest = key.digest();
  const std::pair<std::string_view, int64_t> fields[] = {
      {"Compression", digest.compression()},
      {"Capacity", static_cast<int64_t>(digest.capacity())},
      {"Merged nodes", static_cast<int64_t>(digest.merged_nodes())},
      {"Unmerged nodes", static_cast<int64_t>(digest.unmerged_nodes())},
      {"Merged weight", digest.merged_weight()},
      {"Unmerged weight", digest.unmerged_weight()},
      {"Observations", digest.weight()},
      {"Total compressions", static_cast<int64_t>(digest.compressions())},
      {"Memory usage", BytesInRedis(digest)},
  };
  reply.Map(std::size(fields));
  for (const auto& [name, value] : fields) {
    reply.Simple(name);
    reply.Integer(value);
  }
  return Ok();
}

constexpr auto kGroup = Group::kTDigest;

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "tdigest.create", .arity = -2, .flags = kWrite | kDenyOom | kFast, .keys = {OneKey(kRW | kInsert)},
     .run = TDigestCreate, .group = kGroup, .since = "2.4.0", .summary = "Creates an empty t-digest.",
     .complexity = "O(1)", .syntax = "key [COMPRESSION compression:integer]"},
    {.name = "tdigest.add", .arity = -3, .flags = kWrite | kDenyOom, .keys = {OneKey(kRW | kUpdate)},
     .run = TDigestAdd, .group = kGroup, .since = "2.4.0", .summary = "Adds numbers to a t-digest.",
     .complexity = "O(N+C) with N values and a compression of C", .syntax = "key value:double [value:double ...]"},
    {.name = "tdigest.reset", .arity = 2, .flags = kWrite | kDenyOom | kFast, .keys = {OneKey(kRW | kDelete)},
     .run = TDigestReset, .group = kGroup, .since = "2.4.0", .summary = "Removes all numbers from a t-digest.",
     .complexity = "O(1)", .syntax = "key"},
    {.name = "tdigest.merge", .arity = -4, .flags = kWrite | kDenyOom,
     .keys = {OneKey(kRW | kUpdate), CountedKeys(kRO | kAccess, 2)}, .run = TDigestMerge, .group = kGroup,
     .since = "2.4.0", .summary = "Merges t-digests into one, which may exist.",
     .complexity = "O(N*C) with N digests of a compression of C",
     .syntax = "destination numkeys source [source ...] [COMPRESSION compression:integer] [OVERRIDE]"},
    {.name = "tdigest.info", .arity = 2, .flags = kReadonly | kFast, .keys = {OneKey(kRO | kAccess)},
     .run = TDigestInfo, .group = kGroup, .since = "2.4.0", .summary = "Describes a t-digest.",
     .complexity = "O(1)", .syntax = "key"},
};
// clang-format on

}  // namespace

std::span<const CommandRow> TDigestCommands() { return kRows; }

}  // namespace cairn
