// SPDX-License-Identifier: BSD-3-Clause
//
// RowUses: when and how often rows were used, according to the key cache. For rows that the transaction has written
// with RESTORE's IDLETIME or FREQ, those values count.
//
// Thread: that of its transaction.
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
  // `rows` are the transaction's writes. Both outlive this object.
  RowUses(RowCache& cache, const Overlay& rows) : cache_(cache), rows_(rows) {}

  // Seconds since the row was last used, as far as the key cache remembers. `now_s` is Unix time in seconds.
  int64_t IdleSeconds(const RowKey& row, int64_t now_s) const;
  // Makes a row that the command has written count as last used `seconds` ago.
  void SetIdle(const RowKey& row, int64_t seconds, int64_t now_s);
  // How often the row was used lately (RowCache::Frequency); nothing if uses are not counted.
  std::optional<uint8_t> Frequency(const RowKey& row, int64_t now_s) const;
  // Sets the use frequency of a row that the command has written.
  void SetFrequency(const RowKey& row, uint8_t frequency, int64_t now_s);

  // ---- storage/ calls these
  // Drops the idle time and frequency set for a row that is written again.
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
  size_t before_command_ = 0;  // number of marks before the command
};

}  // namespace cairn
