// SPDX-License-Identifier: BSD-3-Clause
//
// Bloom filters: the commands of RedisBloom for them. The commands emit no keyspace events, as RedisBloom's.
#include "types/bloom.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "base/number.h"
#include "command/families.h"
#include "command/filter_chunk.h"
#include "command/fixed.h"
#include "command/named.h"

namespace cairn {
namespace {

constexpr double kDefaultError = 0.01;
constexpr double kMostError = 0.25;  // a higher error rate is replaced by this
constexpr int64_t kDefaultCapacity = 100;
constexpr int64_t kDefaultExpansion = 2;
constexpr int64_t kMostExpansion = 32768;

constexpr std::string_view kIterationNotNumeric = "Second argument must be numeric";

enum class Items : uint8_t { kOne, kMany };

struct BloomSettings {
  double error = kDefaultError;
  int64_t capacity = kDefaultCapacity;
  int64_t expansion = kDefaultExpansion;
  bool is_fixed_size = false;
  bool creates = true;
};

bool IsErrorRate(double error) { return error > 0 && error < 1; }
bool IsCapacity(int64_t capacity) { return capacity >= 1 && capacity <= kMostFilterCapacity; }
bool IsExpansion(int64_t expansion) { return expansion >= 0 && expansion <= kMostExpansion; }

Status CreateBloom(Bloom& bloom, const BloomSettings& settings) {
  // The links of a filter that may grow have half, a quarter, an eighth ... of the error rate.
  const double error = std::min(settings.error, kMostError) * (settings.is_fixed_size ? 1 : 0.5);
  BloomChain chain{.growth = static_cast<uint32_t>(settings.expansion)};
  if (settings.is_fixed_size) chain.options |= kBloomFixedSize;
  chain.links.push_back(TRY(MakeBloomLink(static_cast<uint64_t>(settings.capacity), error, chain.options)));
  return bloom.Create(std::move(chain));
}

// The options of BF.RESERVE, in any order; other words are ignored, as RedisBloom does.
Status ParseReserveOptions(const Args& args, size_t begin, BloomSettings& settings) {
  size_t expansion_at = 0;
  for (size_t i = begin; i < args.size(); ++i) {
    if (EqualsIgnoreCase(args[i], "nonscaling")) settings.is_fixed_size = true;
    if (expansion_at == 0 && EqualsIgnoreCase(args[i], "expansion")) expansion_at = i;
  }
  if (expansion_at == 0) return Ok();
  if (expansion_at + 1 == args.size()) return Status::Reply("ERR no expansion");
  const auto expansion = ParseInt64(args[expansion_at + 1]);
  if (!expansion) return Status::Reply("ERR bad expansion");
  if (*expansion != 0 && settings.is_fixed_size) return Status::Reply("Nonscaling filters cannot expand");
  if (!IsExpansion(*expansion)) return Status::Reply("ERR expansion must be in the range [0, 32768]");
  settings.expansion = *expansion;
  if (*expansion == 0) settings.is_fixed_size = true;
  return Ok();
}

// BF.RESERVE key error_rate capacity [EXPANSION expansion] [NONSCALING]
Status BfReserve(CommandContext& ctx, Args& args, Reply& reply) {
  constexpr size_t kMostArguments = 7;
  if (args.size() > kMostArguments) return Status::Reply(errors::WrongArity("bf.reserve"));
  BloomSettings settings;
  const auto error = ParseDouble(args[2]);
  if (!error) return Status::Reply("ERR bad error rate");
  if (!IsErrorRate(*error)) return Status::Reply("ERR error rate must be in the range (0.000000, 1.000000)");
  settings.error = *error;
  const auto capacity = ParseInt64(args[3]);
  if (!capacity) return Status::Reply("ERR bad capacity");
  if (!IsCapacity(*capacity)) return Status::Reply("ERR capacity must be in the range [1, 1073741824]");
  settings.capacity = *capacity;
  TRY(ParseReserveOptions(args, 4, settings));
  Named<Bloom> bloom(ctx, args[1]);
  TRY(bloom.Open());
  if (bloom.exists()) return Status::Reply(kFilterExists);
  TRY(CreateBloom(bloom, settings));
  TRY(bloom.Save());
  ctx.Changed(kNoEvent, {}, bloom.key.bytes());
  reply.Ok();
  return Ok();
}

std::string_view RefusalOf(BloomAdded added) {
  return added == BloomAdded::kFull ? "ERR non scaling filter is full" : "ERR problem inserting into filter";
}

// Adds the arguments from `begin` on. The array of replies ends with the first error.
Status AddItems(CommandContext& ctx, const Args& args, size_t begin, const BloomSettings& settings, Items items,
                Reply& reply) {
  Named<Bloom> bloom(ctx, args[1]);
  TRY(bloom.Open());
  bool changed = false;
  if (!bloom.exists()) {
    if (!settings.creates) return Status::Reply(kNoFilter);
    TRY(CreateBloom(bloom, settings));
    changed = true;
  }
  const size_t mark = reply.Later();
  size_t count = 0;
  for (size_t i = begin; i < args.size(); ++i) {
    const BloomAdded added = TRY(bloom.Add(args[i]));
    const bool is_refused = added != BloomAdded::kNew && added != BloomAdded::kPresent;
    if (is_refused && items == Items::kOne) return Status::Reply(RefusalOf(added));
    ++count;
    changed |= added == BloomAdded::kNew;
    if (is_refused) {
      reply.Error(RefusalOf(added));
      break;
    }
    reply.Bool(added == BloomAdded::kNew);
  }
  if (items == Items::kMany) reply.FinishArray(mark, count);
  if (!changed) return Ok();
  ctx.Changed(kNoEvent, {}, bloom.key.bytes());
  return bloom.Save();
}

// BF.ADD key item
// BF.MADD key item [item ...]
Status BfAdd(CommandContext& ctx, Args& args, Reply& reply, Items items) {
  return AddItems(ctx, args, 2, {}, items, reply);
}

Status ParseInsertValue(char option, std::string_view text, BloomSettings& settings) {
  if (option == 'r') {
    settings.error = ParseDouble(text).value_or(0);
    return IsErrorRate(settings.error) ? Ok() : Status::Reply("Bad error rate");
  }
  if (option == 'c') {
    settings.capacity = ParseInt64(text).value_or(0);
    return IsCapacity(settings.capacity) ? Ok() : Status::Reply("Bad capacity");
  }
  settings.expansion = ParseInt64(text).value_or(-1);
  return IsExpansion(settings.expansion) ? Ok() : Status::Reply("Bad expansion");
}

// BF.INSERT key [CAPACITY capacity] [ERROR error] [EXPANSION expansion] [NOCREATE] [NONSCALING] ITEMS item [item ...]
// RedisBloom tells its options apart by their first letters, so clients may abbreviate them.
Status BfInsert(CommandContext& ctx, Args& args, Reply& reply) {
  BloomSettings settings;
  size_t at = 2;
  for (bool has_items = false; !has_items;) {
    if (at >= args.size()) return Status::Reply(errors::WrongArity("bf.insert"));
    const std::string word(args[at++]);
    const auto letter = [&word](size_t i) {
      return i < word.size() ? static_cast<char>(std::tolower(static_cast<unsigned char>(word[i]))) : '\0';
    };
    switch (letter(0)) {
      case 'i': has_items = true; break;
      case 'n':
        if (letter(2) == 'c') {
          settings.creates = false;
        } else {
          settings.is_fixed_size = true;
        }
        break;
      case 'e':
      case 'c':
        if (at == args.size()) return Status::Reply(errors::WrongArity("bf.insert"));
        TRY(ParseInsertValue(letter(0) == 'c' ? 'c' : letter(1), args[at++], settings));
        break;
      default: return Status::Reply("Unknown argument received");
    }
  }
  if (at == args.size()) return Status::Reply(errors::WrongArity("bf.insert"));
  if (settings.expansion == 0) settings.is_fixed_size = true;
  return AddItems(ctx, args, at, settings, Items::kMany, reply);
}

// BF.EXISTS key item
// BF.MEXISTS key item [item ...]
Status BfExists(CommandContext& ctx, Args& args, Reply& reply, Items items) {
  Named<Bloom> bloom(ctx, args[1]);
  TRY(OkIfOfOtherType(bloom.Open()));
  if (items == Items::kMany) reply.Array(args.size() - 2);
  for (size_t i = 2; i < args.size(); ++i) reply.Bool(bloom.exists() && TRY(bloom.Contains(args[i])));
  return Ok();
}

Status OpenExisting(Bloom& bloom) {
  TRY(bloom.Open());
  return bloom.exists() ? Ok() : Status::Reply(kNoFilter);
}

// BF.CARD key
Status BfCard(CommandContext& ctx, Args& args, Reply& reply) {
  Named<Bloom> bloom(ctx, args[1]);
  TRY(bloom.Open());
  reply.Integer(static_cast<int64_t>(bloom.chain().size));
  return Ok();
}

// BF.INFO key [CAPACITY | SIZE | FILTERS | ITEMS | EXPANSION]
Status BfInfo(CommandContext& ctx, Args& args, Reply& reply) {
  if (args.size() > 3) return Status::Reply(errors::WrongArity("bf.info"));
  Named<Bloom> bloom(ctx, args[1]);
  TRY(OpenExisting(bloom));
  const BloomChain& chain = bloom.chain();
  const struct {
    std::string_view word;
    std::string_view name;
    uint64_t value;
  } fields[] = {
      {"capacity", "Capacity", chain.capacity()},           {"size", "Size", chain.memory_bytes()},
      {"filters", "Number of filters", chain.links.size()}, {"items", "Number of items inserted", chain.size},
      {"expansion", "Expansion rate", chain.growth},
  };
  const auto reply_value = [&](const auto& field) {
    if (field.word == "expansion" && chain.options & kBloomFixedSize) {
      reply.Null();
    } else {
      reply.Integer(static_cast<int64_t>(field.value));
    }
  };
  if (args.size() == 2) {
    reply.Map(std::size(fields));
    for (const auto& field : fields) {
      reply.Simple(field.name);
      reply_value(field);
    }
    return Ok();
  }
  for (const auto& field : fields) {
    if (!EqualsIgnoreCase(args[2], field.word)) continue;
    // In RESP2 the value is not preceded by its name.
    if (reply.protocol() == 3) {
      reply.Map(1);
      reply.Simple(field.name);
    } else {
      reply.Array(1);
    }
    reply_value(field);
    return Ok();
  }
  return Status::Reply("Invalid information value");
}

// BF.DEBUG key
Status BfDebug(CommandContext& ctx, Args& args, Reply& reply) {
  Named<Bloom> bloom(ctx, args[1]);
  TRY(OpenExisting(bloom));
  const BloomChain& chain = bloom.chain();
  reply.Array(chain.links.size() + 1);
  reply.Bulk("size:" + std::to_string(chain.size));
  for (const BloomLink& link : chain.links) {
    char ratio[32];
    std::snprintf(ratio, sizeof ratio, "%g", link.error);
    reply.Bulk("bytes:" + std::to_string(link.bytes) + " bits:" + std::to_string(link.bits()) +
               " hashes:" + std::to_string(link.hashes) + " hashwidth:" + (chain.options & kBloomHash64 ? "64" : "32") +
               " capacity:" + std::to_string(link.entries) + " size:" + std::to_string(link.size) + " ratio:" + ratio);
  }
  return Ok();
}

// The sizes of the sequences of bytes that chunks do not cross.
std::vector<uint64_t> SizesOf(const BloomChain& chain) {
  std::vector<uint64_t> sizes;
  for (const BloomLink& link : chain.links) sizes.push_back(link.bytes);
  return sizes;
}

// BF.SCANDUMP key iterator
Status BfScanDump(CommandContext& ctx, Args& args, Reply& reply) {
  Named<Bloom> bloom(ctx, args[1]);
  TRY(OpenExisting(bloom));
  const auto iterator = ParseInt64(args[2]);
  if (!iterator) return Status::Reply(kIterationNotNumeric);
  if (*iterator == 0) return ReplyChunk(1, bloom.chain().EncodeDump(), reply);
  const auto chunk = FilterChunkAt(SizesOf(bloom.chain()), *iterator);
  if (!chunk) return ReplyChunk(0, {}, reply);
  std::string bytes;
  TRY(bloom.bytes().Read(chunk->offset, chunk->size, bytes));
  return ReplyChunk(*iterator + static_cast<int64_t>(chunk->size), bytes, reply);
}

// Writes the bytes of a chunk that ends before `iterator`.
Status LoadBloomChunk(Bloom& bloom, int64_t iterator, std::string_view bytes) {
  if (iterator <= 0 || static_cast<uint64_t>(iterator) < bytes.size()) return Status::Reply("ERR received bad data");
  const auto place = FilterChunkAt(SizesOf(bloom.chain()), iterator - static_cast<int64_t>(bytes.size()));
  if (!place) return Status::Reply("ERR invalid offset - no link found");
  if (bytes.size() > place->left) return Status::Reply("ERR invalid chunk - Too big for current filter");
  return bloom.bytes().Write(place->offset, bytes);
}

// BF.LOADCHUNK key iterator data
Status BfLoadChunk(CommandContext& ctx, Args& args, Reply& reply) {
  const auto iterator = ParseInt64(args[2]);
  if (!iterator) return Status::Reply("ERR " + std::string(kIterationNotNumeric));
  Named<Bloom> bloom(ctx, args[1]);
  TRY(bloom.Open());
  if (bloom.exists()) {
    TRY(LoadBloomChunk(bloom, *iterator, args[3]));
  } else if (*iterator == 1) {
    TRY(bloom.Create(TRY(BloomChain::DecodeDump(args[3]))));
  } else {
    return Status::Reply(kNoFilter);
  }
  TRY(bloom.Save());
  ctx.Changed(kNoEvent, {}, bloom.key.bytes());
  reply.Ok();
  return Ok();
}

constexpr auto kGroup = Group::kBloom;
constexpr std::string_view kItemsComplexity = "O(k*N) with k hash functions and N items";

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "bf.reserve", .arity = -4, .flags = kWrite | kDenyOom | kFast, .keys = {OneKey(kRW | kInsert)},
     .run = BfReserve, .group = kGroup, .since = "1.0.0",
     .summary = "Creates an empty Bloom filter of a given error rate and capacity.", .complexity = "O(1)",
     .syntax = "key error_rate:double capacity:integer [EXPANSION expansion:integer] [NONSCALING]"},
    {.name = "bf.add", .arity = 3, .flags = kWrite | kDenyOom, .keys = {OneKey(kRW | kInsert)},
     .run = Fixed<BfAdd, Items::kOne>, .group = kGroup, .since = "1.0.0",
     .summary = "Adds an item to a Bloom filter. Creates the key if it does not exist.",
     .complexity = "O(k) with k hash functions", .syntax = "key item"},
    {.name = "bf.madd", .arity = -3, .flags = kWrite | kDenyOom, .keys = {OneKey(kRW | kInsert)},
     .run = Fixed<BfAdd, Items::kMany>, .group = kGroup, .since = "1.0.0",
     .summary = "Adds items to a Bloom filter. Creates the key if it does not exist.", .complexity = kItemsComplexity,
     .syntax = "key item [item ...]"},
    {.name = "bf.insert", .arity = -4, .flags = kWrite | kDenyOom, .keys = {OneKey(kRW | kInsert)}, .run = BfInsert,
     .group = kGroup, .since = "1.0.0",
     .summary = "Adds items to a Bloom filter. Creates it with the given properties if the key does not exist.",
     .complexity = kItemsComplexity,
     .syntax = "key [CAPACITY capacity:integer] [ERROR error:double] [EXPANSION expansion:integer] [NOCREATE] "
               "[NONSCALING] ITEMS item [item ...]"},
    {.name = "bf.exists", .arity = 3, .flags = kReadonly | kFast, .keys = {OneKey(kRO | kAccess)},
     .run = Fixed<BfExists, Items::kOne>, .group = kGroup, .since = "1.0.0",
     .summary = "Determines whether an item was probably added to a Bloom filter.",
     .complexity = "O(k) with k hash functions", .syntax = "key item"},
    {.name = "bf.mexists", .arity = -3, .flags = kReadonly | kFast, .keys = {OneKey(kRO | kAccess)},
     .run = Fixed<BfExists, Items::kMany>, .group = kGroup, .since = "1.0.0",
     .summary = "Determines whether items were probably added to a Bloom filter.", .complexity = kItemsComplexity,
     .syntax = "key item [item ...]"},
    {.name = "bf.card", .arity = 2, .flags = kReadonly | kFast, .keys = {OneKey(kRO | kAccess)}, .run = BfCard,
     .group = kGroup, .since = "2.4.4", .summary = "Returns the number of items that were added to a Bloom filter.",
     .complexity = "O(1)", .syntax = "key"},
    {.name = "bf.info", .arity = -2, .flags = kReadonly | kFast, .keys = {OneKey(kRO | kAccess)}, .run = BfInfo,
     .group = kGroup, .since = "1.0.0", .summary = "Returns the properties of a Bloom filter.", .complexity = "O(1)",
     .syntax = "key [CAPACITY | SIZE | FILTERS | ITEMS | EXPANSION]", .tips = "dont_cache"},
    {.name = "bf.debug", .arity = 2, .flags = kReadonly | kFast, .keys = {OneKey(kRO | kAccess)}, .run = BfDebug,
     .group = kGroup, .since = "1.0.0", .summary = "Returns the sizes of a Bloom filter's sub-filters.",
     .complexity = "O(N) with N sub-filters", .syntax = "key", .tips = "dont_cache"},
    {.name = "bf.scandump", .arity = 3, .flags = kReadonly | kFast, .keys = {OneKey(kRO | kAccess)},
     .run = BfScanDump, .group = kGroup, .since = "1.0.0",
     .summary = "Returns a Bloom filter's header or a chunk of its bits, for BF.LOADCHUNK.",
     .complexity = "O(N) with N the size of the chunk", .syntax = "key iterator:integer", .tips = "dont_cache"},
    {.name = "bf.loadchunk", .arity = 4, .flags = kWrite | kDenyOom, .keys = {OneKey(kRW | kUpdate)},
     .run = BfLoadChunk, .group = kGroup, .since = "1.0.0",
     .summary = "Creates a Bloom filter from its header, or writes a chunk of its bits, from BF.SCANDUMP.",
     .complexity = "O(N) with N the size of the chunk", .syntax = "key iterator:integer data"},
};
// clang-format on

}  // namespace

std::span<const CommandRow> BloomCommands() { return kRows; }

}  // namespace cairn
