// SPDX-License-Identifier: BSD-3-Clause
//
// SORT and SORT_RO: the elements of a list, a set or a sorted set in an order that the client chooses, possibly by the
// values of other keys (command/sort_pattern.h), replied or stored as a list.
//
// The sorted key and the destination are locked as for any command. The keys of BY and GET are known only after the
// elements have been read. They are read with their versions, and the command runs again if one of them changes
// meanwhile (storage/transaction.h, "Isolation"). So everything replied or stored is from one point in time.
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "base/partial_sort.h"
#include "command/access.h"
#include "command/args.h"
#include "command/context.h"
#include "command/families.h"
#include "command/fixed.h"
#include "command/sort_options.h"
#include "types/list.h"
#include "types/set.h"
#include "types/zset.h"

namespace cairn {
namespace {

constexpr std::string_view kReplyCut = "ERR the reply is too large";  // not sent: the connection is closed
constexpr std::string_view kNotADouble = "ERR One or more scores can't be converted into double";

struct Element {
  std::string text;
  double score = 0;               // the weight as a number
  std::optional<std::string> by;  // the weight as bytes; none: the element itself
};
using Elements = std::vector<Element>;

// ---- reading

void Add(CommandMemory& memory, Elements& elements, std::string_view text) {
  memory.Use(sizeof(Element) + text.size());
  elements.push_back({.text = std::string(text)});
}

// Reads elements in the list's order; from its end if DESC applies and the order is kept.
Status ReadList(CommandMemory& memory, List& list, const SortOptions& options, SortOptions::Part part,
                Elements& elements) {
  const bool backwards = options.descending && options.keeps_order;
  const uint64_t first = backwards ? list.size() - part.first - part.n : part.first;
  std::string scratch;
  TRY(list.ForEach(first, part.n, [&](const Item& item) { Add(memory, elements, item.Text(scratch)); }));
  if (backwards) std::reverse(elements.begin(), elements.end());
  return Ok();
}

Status ReadSet(CommandMemory& memory, const Set& set, SortOptions::Part part, Elements& elements) {
  uint64_t rank = 0;
  return set.ForEach([&](std::string_view member) -> Result<bool> {
    if (rank >= part.first) Add(memory, elements, member);
    return ++rank < part.first + part.n;
  });
}

Status ReadZset(CommandMemory& memory, Zset& zset, const SortOptions& options, SortOptions::Part part,
                Elements& elements) {
  ZsetRange range;
  range.first_rank = static_cast<int64_t>(part.first);
  range.last_rank = static_cast<int64_t>(part.first + part.n) - 1;
  range.reverse = options.descending;
  return zset.ForEach(range, [&](std::string_view member, double) -> Result<bool> {
    Add(memory, elements, member);
    return true;
  });
}

// Reads the elements to sort: all of them or, if their order is kept, those within LIMIT.
Result<Elements> ReadElements(Keyspace& keys, const Key& key, KeyEntry entry, const SortOptions& options) {
  CommandState& command = keys.txn().command();
  Elements elements;
  const auto part_of = [&options](uint64_t size) {
    return options.keeps_order ? options.PartOf(size) : SortOptions::Part{0, size};
  };
  if (entry.type() == Type::kList) {
    List list(keys, key);
    TRY(list.Open(std::move(entry)));
    const SortOptions::Part part = part_of(list.size());
    TRY(command.Spend(part.n));
    if (part.n > 0) TRY(ReadList(command.memory(), list, options, part, elements));
  } else if (entry.type() == Type::kSet) {
    Set set(keys, key);
    TRY(set.Open(std::move(entry)));
    const SortOptions::Part part = part_of(set.size());
    TRY(command.Spend(part.n));
    if (part.n > 0) TRY(ReadSet(command.memory(), set, part, elements));
  } else {
    Zset zset(keys, key);
    TRY(zset.Open(std::move(entry)));
    const SortOptions::Part part = part_of(zset.size());
    TRY(command.Spend(part.n));
    if (part.n > 0) TRY(ReadZset(command.memory(), zset, options, part, elements));
  }
  return elements;
}

// ---- sorting

// A score as strtod reads it, up to the first zero byte; nullopt if it is not a number or out of range.
std::optional<double> ReadScore(const std::string& text) {
  char* end = nullptr;
  errno = 0;
  const double score = std::strtod(text.c_str(), &end);
  if (*end != '\0' || errno == ERANGE || std::isnan(score)) return std::nullopt;
  return score;
}

// Limits the bytes of the values that a command keeps in memory at once. One SETBIT makes a string of 512 MB, and the
// pattern can name that string for each element.
class KeptBytes {
 public:
  explicit KeptBytes(Keyspace& keys)
      : command_(keys.txn().command()),
        left_(static_cast<uint64_t>(keys.limits().proto_max_bulk_len.load(std::memory_order_relaxed))) {}

