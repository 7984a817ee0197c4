// SPDX-License-Identifier: BSD-3-Clause
//
// SpreadElements: the rows of one spread set or hash (docs/format.md, section 5): a row per
// element, filed by the member's hash, holding nothing for a set and the value's bytes for a hash.
//
// It keeps the count and tells the rank index what comes and goes; that the count gets into the
// key's record is the owner's part (Hash::Save, Set::Save). Elements have no other order than that
// of their rows, (hash, member), which is also the order of ranks and of scan positions.
//
// Thread: the transaction's.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_set.h"
#include "base/result.h"
#include "encoding/row_key.h"
#include "storage/transaction.h"
#include "types/sample.h"

namespace cairn {

class SpreadElements {
 public:
  static constexpr size_t kHashBytes = 4;  // what a row suffix starts with

  SpreadElements() = default;
  // Those of an existing collection.
  SpreadElements(Transaction& txn, CollectionId id, uint64_t count, uint32_t stripe)
      : txn_(&txn), id_(id), count_(count), stripe_(stripe) {}
  // A new collection, empty.
  SpreadElements(Transaction& txn, uint32_t stripe)
      : txn_(&txn), id_(txn.NewCollectionId()), stripe_(stripe), is_new_(true) {}

  CollectionId id() const { return id_; }
  uint64_t count() const { return count_; }
  bool is_new() const { return is_new_; }

  // The element's value, or none.
  Result<RowRef> Get(std::string_view member, Access access = Access::kUse) const;
  // Adds the element unless it is there; true when it was not.
  Result<bool> Add(std::string_view member);
  // Adds the element or replaces its value; true when it was not there.
  Result<bool> Put(std::string_view member, std::string_view value);
  // Adds an element without looking. REQUIRES: is_new(), and the member is not there.
  void PutNew(std::string_view member, std::string_view value);
  // True when the element was there.
  Result<bool> Remove(std::string_view member);

  // The row suffix (hash, member) of the element at `rank`. REQUIRES: rank < count().
  Result<std::string> SuffixAt(uint64_t rank) const;
  static std::string_view MemberOf(std::string_view suffix) { return suffix.substr(kHashBytes); }
  static std::string MemberOf(std::string&& suffix) { return std::move(suffix.erase(0, kHashBytes)); }
  Result<RowRef> GetBySuffix(std::string_view suffix) const;
  // REQUIRES: the element is there.
  void RemoveBySuffix(std::string_view suffix) { Drop(SuffixRow(suffix)); }
  void RemoveKnown(std::string_view member) { Drop(MakeElementRow(id_, member, stripe_)); }

  // In row order. kCorruption when there are not count() of them.
  Status ForEach(ElementVisitor visit) const;
  // Those at `ranks`, ascending and distinct. Without `with_values` the visitor may get empty values.
  Status ForEachRank(std::span<const uint64_t> ranks, bool with_values, ElementVisitor visit) const;
  // From scan position `position` on about `count` elements: those that share a hash are never
  // parted. Returns the position to go on from, 0 at the end. What the visitor answers is ignored.
  Result<uint64_t> Scan(uint64_t position, uint64_t count, ElementVisitor visit) const;

 private:
  RowKey SuffixRow(std::string_view suffix) const;
  Result<bool> IsThere(const RowKey& row);
  void Drop(const RowKey& row);
  Cursor All() const;

  Transaction* txn_ = nullptr;
  CollectionId id_ = 0;
  uint64_t count_ = 0;
  uint32_t stripe_ = 0;
  bool is_new_ = false;
  // Member hashes put into a new collection: a member whose hash is not among them needs no look at the store.
  absl::flat_hash_set<uint32_t> new_hashes_;
};

}  // namespace cairn
