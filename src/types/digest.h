// SPDX-License-Identifier: BSD-3-Clause
//
// Digest: the fingerprint that DEBUG DIGEST and DEBUG DIGEST-VALUE return. It equals redis-server's for the same data,
// so two servers can be compared by 40 hexadecimal digits.
//
// It is 20 bytes, zero at first. Bytes are added in two ways (H is SHA-1):
//
//   Xor(bytes)   digest = digest xor H(bytes)      the order does not matter: members, keys
//   Mix(bytes)   digest = H(digest xor H(bytes))   it does: items of a list, field and value
//
//   value     Mix(type as u32 be: string 0, list 1, set 2, zset 3, hash 4), then
//               string   Mix(bytes)
//               list     Mix(item) for each
//               set      Xor(member) for each
//               hash     Xor(digest of Mix(field), Mix(value)) for each
//               zset     Xor(digest of Mix(member), Mix(score as %.17g)) for each
//             and Xor("!!expire!!") when it expires
//   dataset   for each database with keys: Mix(number as u32 be), then for each key
//             Xor(digest of Mix(key), value)
//
// Thread: any; a value.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "types/keyspace.h"

namespace cairn {

class Digest {
 public:
  void Xor(std::string_view bytes);
  void Mix(std::string_view bytes);
  void MixNumber(uint32_t number);  // as four bytes, big-endian
  // Adds the 20 bytes of another digest: Xor of those bytes.
  void XorOf(const Digest& other);
  std::string Hex() const;

 private:
  using Bytes = std::array<unsigned char, 20>;
  static Bytes Hash(std::string_view bytes);
  void XorBytes(const Bytes& bytes);

  Bytes bytes_{};
};

// Adds a key's value and whether it has an expiry. REQUIRES: entry.exists(), and `keys` found it.
Status AddValue(Digest& digest, Keyspace& keys, const Key& key, KeyEntry entry);

// The digest of all live keys of databases 0 to `databases` - 1.
Result<Digest> DigestOfDataset(Transaction& txn, int databases, const Limits& limits);

}  // namespace cairn