  Status Add(uint64_t bytes) {
    if (bytes > left_) return Status::Reply(kTooMuch);
    left_ -= bytes;
    return Use(bytes);
  }
  // Counts bytes that the command uses, without the limit for kept values.
  Status Use(uint64_t bytes) {
    command_.memory().Use(bytes);
    return command_.Spend(1);
  }

 private:
  static constexpr std::string_view kTooMuch =
      "ERR Insufficient memory, the values of the patterns of SORT exceed proto-max-bulk-len";

  CommandState& command_;
  uint64_t left_;
};

Status FindWeights(Keyspace& keys, const SortOptions& options, Elements& elements) {
  bool all_numbers = true;
  KeptBytes kept(keys);
  const auto check = [&](uint64_t bytes) {
    return options.alpha ? kept.Add(bytes) : kept.Use(bytes);  // numbers are not kept
  };
  for (Element& element : elements) {
    std::optional<std::string> found;
    if (options.by) {
      found = TRY(options.by->Find(keys, element.text, check));
      if (!found) continue;
    }
    if (options.alpha) {
      element.by = std::move(found);
      continue;
    }
    const std::optional<double> score = ReadScore(found ? *found : element.text);
    all_numbers &= score.has_value();
    element.score = score.value_or(0);
  }
  return all_numbers ? Ok() : Status::Reply(kNotADouble);
}

// Returns a negative value if `a` comes first. An element without a weight comes before the others.
int Compare(const Element& a, const Element& b, const SortOptions& options) {
  if (!options.alpha) {
    if (a.score != b.score) return a.score < b.score ? -1 : 1;
    return a.text.compare(b.text);
  }
  if (!options.by) return a.text.compare(b.text);
  if (a.by && b.by) return a.by->compare(*b.by);
  return static_cast<int>(a.by.has_value()) - static_cast<int>(b.by.has_value());
}

// Sorts the part within LIMIT and drops the rest; elements of equal weights have Redis's order.
void SortPart(Elements& elements, const SortOptions& options, SortOptions::Part part) {
  PartialSort(std::span(elements), part.first, part.n, [&options](const Element& a, const Element& b) {
    return options.descending ? Compare(b, a, options) : Compare(a, b, options);
  });
  elements.erase(elements.begin() + static_cast<ptrdiff_t>(part.first + part.n), elements.end());
  elements.erase(elements.begin(), elements.begin() + static_cast<ptrdiff_t>(part.first));
}

// ---- results

// The number of values of the result: the GET values of each element, or the element itself without GET.
size_t ResultSize(const SortOptions& options, const Elements& elements) {
  return elements.size() * std::max<size_t>(options.get.size(), 1);
}

// Replies with the result, each value as it is found.
Status ReplyResult(Keyspace& keys, const SortOptions& options, const Elements& elements, Reply& reply) {
  const auto check = [&reply](uint64_t bytes) { return reply.Fits(bytes) ? Ok() : Status::Reply(kReplyCut); };
  reply.Array(ResultSize(options, elements));
  for (const Element& element : elements) {
    if (options.get.empty()) reply.Bulk(element.text);
    for (const SortPattern& pattern : options.get) {
      const std::optional<std::string> found = TRY(pattern.Find(keys, element.text, check));
      if (found) {
        reply.Bulk(*found);
      } else {
        reply.Null();
      }
    }
  }
  return Ok();
}

// Of a text of the result, besides its characters: Store also has a view of each.
constexpr uint64_t kBytesOfText = sizeof(std::string) + sizeof(std::string_view);

// Returns the result to store; an empty string for each missing value.
Result<std::vector<std::string>> CollectResult(Keyspace& keys, const SortOptions& options, Elements elements) {
  std::vector<std::string> texts;
  KeptBytes kept(keys);
  const auto check = [&kept](uint64_t bytes) { return kept.Add(bytes); };
  for (Element& element : elements) {
    for (const SortPattern& pattern : options.get) {
      TRY(kept.Use(kBytesOfText));
      texts.push_back(TRY(pattern.Find(keys, element.text, check)).value_or(""));
    }
    if (!options.get.empty()) continue;
    TRY(kept.Use(kBytesOfText));
    texts.push_back(std::move(element.text));
  }
  return texts;
}

// Replicates the stored result itself: a replica could compute another, because expired keys and fields exist there
// until the primary deletes them.
void ReplicateStored(CommandContext& ctx, std::string_view name, std::span<const std::string_view> texts,
                     bool replaced) {
  constexpr size_t kTextsPerCommand = 1024;
  if (!ctx.is_replicated()) return;
  if (replaced) ctx.Replicate({"DEL", name});
  for (; !texts.empty(); texts = texts.subspan(std::min(texts.size(), kTextsPerCommand))) {
    const auto part = texts.first(std::min(texts.size(), kTextsPerCommand));
    std::vector<std::string_view> words = {"RPUSH", name};
    words.insert(words.end(), part.begin(), part.end());
    ctx.Replicate(words);
  }
}

// Replaces the value under `name` by a list; an empty result removes the key.
Status Store(CommandContext& ctx, std::string_view name, std::span<const std::string> found, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(name);
  const KeyEntry replaced = TRY(keys.Find(key, Access::kPeek));
  if (replaced.exists()) {
    TRY(keys.Remove(key, replaced));
    keys.OmitNewKeyEvents();
  }
  reply.Integer(static_cast<int64_t>(found.size()));
  if (found.empty()) {
    if (replaced.exists()) ctx.Changed(kGenericEvent, "del", name);
    ReplicateStored(ctx, name, {}, replaced.exists());
    return Ok();
  }
  const std::vector<std::string_view> texts(found.begin(), found.end());
  List list(keys, key);
  TRY(list.Open());
  TRY(list.Push(ListEnd::kTail, texts));
  TRY(list.Save());
  ctx.Changed(kListEvent, "sortstore", name, found.size());
  ReplicateStored(ctx, name, texts, replaced.exists());
  return Ok();
}

// SORT and SORT_RO.
Status Sort(CommandContext& ctx, Args& args, Reply& reply, bool may_store) {
  Keyspace keys = ctx.keys();
  keys.EmitMisses(true);
  const Key key = keys.Name(args.Bytes());
  const AclUser* account = ctx.session().login.account.get();
  const bool may_read_all = account == nullptr || MayReadAllKeys(*account, ctx.session().db, ctx.command(), args.all());
  SortOptions options = ReadSortOptions(args, may_store, may_read_all);
  TRY(args.Done());

  KeyEntry entry = TRY(keys.Find(key));
  const Type type = entry.type();
  const bool sortable = type == Type::kList || type == Type::kSet || type == Type::kZset;
  if (entry.exists() && !sortable) return Status::Reply(errors::kWrongType);
  // A set has no order to keep. A stored result, or one returned to a script, must not depend on the storage order.
  if (options.keeps_order && type == Type::kSet && (options.store || ctx.session().script.runs)) {
    options.keeps_order = false;
    options.alpha = true;
    options.by.reset();
  }
  Elements elements;
  if (entry.exists()) elements = TRY(ReadElements(keys, key, std::move(entry), options));
  if (!options.keeps_order) {
    TRY(FindWeights(keys, options, elements));
    SortPart(elements, options, options.PartOf(elements.size()));
  }
  if (!options.store) return ReplyResult(keys, options, elements, reply);
  return Store(ctx, *options.store, TRY(CollectResult(keys, options, std::move(elements))), reply);
}

constexpr KeySpec kPatternKeys = {
    .flags = kRO | kAccess,
    .keyword = "BY GET",
    .notes =
        "For the optional BY/GET keyword. It is marked 'unknown' because the key names derive "
        "from the content of the key we sort",
    .unknown = true};
constexpr KeySpec kStoreKey = {.flags = kOW | kUpdate,
                               .keyword = "STORE",
                               .notes =
                                   "For the optional STORE keyword. It is marked 'unknown' because the keyword can "
                                   "appear anywhere in the argument array",
                               .unknown = true};
constexpr std::string_view kComplexity =
    "O(N log M) with N the number of elements of the key and M that of those returned or skipped; "
    "O(N) when they are not sorted";
constexpr std::string_view kCategories = "set sortedset list dangerous -keyspace";

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "sort", .arity = -2, .flags = kWrite | kDenyOom, .keys = {OneKey(kRO | kAccess), kPatternKeys, kStoreKey},
     .run = Fixed<Sort, true>, .group = Group::kGeneric, .since = "1.0.0",
     .summary = "Sorts the elements of a list, a set or a sorted set, and optionally stores the result.",
     .complexity = kComplexity,
     .syntax = "key [BY pattern] [LIMIT offset count] [GET pattern [GET pattern ...]] [ASC | DESC] [ALPHA] [STORE "
               "destination]", .acl = kCategories, .find_keys = FindSortKeys},
    {.name = "sort_ro", .arity = -2, .flags = kReadonly, .keys = {OneKey(kRO | kAccess), kPatternKeys},
     .run = Fixed<Sort, false>, .group = Group::kGeneric, .since = "7.0.0",
     .summary = "Returns the sorted elements of a list, a set or a sorted set.", .complexity = kComplexity,
     .syntax = "key [BY pattern] [LIMIT offset count] [GET pattern [GET pattern ...]] [ASC | DESC] [ALPHA]",
     .acl = kCategories},
};
// clang-format on

}  // namespace

std::span<const CommandRow> SortCommands() { return kRows; }

}  // namespace cairn
