// SPDX-License-Identifier: BSD-3-Clause
//
// Bloom: a key's scalable Bloom filter: a set that may claim to hold items that were never added, with a chosen
// probability, and whose size does not depend on the size of its items.
//
// Its record has the chain's shape (types/bloom_chain.h), its bits are in types/filter_bytes.h. An item changes at most
// as many pages as the last link has hash functions.
//
//   Bloom bloom(keys, key);
//   TRY(bloom.Open());                         // WRONGTYPE if the key holds something else
//   if (!bloom.exists()) TRY(bloom.Create(chain));    // a BloomChain with one link
//   TRY(bloom.Add("item"));
//   TRY(bloom.Save());                         // once, after the last change
//
// Thread: that of the transaction. The keyspace and the key must outlive this object. Changes need the key's lock.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "types/bloom_chain.h"
#include "types/filter_bytes.h"
#include "types/keyspace.h"

namespace cairn {

enum class BloomAdded : uint8_t {
  kNew,
  kPresent,   // or a false positive
  kFull,      // the filter must not grow
  kTooLarge,  // no further link is possible
};

class Bloom {
 public:
  Bloom(Keyspace& keys, const Key& key) : bytes_(keys, key), keys_(keys), key_(key) {}

  Status Open();
  Status Open(KeyEntry entry);
  bool exists() const { return !chain_.links.empty(); }
  const BloomChain& chain() const { return chain_; }

  // Starts a new filter, whose bits are zeros. REQUIRES: !exists(), and the chain has a link
  Status Create(BloomChain chain);
  Result<bool> Contains(std::string_view item) const;
  Result<BloomAdded> Add(std::string_view item);

  // The bits of all links, as bytes.
  FilterBytes& bytes() { return bytes_; }

  Status Save();

 private:
  // `begin`: where the link's bytes begin.
  Result<bool> HasAllBits(const BloomLink& link, uint64_t begin, const BloomHash& hash) const;
  Result<bool> Contains(const BloomHash& hash) const;
  // Adds a link if the last one is full.
  Result<BloomAdded> MakeRoom();

  BloomChain chain_;
  FilterBytes bytes_;
  Keyspace& keys_;
  const Key& key_;
  KeyEntry entry_;
};

}  // namespace cairn
