// SPDX-License-Identifier: BSD-3-Clause
#include "rdb/rdb_items.h"

#include "base/number.h"

namespace cairn {

void RdbItems::AddInteger(int64_t value) {
  // Packed items have integers up to 2^62 (encoding/packed.h); beyond the safe range FromText decides.
  constexpr int64_t kSurelyFits = int64_t{1} << 61;
  if (value > -kSurelyFits && value < kSurelyFits) {
    Add(Item(value));
    return;
  }
  std::string digits;
  AppendInt64(digits, value);
  AddText(Hold(std::move(digits)));
}

}  // namespace cairn
