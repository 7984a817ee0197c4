// SPDX-License-Identifier: BSD-3-Clause
//
// List: ordered items under one key, cheap to push and pop at both ends.
//
// A small list is one record, a packed list (encoding/packed.h), up to list-max-listpack-size. A larger one is spread:
// its items are in chunk rows (types/list_chunks.h), and its record's payload is
//
//   id:varint count:varint first:varint last:varint     first, last: chunk numbers, zigzag
//
// A spread list becomes one record again only if LTRIM keeps so few items that it rewrites them.
//
//   List list(keyspace, key);
//   TRY(list.Open());                            // WRONGTYPE if the key holds something else
//   TRY(list.Push(ListEnd::kHead, values));
//   TRY(list.Save());                            // once, after the last change
//
// A missing key opens as an empty list. Save creates the key, or removes it with its last item. An item that is popped
// and pushed again before Save does not empty the key, so the key keeps its expiry.
//
// Thread: that of the transaction. The keyspace and the key must outlive the list. Changes need the key's lock.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "types/keyspace.h"
#include "types/list_chunks.h"
#include "types/list_items.h"

namespace cairn {

class List {
 public:
  List(Keyspace& keyspace, const Key& key) : keyspace_(&keyspace), key_(&key) {}

  // Looks the key up. Call it once, before all else.
  Status Open();
  // The same for an entry that was already looked up. REQUIRES: it is a list or does not exist.
  Status Open(KeyEntry entry);
  bool exists() const { return entry_.exists(); }
  uint64_t size() const { return count_; }

  // Pushes values one after another: at the head the last value ends up first.
  Status Push(ListEnd end, std::span<const std::string_view> values) { return Push(end, EncodedItems(values)); }
  Status Push(ListEnd end, const EncodedItems& items);
  // Pops `n` items from an end and calls visit for each, in that order. REQUIRES: n <= size().
  Status Pop(ListEnd end, uint64_t n, const ItemVisitor& visit);
  // Keeps only the `n` items from `start` on. REQUIRES: start + n <= size().
  Status Trim(uint64_t start, uint64_t n);

  // Calls visit for `n` items from `start` on, the last of them first if `reverse`. `visit` may change other lists.
  // REQUIRES: start + n <= size().
  Status ForEach(uint64_t start, uint64_t n, const ItemVisitor& visit, bool reverse = false);
  // Calls visit(distance from `end`) for each item equal to `value`, nearest first, until it returns false. Looks only
  // at the `max_items` nearest items.
  Status Find(std::string_view value, ListEnd end, uint64_t max_items, const std::function<bool(uint64_t)>& visit);

  // REQUIRES: index < size().
  Status Set(uint64_t index, std::string_view value);
  // Inserts `value` next to the first `pivot`. Returns false if the list has no such item.
  Result<bool> Insert(std::string_view pivot, bool before, std::string_view value);
  // Removes up to `limit` items equal to `value`, nearest to `end` first. Returns the number removed.
  Result<uint64_t> Remove(std::string_view value, ListEnd end, uint64_t limit);

  // Writes the key row.
  Status Save();

 private:
  // The items of a list that is not spread; valid until it changes.
  std::string_view packed() const { return is_rewritten_ ? std::string_view(rewritten_) : entry_.payload(); }
  bool FitsPacked(uint64_t count, uint64_t size_bytes) const;
  // Stores a changed packed list; spreads it if it has become too large.
  Status Repack(std::string packed, uint64_t count);
  // Moves the items to chunks of a new collection.
  Status Spread(const EncodedItems& items);
  // Rewrites the items [start, start + n) as a new list, packed or spread.
  Status KeepOnly(uint64_t start, uint64_t n);

  Keyspace* keyspace_;
  const Key* key_;
  KeyEntry entry_;
  uint64_t count_ = 0;
  std::optional<ListChunks> chunks_;  // set if the list is spread
  bool is_rewritten_ = false;
  std::string rewritten_;
};

}  // namespace cairn
