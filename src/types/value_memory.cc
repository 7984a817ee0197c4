// SPDX-License-Identifier: BSD-3-Clause
#include "types/value_memory.h"

#include "types/value_types.h"

namespace cairn {
namespace {

uint64_t RowBytes(std::string_view row, std::string_view value) {
  return kRowOverheadBytes + row.size() + value.size();
}

}  // namespace

Result<uint64_t> EstimateRows(Transaction& txn, const Key& key, const KeyEntry& entry, Space space, uint64_t samples,
                              CountElements count) {
  const SpreadPayload spread = TRY(DecodeSpreadPayload(entry.payload()));
  uint64_t rows = 0;
  uint64_t bytes = 0;
  uint64_t elements = 0;
  Cursor cursor =
      txn.Scan(MakeCollectionStart(space, spread.id, key.stripe()), MakeCollectionEnd(space, spread.id, key.stripe()));
  for (; cursor.Valid() && (samples == 0 || rows < samples); cursor.Next(), ++rows) {
    bytes += RowBytes(cursor.row(), cursor.value());
    elements += count == nullptr ? 1 : count(cursor.value());
  }
  const bool complete = !cursor.Valid();
  TRY(cursor.TakeStatus());
  if (complete || elements == 0) return bytes;
  return static_cast<uint64_t>(static_cast<double>(bytes) / static_cast<double>(elements) *
                               static_cast<double>(spread.count));
}

Result<uint64_t> EstimateElements(Transaction& txn, const Key& key, const KeyEntry& entry, uint64_t samples) {
  return EstimateRows(txn, key, entry, Space::kElements, samples);
}

Result<uint64_t> MemoryOf(Transaction& txn, const Key& key, const KeyEntry& entry, uint64_t samples) {
  const uint64_t bytes = RowBytes(key.row().row(), entry.payload());
  if (entry.encoding() != Encoding::kSpread) return bytes;
  return bytes + TRY(ValueTypeOf(entry).row_bytes(txn, key, entry, samples));
}

}  // namespace cairn
