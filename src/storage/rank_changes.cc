// SPDX-License-Identifier: BSD-3-Clause
#include "storage/rank_changes.h"

#include <algorithm>
#include <string_view>

#include "encoding/varint.h"

namespace cairn {
namespace {

constexpr size_t kKeptChanges = 1 << 9;  // kept from one transaction to the next

}  // namespace

CollectionId RankChanges::CollectionOf(const RowKey& row) {
  std::string_view id_bytes = row.row();
  CollectionId id = 0;
  ReadU64(id_bytes, id);
  return id;
}

RankIndex* RankChanges::IndexOf(const RowKey& row) {
  return indexes_.Find(row.stripe(), row.space(), CollectionOf(row));
}

int64_t RankChanges::Apply(RankIndex& index, const RowKey& row, int64_t change) {
  const auto before = static_cast<int64_t>(index.bytes());
  const std::string_view suffix = row.row().substr(8);
  if (change > 0) {
    index.Add(suffix, static_cast<uint64_t>(change));
  } else {
    index.Remove(suffix, static_cast<uint64_t>(-change));
  }
  return static_cast<int64_t>(index.bytes()) - before;
}

void RankChanges::Note(const RowKey& row, int64_t change) {
  RankIndex* index = IndexOf(row);
  if (index == nullptr) return;
  if (changes_.size() < kMostChanges) {
    changes_.push_back({row, change});
  } else {
    NoteMadeSince(CollectionOf(row), row.stripe(), rows_.Mark() + 1);  // + 1: the row may be written after this call
  }
  indexes_.Charge(Apply(*index, row, change), *index, owner_);
}

void RankChanges::NoteMade(CollectionId id, uint32_t stripe) {
  if (const size_t mark = rows_.Mark(); mark > 0) NoteMadeSince(id, stripe, mark);
}

// Keyspace::Move has dropped the indexes under the stripe of the collection's former key.
void RankChanges::NoteMadeSince(CollectionId id, uint32_t stripe, size_t since) {
  Made& made = made_[id];
  made = {stripe, std::max(made.since, since)};
}

void RankChanges::BeginCommand() {
  changes_.clear();
  made_.clear();
}

// Indexes are dropped first: the changes to undo may belong to an index that a dropped one has replaced.
void RankChanges::RollbackTo(size_t mark, size_t size) {
  std::erase_if(made_, [&](const auto& made) {
    if (made.second.since <= mark) return false;
    Drop(made.first, made.second.stripe);
    return true;
  });
  while (changes_.size() > size) {
    const Change& last = changes_.back();
    if (RankIndex* index = IndexOf(last.row)) indexes_.ChargeUnbounded(Apply(*index, last.row, -last.change));
    changes_.pop_back();
  }
}

void RankChanges::DropAll(const HeldStripes& stripes) {
  stripes.ForEach([this](uint32_t stripe) { indexes_.DropAll(stripe); });
}

void RankChanges::Clear() {
  BeginCommand();
  if (changes_.capacity() > kKeptChanges) std::vector<Change>().swap(changes_);
}

}  // namespace cairn
