// SPDX-License-Identifier: BSD-3-Clause
//
// SpreadElements: the rows of one spread set or hash (docs/format.md, section 5). Each element has a row, ordered by
// the member's hash; the row's value is empty for a set and the value's bytes for a hash.
//
// It maintains the count and updates the rank index. The owner stores the count in the key's record (Hash::Save,
// Set::Save). The only order of elements is that of their rows, (hash, member). It is also the order of ranks and of
// scan positions.
//
// Thread: that of the transaction.
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
  static constexpr size_t kHashBytes = 4;  // a row suffix starts with the hash

  SpreadElements() = default;
  // Opens an existing collection.
  SpreadElements(Transaction& txn, CollectionId id, uint64_t count, uint32_t stripe)
      : txn_(&txn), id_(id), count_(count), stripe_(stripe) {}
  // Makes a new, empty collection.
  SpreadElements(Transaction& txn, KeyspaceId keyspace, uint32_t stripe)
      : txn_(&txn), id_(txn.NewCollectionId(keyspace)), stripe_(stripe), is_new_(true) {}

  CollectionId id() const { return id_; }
  uint64_t count() const { return count_; }
  bool is_new() const { return is_new_; }

  // Returns the element's value, or none.
  Result<RowRef> Get(std::string_view member, Access access = Access::kUse) const;
  // Adds the element if it does not exist. Returns true if it was added.
  Result<bool> Add(std::string_view member);
  // Adds the element or replaces its value. Returns true if it is new.
  Result<bool> Put(std::string_view member, std::string_view value);
  // Adds an element without a lookup. REQUIRES: is_new(), and the member does not exist.
  void PutNew(std::string_view member, std::string_view value);
  // Returns true if the element existed.
  Result<bool> Remove(std::string_view member);

  // The row suffix (hash, member) of the element at `rank`. REQUIRES: rank < count().
  Result<std::string> SuffixAt(uint64_t rank) const;
  static std::string_view MemberOf(std::string_view suffix) { return suffix.substr(kHashBytes); }
  static std::string MemberOf(std::string&& suffix) { return std::move(suffix.erase(0, kHashBytes)); }
  Result<RowRef> GetBySuffix(std::string_view suffix) const;
  // REQUIRES: the element exists.
  void RemoveBySuffix(std::string_view suffix) { Drop(SuffixRow(suffix)); }
  void RemoveKnown(std::string_view member) { Drop(MakeElementRow(id_, member, stripe_)); }

  // Visits elements in row order. Returns kCorruption if their number is not count().
  Status ForEach(ElementVisitor visit) const;
  // Visits the elements at `ranks`, ascending and distinct. Without `with_values` the visitor may get empty values.
  Status ForEachRank(std::span<const uint64_t> ranks, bool with_values, ElementVisitor visit) const;
  // Visits about `count` elements from `position` on; elements that share a hash are visited together. Returns the
  // position to continue from, 0 at the end. Ignores what the visitor returns.
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
  // Member hashes that were put into a new collection: a member with another hash needs no lookup in the store.
  absl::flat_hash_set<uint32_t> new_hashes_;
};

}  // namespace cairn
