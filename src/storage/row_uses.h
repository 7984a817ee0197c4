// SPDX-License-Identifier: BSD-3-Clause
//
// RowUses: when and how often a row was used: by the key cache, and for rows that the transaction has written with
// RESTORE's IDLETIME or FREQ, by those.
//
// Thread: its transaction's.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "cache/row_cache.h"
#include "encoding/row_key.h"
#include "storage/overlay.h"

namespace cairn {

class RowUses {
 public:
  // `rows` are what the transaction has written. Both outlive it.
  RowUses(RowCache& cache, const Overlay& rows) : cache_(cache), rows_(rows) {}

  // Seconds since the row was last used, as far as the key cache remembers. `now_s` is Unix time in seconds.
  int64_t IdleSeconds(const RowKey& row, int64_t now_s) const;
  // Lets a row that the command has written count as last used so long ago.
  void SetIdle(const RowKey& row, int64_t seconds, int64_t now_s);
  // How often the row was used lately (RowCache::Frequency); nothing when uses are not counted.
  std::optional<uint8_t> Frequency(const RowKey& row, int64_t now_s) const;
  // Lets a row that the command has written count as used so often.
  void SetFrequency(const RowKey& row, uint8_t frequency, int64_t now_s);

  // ---- storage/ calls these
  // The row is written anew: drops the idle time and the frequency that were set for it.
  void Forget(const RowKey& row);
  void BeginCommand() { before_command_ = marks_.size(); }
  void DropCommand() { marks_.resize(std::min(marks_.size(), before_command_)); }
  // Sets idle times and frequencies in the key cache. REQUIRES: the rows are in it.
  void Apply() const;
  void Clear() { marks_.clear(); }

 private:
  struct Mark {
    RowKey row;
    int64_t used_s;
    std::optional<uint8_t> frequency;
  };

  RowCache& cache_;
  const Overlay& rows_;
  std::vector<Mark> marks_;
  size_t before_command_ = 0;  // so many were set
};

}  // namespace cairn
