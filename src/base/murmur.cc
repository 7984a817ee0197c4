// SPDX-License-Identifier: BSD-3-Clause
#include "base/murmur.h"

#include <cstring>

namespace cairn {
namespace {

template <typename Word>
Word ReadWord(const char* bytes, size_t size) {
  Word word = 0;
  std::memcpy(&word, bytes, size);  // little endian, as the hash is defined
  return word;
}

}  // namespace

uint64_t Murmur64(std::string_view bytes, uint64_t seed) {
  constexpr uint64_t kFactor = 0xc6a4a7935bd1e995;
  constexpr int kShift = 47;
  uint64_t hash = seed ^ (bytes.size() * kFactor);
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    uint64_t word = ReadWord<uint64_t>(bytes.data(), 8) * kFactor;
    word ^= word >> kShift;
    hash = (hash ^ (word * kFactor)) * kFactor;
  }
  if (!bytes.empty()) hash = (hash ^ ReadWord<uint64_t>(bytes.data(), bytes.size())) * kFactor;
  hash = (hash ^ (hash >> kShift)) * kFactor;
  return hash ^ (hash >> kShift);
}

uint32_t Murmur32(std::string_view bytes, uint32_t seed) {
  constexpr uint32_t kFactor = 0x5bd1e995;
  constexpr int kShift = 24;
  uint32_t hash = seed ^ static_cast<uint32_t>(bytes.size());
  for (; bytes.size() >= 4; bytes.remove_prefix(4)) {
    uint32_t word = ReadWord<uint32_t>(bytes.data(), 4) * kFactor;
    word ^= word >> kShift;
    hash = (hash * kFactor) ^ (word * kFactor);
  }
  if (!bytes.empty()) hash = (hash ^ ReadWord<uint32_t>(bytes.data(), bytes.size())) * kFactor;
  hash = (hash ^ (hash >> 13)) * kFactor;
  return hash ^ (hash >> 15);
}

}  // namespace cairn
