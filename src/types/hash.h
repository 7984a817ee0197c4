// SPDX-License-Identifier: BSD-3-Clause
//
// Hash: fields, each with a value, under one key.
//
// A small hash is one record: its fields in insertion order (docs/format.md, section 4). When it has more bytes than
// MostPackedBytes (types/limits.h), it becomes spread: one row per field, whose value is the field's value
// byte for byte (types/spread_elements.h). It never becomes packed again.
//
//   Hash hash(keyspace, key);
//   TRY(hash.Open());                                 // WRONGTYPE if the key holds something else
//   const bool is_new = TRY(hash.Set("f", "v"));
//   TRY(hash.Save());                                 // once, after the last change
//
// Fields may have an expiry time (types/field_deadlines.h). Reads do not see an expired field. It is deleted soon after
// (types/expiry.h), and size() counts it until then, as in Redis. A command that writes or removes an expired field
// deletes it first: the replicated HDEL precedes what the command itself replicates.
//
// A missing key opens as an empty hash. Save creates the key, or removes it with its last field. Changes before Save
// belong to the command until it finishes, like all its changes.
//
// Thread: that of the transaction. The keyspace and the key must outlive the hash. Changes need the key's lock.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "types/field_deadlines.h"
#include "types/keyspace.h"
#include "types/packed_entries.h"
#include "types/spread_elements.h"

namespace cairn {

// A field's value, or none. It refers to the hash's record or to a row of its own. Invalid after the hash is changed or
// destroyed.
class FieldValue {
 public:
  FieldValue() = default;
  explicit FieldValue(const Item& item) : found_(true), item_(item) {}
  explicit FieldValue(RowRef row) : found_(row), item_(row.bytes()), row_(std::move(row)) {}

  explicit operator bool() const { return found_; }
  std::string_view text() { return item_.Text(scratch_); }  // valid as long as this object

 private:
  bool found_ = false;
  Item item_;
  RowRef row_;
  std::string scratch_;
};

struct FieldPair {
  std::string field;
  std::string value;
};

// The latest expiry time of a field, a Unix time in ms: the maximum of Redis, in the year 4199.
inline constexpr int64_t kLastFieldMs = (int64_t{1} << 46) - 1;

class Hash {
 public:
  Hash(Keyspace& keyspace, const Key& key) : keyspace_(&keyspace), key_(&key), packed_(2) {}

  // Stores fields and values, alternating and each field once, in place of what `entry` saw, without an expiry.
  // REQUIRES: at least one field.
  static Status Replace(Keyspace& keyspace, const Key& key, const KeyEntry& entry,
                        std::span<const Item> fields_and_values, PackRule rule = PackRule::kAllLimits);

  // Looks the key up. Call it once, before all else.
  Status Open();
  // The same for an entry that was already looked up. REQUIRES: it is a hash or does not exist.
  Status Open(KeyEntry entry);

  bool exists() const { return entry_.exists(); }  // before changes
  uint64_t size() const { return is_spread_ ? spread_.count() : packed_.count(); }
  // Whether the hash may have expired fields. Only then can size() be more than the number of fields ForEach visits.
  bool MayHaveDue() const { return has_deadlines_ && keyspace_->txn().command().HasPassed(next_ms_); }

  Result<FieldValue> Get(std::string_view field) const;

  // Whether Set clears the field's expiry time.
  enum class Deadline : unsigned char { kClear, kKeep };
  // Returns true if the field is new, false if it had a value.
  Result<bool> Set(std::string_view field, std::string_view value, Deadline deadline = Deadline::kClear);
  // Returns true if the field existed.
  Result<bool> Remove(std::string_view field);

  // The field's expiry time; kNoExpiry if it has none. REQUIRES: Get finds the field.
  Result<int64_t> DeadlineOf(std::string_view field) const;
  // Sets the field's expiry time; kNoExpiry removes it. REQUIRES: Get finds the field.
  Status SetDeadline(std::string_view field, int64_t when_ms);
  bool has_deadlines() const { return has_deadlines_; }
  int64_t next_deadline_ms() const { return next_ms_; }  // no field expires before this
  // Deletes up to `most` expired fields, emits their events and returns their number. Starts at `left`, where the last
  // call for this hash ended, and updates it; when no expired field is left, `left` becomes the beginning.
  Result<uint64_t> RemoveDue(uint64_t most, FieldPlace& left);

  // Writes the record if it changed. Call it at most once.
  Status Save();

  // Visits every field and value until the visitor returns false; a packed hash in insertion order. The ranks below
  // also count expired fields, so do not use them with MayHaveDue().
  Status ForEach(ElementVisitor visit) const;
  // Like ForEach, but also visits expired fields that are not deleted yet: size() fields.
  Status ForEachStored(ElementVisitor visit) const;
  // The field at `rank` in ForEach's order, with its value if `with_value`. REQUIRES: rank < size().
  Result<FieldPair> At(uint64_t rank, bool with_value) const;
  // Visits the fields at `ranks`, ascending and distinct. Without `with_values` the visitor may get empty values.
  Status ForEachRank(std::span<const uint64_t> ranks, bool with_values, ElementVisitor visit) const;
  // HSCAN's step: see SpreadElements::Scan. A packed hash is visited as a whole.
  Result<uint64_t> Scan(uint64_t position, uint64_t count, ElementVisitor visit) const;

 private:
  bool FitsPacked(std::string_view field, std::string_view value);
  Status Spread();
  RecordHeader NewHeader() const;
  Result<std::optional<PackedEntries::Entry>> FindPacked(const Item& field) const;
  Status SpendOnDeadlines() const;
  Result<bool> IsDue(std::string_view field) const;
  Result<bool> EndDue(std::string_view field);
  void EmitExpired(std::span<const std::string> fields);
  Status OpenSpreadDeadlines(std::string_view rest);
  Result<bool> SetStored(std::string_view field, std::string_view value);
  Result<bool> RemoveStored(std::string_view field);
  Status EraseDeadline(std::string_view field);
  Status UpdateNext();

  Keyspace* keyspace_;
  const Key* key_;
  KeyEntry entry_;
  PackedEntries packed_;   // while !is_spread_
  SpreadElements spread_;  // while is_spread_
  bool is_spread_ = false;
  bool is_large_ = false;  // see MostPackedBytes
  bool record_changed_ = false;
  bool has_deadlines_ = false;
  uint64_t fields_left_ = 0;     // fields at Open, less the expired fields replaced or removed since
  bool is_new_ = false;          // the last live field expired: the next write makes a new hash
  bool next_is_stale_ = false;   // next_ms_ may be earlier than the earliest deadline
  int64_t next_ms_ = kNoExpiry;  // has_deadlines_: no field expires before this
  FieldDeadlines deadlines_;     // has_deadlines_
};

}  // namespace cairn
