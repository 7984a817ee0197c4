// SPDX-License-Identifier: BSD-3-Clause
//
// The type row of Bloom filters (types/bloom.h). In RDB a filter has a type number of Cairn's own (types/filter_rdb.h).
#include <algorithm>

#include "types/bloom.h"
#include "types/filter_row.h"

namespace cairn {
namespace {

using Row = FilterRow<Bloom, BloomChain, &Bloom::chain, RdbType::kCairnBloom>;

// Each item set one bit at least.
Result<uint64_t> Size(const KeyEntry& entry) {
  if (entry.encoding() != Encoding::kSpread) return entry.payload().size();
  const BloomChain chain = TRY(Row::HeaderOf(entry));
  return std::min(chain.bytes(), chain.size / 8) + entry.payload().size();
}

// The rows in use, as far as the number of items tells; with 0 samples, those that there are.
Result<uint64_t> RowBytes(Transaction& txn, const Key& key, const KeyEntry& entry, uint64_t samples) {
  if (samples == 0) return EstimateElements(txn, key, entry, 0);
  uint64_t bytes = 0;
  const BloomChain chain = TRY(Row::HeaderOf(entry));
  for (const BloomLink& link : chain.links) bytes += ExpectedPageBytes(link.bytes, link.size * link.hashes);
  return bytes;
}

}  // namespace

const ValueType kBloomType = {
    .type = Type::kBloom,
    .name = "MBbloom--",
    .redis_number = 8,  // Redis has one number for the values of all modules
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
