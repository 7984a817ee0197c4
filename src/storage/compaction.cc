// SPDX-License-Identifier: BSD-3-Clause
#include "storage/compaction.h"

#include <string_view>

#include "encoding/varint.h"
#include "storage/store.h"

namespace cairn {
namespace {

std::string_view View(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

// Filters rows by an id at the start of the row (or of its value), with one query per run of equal ids.
template <typename Id, typename ReadId, typename IsLive>
class HeadFilter : public rocksdb::CompactionFilter {
 public:
  HeadFilter(ReadId read_id, IsLive is_live) : read_id_(read_id), is_live_(is_live) {}
  const char* Name() const override { return "cairn.live"; }

  Decision FilterV2(int, const rocksdb::Slice& key, ValueType, const rocksdb::Slice& value, std::string*,
                    std::string*) const override {
    Id id;
    if (!read_id_(View(key), View(value), id)) return Decision::kKeep;  // not a row of this filter
    if (!known_ || id != last_id_) {
      last_live_ = is_live_(id);
      last_id_ = id;
      known_ = true;
    }
    return last_live_ ? Decision::kKeep : Decision::kRemove;
  }

 private:
  ReadId read_id_;
  IsLive is_live_;
  mutable bool known_ = false;  // safe: one compaction thread owns the filter
  mutable Id last_id_{};
  mutable bool last_live_ = true;
};

template <typename Id, typename ReadId, typename IsLive>
std::unique_ptr<rocksdb::CompactionFilter> MakeFilter(ReadId read_id, IsLive is_live) {
  return std::make_unique<HeadFilter<Id, ReadId, IsLive>>(read_id, is_live);
}

class FilterFactory : public rocksdb::CompactionFilterFactory {
 public:
  FilterFactory(Store& store, Space space) : store_(store), space_(space) {}
  const char* Name() const override { return "cairn.live"; }

  // Filters flushes too: rows that died in a memtable never reach the disk.
  bool ShouldFilterTableFileCreation(rocksdb::TableFileCreationReason reason) const override {
    return reason == rocksdb::TableFileCreationReason::kCompaction ||
           reason == rocksdb::TableFileCreationReason::kFlush;
  }

  std::unique_ptr<rocksdb::CompactionFilter> CreateCompactionFilter(
      const rocksdb::CompactionFilter::Context&) override {
    if (!store_.is_loaded()) return nullptr;
    Store& store = store_;
    // The hold is checked second: rows that were dead before it began may be dropped.
    const auto is_live_keyspace = [&store](KeyspaceId id) {
      return store.databases().IsLive(id) || store.lazy_free().is_held();
    };
    if (space_ == Space::kElements || space_ == Space::kScores) {
      return MakeFilter<CollectionId>(
          [](std::string_view row, std::string_view, CollectionId& id) { return ReadU64(row, id); },
          [&store](CollectionId id) { return store.IsLiveCollection(id) || store.lazy_free().is_held(); });
    }
    if (space_ == Space::kOwners) {
      return MakeFilter<KeyspaceId>(
          [](std::string_view, std::string_view owner, KeyspaceId& id) { return ReadU32(owner, id); },
          is_live_keyspace);
    }
    if (space_ == Space::kExpiries) {
      return MakeFilter<KeyspaceId>(
          [](std::string_view row, std::string_view, KeyspaceId& id) {
            uint64_t when;
            return ReadU64(row, when) && ReadU32(row, id);
          },
          is_live_keyspace);
    }
    return MakeFilter<KeyspaceId>(
        [](std::string_view row, std::string_view, KeyspaceId& id) { return ReadU32(row, id); }, is_live_keyspace);
  }

 private:
  Store& store_;
  const Space space_;
};

}  // namespace

std::shared_ptr<rocksdb::CompactionFilterFactory> MakeFilterFactory(Store& store, Space space) {
  if (space == Space::kMeta) return nullptr;
  return std::make_shared<FilterFactory>(store, space);
}

}  // namespace cairn
