// SPDX-License-Identifier: BSD-3-Clause
#include "storage/overlay.h"

#include <algorithm>

#include "base/hash.h"

namespace cairn {
namespace {

constexpr size_t kBlockBytes = 64 * 1024;
constexpr size_t kKeptTableSize = 8192;  // a larger table is freed after its tick
static_assert(kLargeValueBytes > kBlockBytes / 4, "a large value has a block of its own");

}  // namespace

uint64_t Overlay::HashOf(std::string_view tagged) { return Hash64(tagged); }

const Overlay::Entry* Overlay::Find(std::string_view tagged, uint64_t hash) const {
  return const_cast<Overlay*>(this)->FindMutable(tagged, hash);
}

Overlay::Entry* Overlay::FindMutable(std::string_view tagged, uint64_t hash) {
  if (entries_.empty()) return nullptr;
  const size_t mask = table_.size() - 1;
  for (size_t i = hash & mask; table_[i] != kEmpty; i = (i + 1) & mask) {
    Entry& entry = entries_[table_[i]];
    if (entry.hash == hash && entry.tagged == tagged) return &entry;
  }
  return nullptr;
}

void Overlay::Write(const RowKey& row, uint64_t hash, State state, std::string_view value, std::string_view rest) {
  Entry* entry = FindMutable(row.tagged(), hash);
  if (entry == nullptr) {
    if ((entries_.size() + 1) * 2 > table_.size()) GrowTable();
    const auto index = static_cast<uint32_t>(entries_.size());
    entries_.push_back({hash, Copy(row.tagged()), {}, row.stripe(), State::kNothing});
    const size_t mask = table_.size() - 1;
    size_t i = hash & mask;
    while (table_[i] != kEmpty) i = (i + 1) & mask;
    table_[i] = index;
    entry = &entries_.back();
  }
  undo_.push_back({static_cast<uint32_t>(entry - entries_.data()), entry->state, entry->value});
  entry->state = state;
  entry->value = state == State::kPut ? Copy(value, rest) : std::string_view();
}

void Overlay::RollbackTo(size_t mark) {
  while (undo_.size() > mark) {
    const Undo& undo = undo_.back();
    entries_[undo.entry].state = undo.state;
    entries_[undo.entry].value = undo.value;
    undo_.pop_back();
  }
}

void Overlay::GrowTable() {
  table_.assign(table_.empty() ? 256 : table_.size() * 2, kEmpty);
  const size_t mask = table_.size() - 1;
  for (uint32_t index = 0; index < entries_.size(); ++index) {
    size_t i = entries_[index].hash & mask;
    while (table_[i] != kEmpty) i = (i + 1) & mask;
    table_[i] = index;
  }
}

std::string_view Overlay::Copy(std::string_view bytes, std::string_view rest) {
  const size_t size = bytes.size() + rest.size();
  if (size == 0) return {"", 0};
  arena_bytes_ += size;
  if (blocks_.empty() || block_used_ + size > blocks_.back().size) {
    const size_t block = size > kBlockBytes / 4 ? size : kBlockBytes;
    blocks_.push_back({std::make_unique_for_overwrite<char[]>(block), block});
    block_used_ = 0;
  }
  char* const place = blocks_.back().bytes.get() + block_used_;
  std::copy(rest.begin(), rest.end(), std::copy(bytes.begin(), bytes.end(), place));
  block_used_ += size;
  return {place, size};
}

void Overlay::Clear() {
  entries_.clear();
  sorted_.clear();
  undo_.clear();
  if (table_.size() > kKeptTableSize) {
    std::vector<uint32_t>().swap(table_);  // `= {}` would keep the memory
    entries_.shrink_to_fit();
    undo_.shrink_to_fit();
  } else {
    std::fill(table_.begin(), table_.end(), kEmpty);
  }
  if (blocks_.size() > 1) blocks_.resize(blocks_.front().size == kBlockBytes ? 1 : 0);
  if (!blocks_.empty() && blocks_.front().size != kBlockBytes) blocks_.clear();
  block_used_ = 0;
  arena_bytes_ = 0;
}

}  // namespace cairn
