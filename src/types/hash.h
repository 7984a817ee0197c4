// SPDX-License-Identifier: BSD-3-Clause
//
// Hash: fields with a value each, under one key.
//
// A small hash is one record: its fields in the order they came (docs/format.md, section 4). Once it has more fields,
// or a longer field or value, than the limits allow, it is spread: a row per field, whose value is the field's value
// byte for byte (types/spread_elements.h). It never goes back.
//
//   Hash hash(keyspace, key);
//   TRY(hash.Open());                                 // WRONGTYPE if the key holds something else
//   const bool is_new = TRY(hash.Set("f", "v"));
//   TRY(hash.Save());                                 // once, after the last change
//
// Fields may have a time at which they are gone (types/field_deadlines.h). Whoever asks for a field, or for all
// of them, does not see one whose time has passed. It is deleted soon after (types/expiry.h), and counted by
// size() until then, as in Redis. Whoever writes or removes one before that deletes it first: replicas are told so
// ahead of what the command itself tells them.
//
// A key that is not there opens as an empty hash; Save makes the key, or removes it when the last field went. What is
// written before Save is the command's until the command is finished, like all else.
//
// Thread: the transaction's. The keyspace and the key must outlive the hash. Changing needs the key's lock.
#pragma once

#include <cstdint>
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

// A field's value where it lies, in the hash's record or in a row of its own; or none. No longer
// valid after the hash is changed or gone.
class FieldValue {
 public:
  FieldValue() = default;
  explicit FieldValue(const Item& item) : found_(true), item_(item) {}
  explicit FieldValue(RowRef row) : found_(row), item_(row.bytes()), row_(std::move(row)) {}

  explicit operator bool() const { return found_; }
  std::string_view text() { return item_.Text(scratch_); }  // valid as long as this

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

class Hash {
 public:
  Hash(Keyspace& keyspace, const Key& key) : keyspace_(&keyspace), key_(&key), packed_(2) {}

  // Stores fields and values, in turn and each field once, in place of whatever `entry` saw, without
  // expiry. REQUIRES: there are some.
  static Status Replace(Keyspace& keyspace, const Key& key, const KeyEntry& entry,
                        std::span<const Item> fields_and_values, PackRule rule = PackRule::kAllLimits);

  // Looks the key up. Once, before all else.
  Status Open();
  // The same for an entry that was looked up already. REQUIRES: it is a hash or does not exist.
  Status Open(KeyEntry entry);

  bool exists() const { return entry_.exists(); }  // before any change
  uint64_t size() const { return is_spread_ ? spread_.count() : packed_.count(); }
  // Whether there may be fields whose time has passed: the only case in which size() may be more than what ForEach
  // visits.
  bool MayHaveDue() const { return has_deadlines_ && keyspace_->txn().command().HasPassed(next_ms_); }

  Result<FieldValue> Get(std::string_view field) const;

  // What becomes of the time at which the field is gone.
  enum class Deadline : unsigned char { kClear, kKeep };
  // True when the field is new, false when it had a value.
  Result<bool> Set(std::string_view field, std::string_view value, Deadline deadline = Deadline::kClear);
  // True when the field was there.
  Result<bool> Remove(std::string_view field);

  // When the field is gone; kNoExpiry: never. REQUIRES: Get finds it.
  Result<int64_t> DeadlineOf(std::string_view field) const;
  // The same, for a change; kNoExpiry takes it away.
  Status SetDeadline(std::string_view field, int64_t when_ms);
  bool has_deadlines() const { return has_deadlines_; }
  int64_t next_deadline_ms() const { return next_ms_; }  // no field is gone before
  // Deletes up to `most` fields whose time has passed, emits their events and returns how many they were. It begins at
  // `left`, where the last call for this hash may have ended, and sets it; when no field is left, to the beginning.
  Result<uint64_t> RemoveDue(uint64_t most, FieldPlace& left);

  // Brings the key's record in line with the changes. At most once.
  Status Save();

  // Every field and value until the visitor answers false: in the order of insertion while packed. In the following
  // ranks count fields whose time has passed too, and with MayHaveDue() must not be used.
  Status ForEach(ElementVisitor visit) const;
  // The same with those whose time has passed and that are not deleted yet: size() of them.
  Status ForEachStored(ElementVisitor visit) const;
  // The field at `rank` in ForEach's order; its value only `with_value`. REQUIRES: rank < size().
  Result<FieldPair> At(uint64_t rank, bool with_value) const;
  // Those at `ranks`, ascending and distinct. Without `with_values` the visitor may get empty values.
  Status ForEachRank(std::span<const uint64_t> ranks, bool with_values, ElementVisitor visit) const;
  // HSCAN's step: see SpreadElements::Scan. A packed hash is visited whole.
  Result<uint64_t> Scan(uint64_t position, uint64_t count, ElementVisitor visit) const;

 private:
  bool FitsPacked(std::string_view field, std::string_view value) const;
  Status Spread();
  RecordHeader NewHeader() const;
  Result<bool> IsDue(std::string_view field) const;
  Result<bool> EndDue(std::string_view field);
  void TellExpired(std::span<const std::string> fields);
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
  bool record_changed_ = false;
  bool has_deadlines_ = false;
  uint64_t fields_left_ = 0;     // of those it opened with, but for the ones that were found past their time
  bool is_new_ = false;          // none was left
  bool next_is_stale_ = false;   // next_ms_ may be long before the earliest deadline
  int64_t next_ms_ = kNoExpiry;  // has_deadlines_: no field is gone before
  FieldDeadlines deadlines_;     // has_deadlines_
};

}  // namespace cairn
