// SPDX-License-Identifier: BSD-3-Clause
//
// Cuckoo filters: the commands of RedisBloom for them. The commands emit no keyspace events, as RedisBloom's.
#include "types/cuckoo.h"

#include <cctype>
#include <string>

#include "base/number.h"
#include "command/families.h"
#include "command/filter_chunk.h"
#include "command/fixed.h"
#include "command/named.h"

namespace cairn {
namespace {

constexpr int64_t kDefaultCapacity = 1024;
constexpr int64_t kLeastCapacity = 4;
constexpr uint64_t kDefaultBucketSize = 2;
constexpr uint64_t kDefaultIterations = 20;
constexpr uint64_t kDefaultExpansion = 1;
// A filter with as many sub-filters takes no more items: each makes all commands slower.
constexpr uint64_t kMostSubFilters = 32;

constexpr std::string_view kInvalidPosition = "Invalid position";
constexpr std::string_view kTooLarge = "ERR Insufficient memory to create filter";

enum class Items : uint8_t { kOne, kMany };
enum class Adds : uint8_t { kAlways, kMissing };  // the commands that end with NX add missing items only

Status CreateCuckoo(Cuckoo& cuckoo, const CuckooShape& shape) {
  if (!shape.IsSound()) return Status::Reply(kTooLarge);
  return cuckoo.Create(shape);
}

// An option of CF.RESERVE, which stands anywhere behind the capacity.
Result<uint64_t> ReserveOption(const Args& args, std::string_view name, int64_t least, uint64_t most,
                               uint64_t default_value) {
  for (size_t i = 3; i < args.size(); ++i) {
    if (!EqualsIgnoreCase(args[i], name)) continue;
    const auto value = i + 1 < args.size() ? ParseInt64(args[i + 1]) : std::nullopt;
    if (!value) return Status::Reply("Couldn't parse " + std::string(name));
    if (*value < least || *value > static_cast<int64_t>(most)) {
      return Status::Reply(std::string(name) + ": value must be in the range [" + std::to_string(least) + ", " +
                           std::to_string(most) + "]");
    }
    return static_cast<uint64_t>(*value);
  }
  return default_value;
}

// CF.RESERVE key capacity [BUCKETSIZE bucketsize] [MAXITERATIONS maxiterations] [EXPANSION expansion]
Status CfReserve(CommandContext& ctx, Args& args, Reply& reply) {
  if (args.size() % 2 == 0) return Status::Reply(errors::WrongArity("cf.reserve"));
  const auto capacity = ParseInt64(args[2]);
  if (!capacity) return Status::Reply("Bad capacity");
  const uint64_t iterations = TRY(ReserveOption(args, "MAXITERATIONS", 1, kMostCuckooIterations, kDefaultIterations));
  const uint64_t bucket_size = TRY(ReserveOption(args, "BUCKETSIZE", 1, kMostCuckooBucketSize, kDefaultBucketSize));
  const uint64_t expansion = TRY(ReserveOption(args, "EXPANSION", 0, kMostCuckooExpansion, kDefaultExpansion));
  if (*capacity < static_cast<int64_t>(bucket_size * 2) || *capacity > kMostFilterCapacity) {
    return Status::Reply("Capacity must be in the range [2 * BUCKETSIZE, 1073741824]");
  }
  Named<Cuckoo> cuckoo(ctx, args[1]);
  TRY(cuckoo.Open());
  if (cuckoo.exists()) return Status::Reply(kFilterExists);
  TRY(CreateCuckoo(cuckoo, CuckooShape::Make(static_cast<uint64_t>(*capacity), bucket_size, iterations, expansion)));
  TRY(cuckoo.Save());
  ctx.Changed(kNoEvent, {}, cuckoo.key.bytes());
  reply.Ok();
  return Ok();
}

struct InsertSettings {
  int64_t capacity = kDefaultCapacity;
  bool creates = true;
};

// The reply for an item that was added, for one that was there, or for one that found no room, of several.
void ReplyInserted(bool is_new, bool is_refused, Adds adds, Items items, Reply& reply) {
  if (reply.protocol() == 3 && (adds == Adds::kAlways || items == Items::kOne)) {
    reply.Bool(is_new);
  } else {
    reply.Integer(is_refused ? -1 : is_new ? 1 : 0);
  }
}

// Adds the arguments from `begin` on.
Status InsertItems(CommandContext& ctx, const Args& args, size_t begin, const InsertSettings& settings, Adds adds,
                   Items items, Reply& reply) {
  Named<Cuckoo> cuckoo(ctx, args[1]);
  TRY(cuckoo.Open());
  bool changed = false;
  if (!cuckoo.exists()) {
    if (!settings.creates) return Status::Reply(kNoFilter);
    TRY(CreateCuckoo(cuckoo, CuckooShape::Make(static_cast<uint64_t>(settings.capacity), kDefaultBucketSize,
                                               kDefaultIterations, kDefaultExpansion)));
    changed = true;
  }
  if (cuckoo.shape().filters >= kMostSubFilters) return Status::Reply("Maximum expansions reached");
  if (items == Items::kMany) reply.Array(args.size() - begin);
  for (size_t i = begin; i < args.size(); ++i) {
    if (adds == Adds::kMissing && TRY(cuckoo.Contains(args[i]))) {
      ReplyInserted(false, false, adds, items, reply);
      continue;
    }
    const CuckooInserted inserted = TRY(cuckoo.Insert(args[i]));
    const bool is_new = inserted == CuckooInserted::kNew;
    if (!is_new && items == Items::kOne) {
      return Status::Reply(inserted == CuckooInserted::kFull ? "Filter is full" : "ERR Insufficient memory");
    }
    changed |= is_new;
    ReplyInserted(is_new, !is_new, adds, items, reply);
  }
  if (!changed) return Ok();
  ctx.Changed(kNoEvent, {}, cuckoo.key.bytes());
  return cuckoo.Save();
}

// CF.ADD key item
// CF.ADDNX key item
Status CfAdd(CommandContext& ctx, Args& args, Reply& reply, Adds adds) {
  return InsertItems(ctx, args, 2, {}, adds, Items::kOne, reply);
}

// CF.INSERT key [CAPACITY capacity] [NOCREATE] ITEMS item [item ...]
// CF.INSERTNX key [CAPACITY capacity] [NOCREATE] ITEMS item [item ...]
// RedisBloom tells its options apart by their first letters, so clients may abbreviate them.
Status CfInsert(CommandContext& ctx, Args& args, Reply& reply, Adds adds) {
  const auto wrong_arity = [&ctx] { return Status::Reply(errors::WrongArity(ctx.command().full_name())); };
  InsertSettings settings;
  size_t at = 2;
  for (bool has_items = false; !has_items;) {
    if (at >= args.size()) return wrong_arity();
    const std::string_view word = args[at++];
    switch (word.empty() ? '\0' : std::tolower(static_cast<unsigned char>(word[0]))) {
      case 'i': has_items = true; break;
      case 'n': settings.creates = false; break;
      case 'c': {
        if (at == args.size()) return wrong_arity();
        const auto capacity = ParseInt64(args[at++]);
        if (!capacity) return Status::Reply("Bad capacity");
        if (*capacity < kLeastCapacity || *capacity > kMostFilterCapacity) {
          return Status::Reply("Capacity must be in the range [cf-bucket-size * 2, 1073741824]");
        }
        settings.capacity = *capacity;
        break;
      }
      default: return Status::Reply("Unknown argument received");
    }
  }
  if (at == args.size()) return wrong_arity();
  return InsertItems(ctx, args, at, settings, adds, Items::kMany, reply);
}

// CF.EXISTS key item
// CF.MEXISTS key item [item ...]
Status CfExists(CommandContext& ctx, Args& args, Reply& reply, Items items) {
  Named<Cuckoo> cuckoo(ctx, args[1]);
  TRY(OkIfOfOtherType(cuckoo.Open()));
  if (items == Items::kMany) reply.Array(args.size() - 2);
  for (size_t i = 2; i < args.size(); ++i) reply.Bool(cuckoo.exists() && TRY(cuckoo.Contains(args[i])));
  return Ok();
}

// CF.COUNT key item
Status CfCount(CommandContext& ctx, Args& args, Reply& reply) {
  Named<Cuckoo> cuckoo(ctx, args[1]);
  TRY(OkIfOfOtherType(cuckoo.Open()));
  reply.Integer(cuckoo.exists() ? static_cast<int64_t>(TRY(cuckoo.Count(args[2]))) : 0);
  return Ok();
}

// CF.DEL key item
Status CfDel(CommandContext& ctx, Args& args, Reply& reply) {
  Named<Cuckoo> cuckoo(ctx, args[1]);
  TRY(OkIfOfOtherType(cuckoo.Open()));
  if (!cuckoo.exists()) return Status::Reply("Not found");
  const bool is_deleted = TRY(cuckoo.Delete(args[2]));
  reply.Bool(is_deleted);
  if (!is_deleted) return Ok();
  ctx.Changed(kNoEvent, {}, cuckoo.key.bytes());
  return cuckoo.Save();
}

// CF.COMPACT key
Status CfCompact(CommandContext& ctx, Args& args, Reply& reply) {
  Named<Cuckoo> cuckoo(ctx, args[1]);
  TRY(OkIfOfOtherType(cuckoo.Open()));
  if (!cuckoo.exists()) return Status::Reply("Cuckoo filter was not found");
  const bool changed = TRY(cuckoo.Compact());
  reply.Ok();
  if (!changed) return Ok();
  ctx.Changed(kNoEvent, {}, cuckoo.key.bytes());
  return cuckoo.Save();
}

Status OpenExisting(Cuckoo& cuckoo) {
  TRY(cuckoo.Open());
  return cuckoo.exists() ? Ok() : Status::Reply(kNoFilter);
}

// CF.INFO key
Status CfInfo(CommandContext& ctx, Args& args, Reply& reply) {
  Named<Cuckoo> cuckoo(ctx, args[1]);
  TRY(OpenExisting(cuckoo));
  const CuckooShape& shape = cuckoo.shape();
  const std::pair<std::string_view, uint64_t> fields[] = {
      {"Size", shape.memory_bytes()},
      {"Number of buckets", shape.buckets},
      {"Number of filters", shape.filters},
      {"Number of items inserted", shape.items},
      {"Number of items deleted", shape.deletes},
      {"Bucket size", shape.bucket_size},
      {"Expansion rate", shape.expansion},
      {"Max iterations", shape.max_iterations},
  };
  reply.Map(std::size(fields));
  for (const auto& [name, value] : fields) {
    reply.Simple(name);
    reply.Integer(static_cast<int64_t>(value));
  }
  return Ok();
}

// CF.DEBUG key
Status CfDebug(CommandContext& ctx, Args& args, Reply& reply) {
  Named<Cuckoo> cuckoo(ctx, args[1]);
  TRY(OpenExisting(cuckoo));
  const CuckooShape& shape = cuckoo.shape();
  reply.Bulk("bktsize:" + std::to_string(shape.bucket_size) + " buckets:" + std::to_string(shape.buckets) +
             " items:" + std::to_string(shape.items) + " deletes:" + std::to_string(shape.deletes) +
             " filters:" + std::to_string(shape.filters) + " max_iterations:" + std::to_string(shape.max_iterations) +
             " expansion:" + std::to_string(shape.expansion));
  return Ok();
}

// The sizes of the sequences of bytes that chunks do not cross.
std::vector<uint64_t> SizesOf(const CuckooShape& shape) {
  std::vector<uint64_t> sizes;
  for (uint64_t filter = 0; filter < shape.filters; ++filter) sizes.push_back(shape.BytesOf(filter));
  return sizes;
}

Status ReplyLastChunk(Reply& reply) {
  reply.Array(2);
  reply.Integer(0);
  reply.Null();
  return Ok();
}

// CF.SCANDUMP key iterator
Status CfScanDump(CommandContext& ctx, Args& args, Reply& reply) {
  const auto position = ParseInt64(args[2]);
  if (!position || *position < 0) return Status::Reply(kInvalidPosition);
  Named<Cuckoo> cuckoo(ctx, args[1]);
  TRY(OpenExisting(cuckoo));
  if (cuckoo.shape().items == 0) return ReplyLastChunk(reply);
  if (*position == 0) return ReplyChunk(1, cuckoo.shape().EncodeDump(), reply);
  const auto chunk = FilterChunkAt(SizesOf(cuckoo.shape()), *position);
  if (!chunk) return ReplyLastChunk(reply);
  std::string bytes;
  TRY(cuckoo.bytes().Read(chunk->offset, chunk->size, bytes));
  return ReplyChunk(*position + static_cast<int64_t>(chunk->size), bytes, reply);
}

Status LoadCuckooHeader(Cuckoo& cuckoo, std::string_view header) {
  if (cuckoo.exists()) return Status::Reply(kFilterExists);
  if (header.size() != CuckooShape::kDumpBytes) return Status::Reply("Invalid header");
  const auto shape = CuckooShape::DecodeDump(header);
  if (!shape) return Status::Reply("Couldn't create filter!");
  return cuckoo.Create(*shape);
}

// Writes the bytes of a chunk that ends before `position`.
Status LoadCuckooChunk(Cuckoo& cuckoo, int64_t position, std::string_view bytes) {
  constexpr std::string_view kNotLoaded = "Couldn't load chunk!";
  if (!cuckoo.exists()) return Status::Reply(kNoFilter);
  const bool is_sound = !bytes.empty() && position > static_cast<int64_t>(bytes.size());
  if (!is_sound) return Status::Reply(kNotLoaded);
  const auto place = FilterChunkAt(SizesOf(cuckoo.shape()), position - static_cast<int64_t>(bytes.size()));
  if (!place || bytes.size() > place->left) return Status::Reply(kNotLoaded);
  return cuckoo.bytes().Write(place->offset, bytes);
}

// CF.LOADCHUNK key iterator data
Status CfLoadChunk(CommandContext& ctx, Args& args, Reply& reply) {
  const auto position = ParseInt64(args[2]);
  if (!position || *position == 0) return Status::Reply(kInvalidPosition);
  Named<Cuckoo> cuckoo(ctx, args[1]);
  TRY(cuckoo.Open());
  TRY(*position == 1 ? LoadCuckooHeader(cuckoo, args[3]) : LoadCuckooChunk(cuckoo, *position, args[3]));
  TRY(cuckoo.Save());
  ctx.Changed(kNoEvent, {}, cuckoo.key.bytes());
  reply.Ok();
  return Ok();
}

constexpr auto kGroup = Group::kCuckoo;
constexpr std::string_view kAddComplexity = "O(K+I) with K sub-filters and I iterations";
constexpr std::string_view kInsertComplexity = "O(N*(K+I)) with N items, K sub-filters and I iterations";
constexpr std::string_view kLookupComplexity = "O(K) with K sub-filters";
constexpr std::string_view kInsertSyntax = "key [CAPACITY capacity:integer] [NOCREATE] ITEMS item [item ...]";

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "cf.reserve", .arity = -3, .flags = kWrite | kDenyOom | kFast, .keys = {OneKey(kRW | kInsert)},
     .run = CfReserve, .group = kGroup, .since = "1.0.0",
     .summary = "Creates an empty cuckoo filter of a given capacity.", .complexity = "O(1)",
     .syntax = "key capacity:integer [BUCKETSIZE bucketsize:integer] [MAXITERATIONS maxiterations:integer] "
               "[EXPANSION expansion:integer]"},
    {.name = "cf.add", .arity = 3, .flags = kWrite | kDenyOom, .keys = {OneKey(kRW | kInsert)},
     .run = Fixed<CfAdd, Adds::kAlways>, .group = kGroup, .since = "1.0.0",
     .summary = "Adds an item to a cuckoo filter. Creates the key if it does not exist.",
     .complexity = kAddComplexity, .syntax = "key item"},
    {.name = "cf.addnx", .arity = 3, .flags = kWrite | kDenyOom, .keys = {OneKey(kRW | kInsert)},
     .run = Fixed<CfAdd, Adds::kMissing>, .group = kGroup, .since = "1.0.0",
     .summary = "Adds an item to a cuckoo filter if it is not there. Creates the key if it does not exist.",
     .complexity = kAddComplexity, .syntax = "key item"},
    {.name = "cf.insert", .arity = -4, .flags = kWrite | kDenyOom, .keys = {OneKey(kRW | kInsert)},
     .run = Fixed<CfInsert, Adds::kAlways>, .group = kGroup, .since = "1.0.0",
     .summary = "Adds items to a cuckoo filter. Creates the key with the given capacity if it does not exist.",
     .complexity = kInsertComplexity, .syntax = kInsertSyntax},
    {.name = "cf.insertnx", .arity = -4, .flags = kWrite | kDenyOom, .keys = {OneKey(kRW | kInsert)},
     .run = Fixed<CfInsert, Adds::kMissing>, .group = kGroup, .since = "1.0.0",
     .summary = "Adds those items to a cuckoo filter that are not there. Creates the key if it does not exist.",
     .complexity = kInsertComplexity, .syntax = kInsertSyntax},
    {.name = "cf.exists", .arity = 3, .flags = kReadonly | kFast, .keys = {OneKey(kRO | kAccess)},
     .run = Fixed<CfExists, Items::kOne>, .group = kGroup, .since = "1.0.0",
     .summary = "Determines whether an item is probably in a cuckoo filter.", .complexity = kLookupComplexity,
     .syntax = "key item"},
    {.name = "cf.mexists", .arity = -3, .flags = kReadonly | kFast, .keys = {OneKey(kRO | kAccess)},
     .run = Fixed<CfExists, Items::kMany>, .group = kGroup, .since = "1.0.0",
     .summary = "Determines whether items are probably in a cuckoo filter.",
     .complexity = "O(N*K) with N items and K sub-filters", .syntax = "key item [item ...]"},
    {.name = "cf.count", .arity = 3, .flags = kReadonly | kFast, .keys = {OneKey(kRO | kAccess)}, .run = CfCount,
     .group = kGroup, .since = "1.0.0",
     .summary = "Returns how many times an item is probably in a cuckoo filter.", .complexity = kLookupComplexity,
     .syntax = "key item"},
    {.name = "cf.del", .arity = 3, .flags = kWrite | kFast, .keys = {OneKey(kRW | kDelete)}, .run = CfDel,
     .group = kGroup, .since = "1.0.0", .summary = "Deletes one copy of an item from a cuckoo filter.",
     .complexity = kLookupComplexity, .syntax = "key item"},
    {.name = "cf.compact", .arity = 2, .flags = kWrite | kSlowLane, .keys = {OneKey(kRW | kUpdate)},
     .run = CfCompact, .group = kGroup, .since = "1.0.0",
     .summary = "Moves items of a cuckoo filter to older sub-filters and drops empty ones.",
     .complexity = "O(N) with N the size of the filter", .syntax = "key"},
    {.name = "cf.info", .arity = 2, .flags = kReadonly | kFast, .keys = {OneKey(kRO | kAccess)}, .run = CfInfo,
     .group = kGroup, .since = "1.0.0", .summary = "Returns the properties of a cuckoo filter.", .complexity = "O(1)",
     .syntax = "key", .tips = "dont_cache"},
    {.name = "cf.debug", .arity = 2, .flags = kReadonly | kFast, .keys = {OneKey(kRO | kAccess)}, .run = CfDebug,
     .group = kGroup, .since = "1.0.0", .summary = "Returns the properties of a cuckoo filter as text.",
     .complexity = "O(1)", .syntax = "key", .tips = "dont_cache"},
    {.name = "cf.scandump", .arity = 3, .flags = kReadonly | kFast, .keys = {OneKey(kRO | kAccess)},
     .run = CfScanDump, .group = kGroup, .since = "1.0.0",
     .summary = "Returns a cuckoo filter's header or a chunk of its buckets, for CF.LOADCHUNK.",
     .complexity = "O(N) with N the size of the chunk", .syntax = "key iterator:integer", .tips = "dont_cache"},
    {.name = "cf.loadchunk", .arity = 4, .flags = kWrite | kDenyOom, .keys = {OneKey(kRW | kUpdate)},
     .run = CfLoadChunk, .group = kGroup, .since = "1.0.0",
     .summary = "Creates a cuckoo filter from its header, or writes a chunk of its buckets, from CF.SCANDUMP.",
     .complexity = "O(N) with N the size of the chunk", .syntax = "key iterator:integer data"},
};
// clang-format on

}  // namespace

std::span<const CommandRow> CuckooCommands() { return kRows; }

}  // namespace cairn
