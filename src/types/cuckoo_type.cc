// SPDX-License-Identifier: BSD-3-Clause
//
// The type row of cuckoo filters (types/cuckoo.h). In RDB a filter has a type number of Cairn's own
// (types/filter_rdb.h).
#include <algorithm>

#include "types/cuckoo.h"
#include "types/filter_row.h"

namespace cairn {
namespace {

using Row = FilterRow<Cuckoo, CuckooShape, &Cuckoo::shape, RdbType::kCairnCuckoo>;

// Each item is a byte.
Result<uint64_t> Size(const KeyEntry& entry) {
  if (entry.encoding() != Encoding::kSpread) return entry.payload().size();
  const CuckooShape shape = TRY(Row::HeaderOf(entry));
  return std::min(shape.bytes(), shape.items) + entry.payload().size();
}

// The rows in use, as far as the number of items tells; with 0 samples, those that there are.
Result<uint64_t> RowBytes(Transaction& txn, const Key& key, const KeyEntry& entry, uint64_t samples) {
  if (samples == 0) return EstimateElements(txn, key, entry, 0);
  const CuckooShape shape = TRY(Row::HeaderOf(entry));
  return ExpectedPageBytes(shape.bytes(), shape.items);
}

}  // namespace

const ValueType kCuckooType = {
    .type = Type::kCuckoo,
    .name = "MBbloomCF",
    .redis_number = 9,  // Redis has one number for the values of all modules
    .encoding_name = Row::EncodingName,
    .size = Size,
    .row_bytes = RowBytes,
    .add_to_digest = Row::AddToDigest,
    .save = Row::Save,
    .load = Row::Load,
    .add_piece = Row::AddPiece,
    .rdb_forms = Row::kForms,
};

}  // namespace cairn
