// SPDX-License-Identifier: BSD-3-Clause
//
// FieldDeadlines: when fields of one hash are gone (HEXPIRE), for the fields that have such a time.
//
// They stand beside the fields, not in them, so a hash that has none is stored and read as if there were no such
// thing (docs/format.md, sections 4 and 5.1):
//
//   packed   in front of the packed fields, a packed hash of field and time
//   spread   two rows in the scores space for each: one by the field, one by the time
//
// The earliest of them is in the record's header (RecordHeader::fields_expire_ms), so that nobody looks here as long
// as nothing is due. That is types/hash.h's business, as is all that a deadline means.
//
// Thread: the transaction's.
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
  // Of a packed hash, none yet.
  FieldDeadlines() : packed_(2) {}
  // Of a spread hash, `count` of them.
  FieldDeadlines(Transaction& txn, CollectionId id, uint64_t count, uint32_t stripe)
      : packed_(2), txn_(&txn), id_(id), spread_count_(count), stripe_(stripe) {}
  // Takes those of a packed hash off the front of its payload, which must outlive this.
  static Result<FieldDeadlines> TakeFrom(std::string_view& payload);

  uint64_t count() const { return txn_ != nullptr ? spread_count_ : packed_.count(); }
  // The bytes of a packed hash's; 0 for a spread one's.
  size_t packed_bytes() const { return packed_.payload().size(); }
  // What stands in front of a packed hash's fields.
  void AppendPacked(std::string& payload) const;

  // kNoExpiry: the field has none.
  Result<int64_t> Of(std::string_view field) const;
  Status Put(std::string_view field, int64_t when_ms);
  Status Erase(std::string_view field);
  // Both walk from a place on before which there are none: what was there has left tombstones.
  // kNoExpiry when there are none.
  Result<int64_t> Earliest(int64_t from_ms) const;
  // Up to `most` fields whose time is `now_ms` or before. `place` becomes that of the last one.
  Result<std::vector<std::string>> Due(FieldPlace& place, int64_t now_ms, uint64_t most) const;
  // Puts all of a packed hash's into rows of the collection it becomes.
  Status Spread(Transaction& txn, CollectionId id, uint32_t stripe);

 private:
  Status ForEachPacked(absl::FunctionRef<void(std::string_view field, int64_t when_ms)> visit) const;
  RowKey ByField(std::string_view field) const;
  RowKey ByTime(int64_t when_ms, std::string_view field) const;

  PackedEntries packed_;
  Transaction* txn_ = nullptr;  // of a spread hash
  CollectionId id_ = 0;
  uint64_t spread_count_ = 0;
  uint32_t stripe_ = 0;
};

}  // namespace cairn
