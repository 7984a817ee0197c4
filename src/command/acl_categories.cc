// SPDX-License-Identifier: BSD-3-Clause
#include "command/acl_categories.h"

#include "base/assert.h"

namespace cairn {
namespace {

constexpr std::string_view kNames[] = {
    "keyspace",    "read",        "write",     "set",    "sortedset", "list",   "hash", "string",   "bitmap",
    "hyperloglog", "geo",         "stream",    "pubsub", "admin",     "fast",   "slow", "blocking", "dangerous",
    "connection",  "transaction", "scripting", "json",   "bloom",     "cuckoo", "cms",  "topk",     "tdigest",
};

struct FlagImplies {
  uint32_t flag;
  std::string_view categories;
};
constexpr FlagImplies kFlags[] = {
    {kWrite, "write"},   {kReadonly, "read"},     {kAdmin, "admin dangerous"},
    {kPubsub, "pubsub"}, {kBlocking, "blocking"}, {kFast, "fast"},
};

std::string_view CategoryOfGroup(Group group) {
  switch (group) {
    case Group::kGeneric: return "keyspace";
    case Group::kString: return "string";
    case Group::kList: return "list";
    case Group::kSet: return "set";
    case Group::kSortedSet: return "sortedset";
    case Group::kHash: return "hash";
    case Group::kTransactions: return "transaction";
    case Group::kConnection: return "connection";
    case Group::kScripting: return "scripting";
    case Group::kHyperloglog: return "hyperloglog";
    case Group::kGeo: return "geo";
    case Group::kStream: return "stream";
    case Group::kBitmap: return "bitmap";
    case Group::kJson: return "json";
    case Group::kBloom: return "bloom";
    case Group::kCuckoo: return "cuckoo";
    case Group::kCountMin: return "cms";
    case Group::kTopK: return "topk";
    case Group::kTDigest: return "tdigest";
    case Group::kPubsub:
    case Group::kServer:
    case Group::kCluster:
    case Group::kSentinel: break;
  }
  return {};
}

// The bits of space-separated names. The bits of names with a minus sign go to `removed`.
uint32_t BitsOf(std::string_view names, uint32_t& removed) {
  uint32_t bits = 0;
  while (!names.empty()) {
    const bool remove = names[0] == '-';
    if (remove) names.remove_prefix(1);
    const size_t end = std::min(names.find(' '), names.size());
    const uint32_t bit = AclCategoryBit(names.substr(0, end));
    ASSERT(bit != 0, "a row names a category that does not exist");
    (remove ? removed : bits) |= bit;
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return bits;
}

}  // namespace

std::span<const std::string_view> AclCategoryNames() { return kNames; }

uint32_t AclCategoryBit(std::string_view name) {
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (EqualsIgnoreCase(kNames[i], name)) return 1u << i;
  }
  return 0;
}

uint32_t AclCategoriesOf(const Command& command) {
  const CommandRow& row = command.row();
  uint32_t removed = 0;
  uint32_t bits = BitsOf(row.acl, removed);
  for (const auto& [flag, categories] : kFlags) {
    const bool hides_reading = flag == kReadonly && row.group == Group::kScripting;
    if ((row.flags & flag) && !hides_reading) bits |= BitsOf(categories, removed);
  }
  if (!(row.flags & kFast)) bits |= BitsOf("slow", removed);
  const bool only_contains = (row.flags & kSubcommands) && row.run == nullptr;
  if (!only_contains) bits |= BitsOf(CategoryOfGroup(row.group), removed);
  return bits & ~removed;
}

}  // namespace cairn
