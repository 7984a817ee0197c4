// SPDX-License-Identifier: BSD-3-Clause
#include "storage/compaction_scope.h"

#include <rocksdb/db.h>

#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "base/glob.h"
#include "encoding/varint.h"
#include "storage/format.h"
#include "storage/slice.h"
#include "storage/store.h"

namespace cairn {
namespace {

constexpr int kHashBits = 32;
constexpr uint64_t kPositionEnd = uint64_t{1} << kPositionBits;
constexpr std::string_view kWildcards = "*?[\\";
// A scope with more ranges of ids becomes a single one.
constexpr size_t kMostRuns = 256;
constexpr size_t kReadAheadBytes = 1 << 20;

// Ids first..last.
using IdRun = std::pair<CollectionId, CollectionId>;
using IsWanted = std::function<bool(const KeyRowParts&)>;

std::string RowText(const RowKey& row) { return std::string(row.row()); }

// The runs of ids that no unwanted key owns, in the mode's engine.
// The last one of kMostRuns runs grows instead.
void AddRun(std::vector<IdRun>& runs, CollectionId first, CollectionId last) {
  if (runs.size() < kMostRuns) {
    runs.emplace_back(first, last);
  } else {
    runs.back().second = last;
  }
}

Result<std::vector<IdRun>> FindRuns(Store& store, StorageMode mode, const IsWanted& is_wanted) {
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  options.readahead_size = kReadAheadBytes;
  const RowPlace place = store.engines().PlaceOf(Space::kOwners, mode);
  const std::unique_ptr<rocksdb::Iterator> owners(place.db.NewIterator(options, place.family));
  std::vector<IdRun> runs;
  CollectionId first = CollectionIn(mode, 0);  // the lowest id after the last unwanted one
  bool is_open = false;                        // whether a wanted id was found since
  for (owners->SeekToFirst(); owners->Valid(); owners->Next()) {
    std::string_view row(owners->key().data(), owners->key().size());
    CollectionId id = 0;
    KeyRowParts parts;
    if (!ReadU64(row, id) || !ParseKeyRow({owners->value().data(), owners->value().size()}, parts)) continue;
    if (ModeOfCollection(id) != mode) continue;
    if (is_wanted(parts)) {
      is_open = true;
      continue;
    }
    if (std::exchange(is_open, false)) AddRun(runs, first, id - 1);
    first = id + 1;
  }
  TRY(FromRocksDb(owners->status()));
  if (is_open) AddRun(runs, first, CollectionIn(mode, kCollectionsEnd) - 1);
  return runs;
}

// The range of the key rows that may match: one key, a slot, or the whole keyspace.
CompactionRange KeyRange(KeyspaceId keyspace, std::string_view pattern) {
  const std::string_view literal = pattern.substr(0, pattern.find_first_of(kWildcards));
  uint64_t first = 0;
  uint64_t end = kPositionEnd;
  if (literal == pattern) {
    first = KeyPosition(pattern);
    end = first + 1;
  } else if (const size_t open = literal.find('{'); open != std::string_view::npos) {
    const size_t close = literal.find('}', open);
    if (close != std::string_view::npos && close > open + 1) {
      const uint64_t slot = KeyPosition(literal) >> kHashBits;
      first = slot << kHashBits;
      end = (slot + 1) << kHashBits;
    }
  }
  return {Space::kKeys, RowText(MakeKeyBound(keyspace, first)), RowText(MakeKeyBound(keyspace, end))};
}

Result<CompactionScope> ScopeOf(Store& store, std::string name, KeyspaceId keyspace, CompactionRange keys,
                                const IsWanted& is_wanted) {
  const std::vector<IdRun> runs = TRY(FindRuns(store, ModeOfKeyspace(keyspace), is_wanted));
  CompactionScope scope{std::move(name), false, {}};
  for (const auto& [first, last] : runs) {
    scope.ranges.push_back({Space::kOwners, RowText(MakeOwnerRow(first, 0)), RowText(MakeOwnerRow(last, 0))});
  }
  scope.ranges.push_back(std::move(keys));
  for (const Space space : {Space::kElements, Space::kScores}) {
    for (const auto& [first, last] : runs) {
      scope.ranges.push_back(
          {space, RowText(MakeCollectionStart(space, first, 0)), RowText(MakeCollectionEnd(space, last, 0))});
    }
  }
  return scope;
}

}  // namespace

CompactionScope ScopeOfAll() {
  CompactionScope scope{"all", true, {}};
  for (const Space space :
       {Space::kOwners, Space::kKeys, Space::kElements, Space::kScores, Space::kExpiries, Space::kMeta}) {
    scope.ranges.push_back({space, {}, {}});
  }
  return scope;
}

Result<CompactionScope> ScopeOfDatabase(Store& store, int db) {
  const KeyspaceId keyspace = store.databases()[db].keyspace;
  CompactionRange keys{Space::kKeys, RowText(MakeKeyBound(keyspace, 0)), RowText(MakeKeyBound(keyspace, kPositionEnd))};
  return ScopeOf(store, "db" + std::to_string(db), keyspace, std::move(keys),
                 [keyspace](const KeyRowParts& owner) { return owner.keyspace == keyspace; });
}

Result<CompactionScope> ScopeOfPattern(Store& store, int db, std::string_view pattern) {
  const KeyspaceId keyspace = store.databases()[db].keyspace;
  return ScopeOf(store, std::string(pattern), keyspace, KeyRange(keyspace, pattern),
                 [keyspace, pattern](const KeyRowParts& owner) {
                   return owner.keyspace == keyspace && GlobMatches(pattern, owner.key);
                 });
}

}  // namespace cairn
