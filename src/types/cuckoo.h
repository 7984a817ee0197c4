// SPDX-License-Identifier: BSD-3-Clause
//
// Cuckoo: a key's cuckoo filter: like a Bloom filter, a set that may claim to hold items that were never added, but
// items can be deleted and counted.
//
// Its record has the shape (types/cuckoo_shape.h), its buckets are in types/filter_bytes.h. An item that finds a free
// slot changes one page; one that evicts others, up to `max_iterations` pages. Nothing is written if the evictions find
// no free slot.
//
//   Cuckoo cuckoo(keys, key);
//   TRY(cuckoo.Open());                        // WRONGTYPE if the key holds something else
//   TRY(cuckoo.Insert("item"));
//   TRY(cuckoo.Save());                        // once, after the last change
//
// Thread: that of the transaction. The keyspace and the key must outlive this object. Changes need the key's lock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "types/cuckoo_shape.h"
#include "types/filter_bytes.h"
#include "types/keyspace.h"

namespace cairn {

enum class CuckooInserted : uint8_t {
  kNew,
  kFull,      // and the filter must not grow
  kTooLarge,  // and no further sub-filter is possible
};

class Cuckoo {
 public:
  Cuckoo(Keyspace& keys, const Key& key) : bytes_(keys, key), keys_(keys), key_(key) {}

  Status Open();
  Status Open(KeyEntry entry);
  bool exists() const { return shape_.buckets > 0; }
  const CuckooShape& shape() const { return shape_; }

  // Starts a new filter of free slots. REQUIRES: !exists(), and `shape` is sound
  Status Create(const CuckooShape& shape);
  Result<CuckooInserted> Insert(std::string_view item);
  Result<bool> Contains(std::string_view item) const;
  Result<uint64_t> Count(std::string_view item) const;
  // Deletes one copy of the item; false if there is none. Compacts the filter after many deletions.
  Result<bool> Delete(std::string_view item);
  // Moves fingerprints to older sub-filters and drops the newest ones that become empty. False: nothing changed.
  Result<bool> Compact();

  // The slots of all sub-filters, as bytes.
  FilterBytes& bytes() { return bytes_; }

  Status Save();

 private:
  struct SubFilter {
    uint64_t start;  // where its bytes begin
    uint64_t buckets;
  };
  SubFilter First() const { return {0, shape_.buckets}; }
  SubFilter Last() const;
  SubFilter Newer(const SubFilter& of) const;
  SubFilter Older(const SubFilter& of) const;  // REQUIRES: it is not the first

  // Calls visit(position, fingerprint) for each slot of the item's two buckets, until it returns false.
  template <typename Visit>
  Status ForEachSlot(const SubFilter& in, const CuckooHash& hash, Visit visit) const;
  // The position of a slot with this fingerprint (0: a free one) in one of the item's buckets.
  Result<std::optional<uint64_t>> Find(const SubFilter& in, const CuckooHash& hash, uint8_t fingerprint) const;
  Result<bool> Evict(const SubFilter& in, const CuckooHash& hash);
  // Moves the fingerprints of the sub-filter number `filter` to older ones; returns whether all could be moved.
  Result<bool> Relocate(uint64_t filter, const SubFilter& from, bool& changed);
  // `stops`: whether to leave older sub-filters alone once one cannot be emptied.
  Result<bool> CompactFrom(bool stops);
  Status SetSlot(uint64_t position, uint8_t fingerprint);
  // Takes a look at an item from the command's work budget.
  Status SpendOnItem() const;

  CuckooShape shape_;
  FilterBytes bytes_;
  Keyspace& keys_;
  const Key& key_;
  KeyEntry entry_;
};

}  // namespace cairn
