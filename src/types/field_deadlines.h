// SPDX-License-Identifier: BSD-3-Clause
//
// FieldDeadlines: the expiry times of fields of one hash (HEXPIRE), for the fields that have one.
//
// They are stored beside the fields. So a hash without them has the same bytes, and is read the same way, as if the
// feature did not exist (docs/format.md, sections 4 and 5.1):
//
//   packed   in front of the packed fields, a packed hash of field and time
//   spread   two rows in the scores space for each: one by the field, one by the time
//
// The record's header has the earliest of them (RecordHeader::fields_expire_ms), so nothing here is read while no field
// is due. types/hash.h maintains that, and applies the deadlines.
//
// Thread: that of the transaction.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "base/result.h"
#include "storage/expiry_start.h"
#include "storage/transaction.h"
#include "types/packed_entries.h"

namespace cairn {

class FieldDeadlines {
 public:
  // For a packed hash, without deadlines.
  FieldDeadlines() : packed_(2) {}
  // For a spread hash that has `count` deadlines.
  FieldDeadlines(Transaction& txn, CollectionId id, uint64_t count, uint32_t stripe)
      : packed_(2), txn_(&txn), id_(id), spread_count_(count), stripe_(stripe) {}
  // Decodes a packed hash's deadlines and removes them from the front of `payload`, whose bytes must outlive this.
  static Result<FieldDeadlines> TakeFrom(std::string_view& payload);

  uint64_t count() const { return txn_ != nullptr ? spread_count_ : packed_.count(); }
  // The encoded size for a packed hash; 0 for a spread one.
  size_t packed_bytes() const { return packed_.payload().size(); }
  // Appends the deadlines as they precede a packed hash's fields.
  void AppendPacked(std::string& payload) const;

  // The field's deadline; kNoExpiry if it has none.
  Result<int64_t> Of(std::string_view field) const;
  Status Put(std::string_view field, int64_t when_ms);
  Status Erase(std::string_view field);
  // Earliest and Due start at a given time or place: before it are only the tombstones of deleted rows. Earliest
  // returns kNoExpiry if there is no deadline.
  Result<int64_t> Earliest(int64_t from_ms) const;
  // Returns up to `most` fields whose deadline is `now_ms` or before. `place` becomes that of the last one.
  Result<std::vector<std::string>> Due(FieldPlace& place, int64_t now_ms, uint64_t most) const;
  // Writes a packed hash's deadlines as rows of the collection that replaces it.
  Status Spread(Transaction& txn, CollectionId id, uint32_t stripe);

 private:
  Status ForEachPacked(absl::FunctionRef<void(std::string_view field, int64_t when_ms)> visit) const;
  RowKey ByField(std::string_view field) const;
  RowKey ByTime(int64_t when_ms, std::string_view field) const;

  PackedEntries packed_;
  Transaction* txn_ = nullptr;  // null for a packed hash
  CollectionId id_ = 0;
  uint64_t spread_count_ = 0;
  uint32_t stripe_ = 0;
};

}  // namespace cairn
