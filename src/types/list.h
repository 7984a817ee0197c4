// SPDX-License-Identifier: BSD-3-Clause
//
// List: items in order under one key, cheap to add and to take at both ends.
//
// A small list is one record, a packed list (encoding/packed.h), up to list-max-listpack-size. A larger one is
// spread: its items are in chunk rows (types/list_chunks.h), and its record's payload is
//
//   id:varint count:varint first:varint last:varint     first, last: numbers of the first and last
//   chunk, zigzag
//
// It goes back to one record only where LTRIM keeps so little that it is written anew.
//
//   List list(keyspace, key);
//   TRY(list.Open());                            // WRONGTYPE if the key holds something else
//   TRY(list.Push(ListEnd::kHead, values));
//   TRY(list.Save());                            // once, after the last change
//
// A key that is not there opens as an empty list; Save makes the key, or removes it when the last
// item went. An item taken and pushed back before Save never empties the key, so its expiry stays.
//
// Thread: the transaction's. The keyspace and the key must outlive the list. Changing needs the key's lock.
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

  // Looks the key up. Once, before all else.
  Status Open();
  // The same for an entry that was looked up already. REQUIRES: it is a list or does not exist.
  Status Open(KeyEntry entry);
  bool exists() const { return entry_.exists(); }
  uint64_t size() const { return count_; }

  // Pushes values one after another: at the head the last one ends up first.
  Status Push(ListEnd end, std::span<const std::string_view> values);
  // Takes `n` items from an end, calling visit in the order they go. REQUIRES: n <= size().
  Status Pop(ListEnd end, uint64_t n, const ItemVisitor& visit);
  // Keeps `n` items from `start` on. REQUIRES: start + n <= size().
  Status Trim(uint64_t start, uint64_t n);

  // Calls visit for `n` items from `start` on. REQUIRES: start + n <= size().
  Status ForEach(uint64_t start, uint64_t n, const ItemVisitor& visit);
  // Calls visit(distance from `end`) where `value` stands, nearest first, until it answers false;
  // looks at the `max_items` nearest items only.
  Status Find(std::string_view value, ListEnd end, uint64_t max_items, const std::function<bool(uint64_t)>& visit);

  // REQUIRES: index < size().
  Status Set(uint64_t index, std::string_view value);
  // Inserts `value` next to the first `pivot`; false when there is none.
  Result<bool> Insert(std::string_view pivot, bool before, std::string_view value);
  // Removes up to `limit` items equal to `value`, those nearest to `end`; answers how many.
  Result<uint64_t> Remove(std::string_view value, ListEnd end, uint64_t limit);

  // Writes the key row.
  Status Save();

 private:
  // The items of a list that is not spread; valid until they change.
  std::string_view packed() const { return is_rewritten_ ? std::string_view(rewritten_) : entry_.payload(); }
  bool FitsPacked(uint64_t count, uint64_t size_bytes) const;
  // Takes a changed packed list; spreads it when it has become too large.
  Status Repack(std::string packed, uint64_t count);
  // Moves the items to chunks of a new collection.
  Status Spread(const EncodedItems& items);
  // Makes [start, start + n) a list of its own, whatever there was before.
  Status KeepOnly(uint64_t start, uint64_t n);

  Keyspace* keyspace_;
  const Key* key_;
  KeyEntry entry_;
  uint64_t count_ = 0;
  std::optional<ListChunks> chunks_;  // of a spread list
  bool is_rewritten_ = false;
  std::string rewritten_;
};

}  // namespace cairn
