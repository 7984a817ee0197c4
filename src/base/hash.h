// SPDX-License-Identifier: BSD-3-Clause
//
// The two hashes that are part of the on-disk format (docs/format.md, section 2): they never change.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

namespace cairn {

// xxHash's XXH3, 64 bits, seed 0.
uint64_t Hash64(std::string_view bytes);

// Hash64 of bytes that arrive in pieces, as those of files. Not used for rows. Thread: its owner's.
class Hash64Stream {
 public:
  Hash64Stream();
  ~Hash64Stream();
  void Add(std::string_view bytes);
  // Hash64 of everything added so far.
  uint64_t Value() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The upper half of Hash64, as stored in rows and used as the SCAN order.
inline uint32_t RowHash(std::string_view bytes) { return static_cast<uint32_t>(Hash64(bytes) >> 32); }

// Redis Cluster's slot of a key, [0, 16384): CRC16 of the hash tag, or of the whole key if it has none. The hash tag
// is the text between the first '{' and the next '}', if not empty (Redis Cluster specification).
uint16_t KeySlot(std::string_view key);

}  // namespace cairn
