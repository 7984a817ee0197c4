// SPDX-License-Identifier: BSD-3-Clause
//
// Set: distinct members under one key.
//
// A set has one of three forms and only ever moves down this list (docs/format.md, section 4):
//
//   integers   all members are integers and not too many: ascending, in the key's record
//   packed     not too many members, none too long: in the order they came, in the key's record
//   spread     a row per member (types/spread_elements.h)
//
// A completely new value (SetBuilder, types/set_builder.h) starts at the top again.
//
//   Set set(keyspace, key);
//   TRY(set.Open());                              // WRONGTYPE if the key holds something else
//   const bool is_new = TRY(set.Add("member"));
//   TRY(set.Save());                              // once, after the last change
//
// A missing key opens as an empty set. Save creates the key, or removes it with its last member. Changes before Save
// belong to the command until it finishes, like all its changes.
//
// Thread: that of the transaction. The keyspace and the key must outlive the set. Changes need the key's lock.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "types/keyspace.h"
#include "types/packed_entries.h"
#include "types/spread_elements.h"

namespace cairn {

// Called with a member. Returns whether to continue.
using MemberVisitor = absl::FunctionRef<Result<bool>(std::string_view member)>;

// The payload of a set of integers. REQUIRES: ascending and distinct.
std::string EncodeIntegers(std::span<const int64_t> ascending);

class Set {
 public:
  Set(Keyspace& keyspace, const Key& key) : keyspace_(&keyspace), key_(&key), packed_(1) {}

  // Looks the key up. Call it once, before all else.
  Status Open();
  // The same for an entry that was already looked up. REQUIRES: it is a set or does not exist.
  Status Open(KeyEntry entry);

  bool exists() const { return entry_.exists(); }  // before changes
  uint64_t size() const;
  bool is_spread() const { return form_ == Form::kSpread; }
  const Key& key() const { return *key_; }
  const KeyEntry& entry() const { return entry_; }  // as Open found it

  Result<bool> Contains(std::string_view member, Access access = Access::kUse) const;

  // Returns true if the member is new.
  Result<bool> Add(std::string_view member);
  // Returns true if the member existed.
  Result<bool> Remove(std::string_view member);
  // Removes and returns the member at `rank` in ForEach's order. REQUIRES: rank < size().
  Result<std::string> Pop(uint64_t rank);
  // Removes and returns the members at `ranks`, ascending and distinct, in that order.
  Result<std::vector<std::string>> PopRanks(std::span<const uint64_t> ranks);
  // Writes the record if it changed. Call it at most once.
  Status Save();

  // Visits every member until the visitor returns false; integers ascending.
  Status ForEach(MemberVisitor visit) const;
  // The member at `rank` in ForEach's order. REQUIRES: rank < size().
  Result<std::string> At(uint64_t rank) const;
  // Visits the members at `ranks`, ascending and distinct.
  Status ForEachRank(std::span<const uint64_t> ranks, MemberVisitor visit) const;
  // SSCAN's step: see SpreadElements::Scan. A set in one record is visited as a whole.
  Result<uint64_t> Scan(uint64_t position, uint64_t count, MemberVisitor visit) const;

 private:
  enum class Form : unsigned char { kIntegers, kPacked, kSpread };

  Result<std::optional<PackedEntries::Entry>> FindPacked(const Item& member) const;
  Result<bool> AddInteger(int64_t value);
  Result<bool> AddPacked(std::string_view member);
  Result<bool> RemoveInteger(std::string_view member);
  Result<bool> RemovePacked(std::string_view member);
  Result<bool> ContainsInteger(int64_t value) const;
  Status Decode();  // fills integers_
  Status Pack();    // from integers to packed
  Status Spread();  // from packed to spread
  bool PackedFits();
  Status SaveIntegers();
  Status SaveSpread();
  Status VisitSmall(MemberVisitor visit) const;
  RecordHeader NewHeader() const;

  Keyspace* keyspace_;
  const Key* key_;
  KeyEntry entry_;
  Form form_ = Form::kIntegers;
  bool record_changed_ = false;
  bool is_large_ = false;          // not spread: see MostPackedBytes
  bool is_decoded_ = true;         // kIntegers: integers_ is valid instead of the entry's payload
  uint64_t integer_count_ = 0;     // kIntegers, while not decoded
  std::vector<int64_t> integers_;  // ascending
  PackedEntries packed_;
  SpreadElements spread_;
};

}  // namespace cairn
