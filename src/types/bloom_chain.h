// SPDX-License-Identifier: BSD-3-Clause
//
// BloomChain: the shape of a scalable Bloom filter: its sub-filters (links) and their sizes, without their bits.
//
// Sizes, the number of hash functions and the positions of an item's bits are those of RedisBloom, so both servers set
// the same bits and have the same false positives, and BF.SCANDUMP's header and chunks can be exchanged. The bits of
// all links form one sequence of bytes (types/filter_bytes.h), link after link.
//
// An item is in the chain if all of its bits are set in one link. Items are added to the last link. When that has as
// many items as it was made for, a link of `growth` times its capacity and half its error rate follows.
//
// Thread: any; values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cairn {

// RedisBloom's options, a part of the headers.
enum BloomOption : uint32_t {
  kBloomExactBits = 1,       // the number of bits is not rounded up to a power of two
  kBloomEntriesAreBits = 2,  // a link's capacity is given as the logarithm of its bits
  kBloomHash64 = 4,          // else items have hashes of 32 bits, as in old versions
  kBloomFixedSize = 8,       // NONSCALING: there is only one link
};
// Those of filters that commands create.
inline constexpr uint32_t kBloomDefaultOptions = kBloomExactBits | kBloomHash64;

struct BloomLink {
  uint64_t entries = 0;  // its capacity
  uint64_t size = 0;     // items added
  double error = 0;
  double bits_per_entry = 0;
  uint32_t hashes = 0;  // bits per item
  uint64_t bytes = 0;
  uint8_t log2_bits = 0;  // 0: the bits are all those of its bytes

  uint64_t bits() const { return bytes * 8; }
  uint64_t modulus() const { return log2_bits > 0 ? uint64_t{1} << log2_bits : bits(); }
};

// The link that RedisBloom would make. Errors are the client's: the arguments make no filter, or one that is too large.
Result<BloomLink> MakeBloomLink(uint64_t entries, double error, uint32_t options);

struct BloomChain {
  uint64_t size = 0;  // items added
  uint32_t options = kBloomDefaultOptions;
  uint32_t growth = 0;
  std::vector<BloomLink> links;

  uint64_t bytes() const;
  uint64_t capacity() const;
  // The memory that RedisBloom would need; BF.INFO shows it.
  uint64_t memory_bytes() const;

  // The header in records and RDB files (docs/format.md, section 5.6).
  std::string Encode() const;
  // Takes the header from the front of `in`.
  static Result<BloomChain> Decode(std::string_view& in);
  // The header that BF.SCANDUMP returns first.
  std::string EncodeDump() const;
  // Errors are the client's.
  static Result<BloomChain> DecodeDump(std::string_view bytes);
};

struct BloomHash {
  uint64_t first = 0;
  uint64_t step = 0;
  // The position of the item's bit number `i` in a link.
  uint64_t Bit(uint32_t i, const BloomLink& link) const { return (first + i * step) % link.modulus(); }
};
BloomHash HashBloomItem(std::string_view item, uint32_t options);

}  // namespace cairn
