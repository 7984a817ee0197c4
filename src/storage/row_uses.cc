// SPDX-License-Identifier: BSD-3-Clause
#include "storage/row_uses.h"

#include <algorithm>

namespace cairn {

void RowUses::SetIdle(const RowKey& row, int64_t seconds, int64_t now_s) {
  marks_.push_back({row, std::max<int64_t>(now_s - std::min(seconds, now_s), RowCache::kUnknownUse + 1), {}});
}

void RowUses::SetFrequency(const RowKey& row, uint8_t frequency, int64_t now_s) {
  marks_.push_back({row, now_s, frequency});
}

std::optional<uint8_t> RowUses::Frequency(const RowKey& row, int64_t now_s) const {
  if (!cache_.counts_uses()) return std::nullopt;
  for (const Mark& mark : marks_) {
    if (mark.frequency && mark.row.tagged() == row.tagged()) return mark.frequency;
  }
  return cache_.Frequency(row.tagged(), now_s);
}

int64_t RowUses::IdleSeconds(const RowKey& row, int64_t now_s) const {
  for (const Mark& mark : marks_) {
    if (mark.row.tagged() == row.tagged()) return now_s - mark.used_s;
  }
  if (rows_.Find(row.tagged(), Overlay::HashOf(row.tagged())) != nullptr) return 0;
  return cache_.IdleSeconds(row.tagged(), now_s);
}

void RowUses::Forget(const RowKey& row) {
  if (marks_.empty()) return;
  std::erase_if(marks_, [&row](const Mark& mark) { return mark.row.tagged() == row.tagged(); });
}

void RowUses::Apply() const {
  for (const Mark& mark : marks_) {
    cache_.SetUsed(mark.row.tagged(), mark.used_s);
    if (mark.frequency) cache_.SetFrequency(mark.row.tagged(), *mark.frequency);
  }
}

}  // namespace cairn
