// SPDX-License-Identifier: BSD-3-Clause
//
// Damage: changes one place of valid bytes like a bad disk, a bug or an attacker would: bits, bytes, lengths, ends,
// pieces of other valid bytes.
//
// Thread: its user's. The random numbers and the corpus must outlive it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "base/random.h"

namespace cairn {

class Damage {
 public:
  Damage(Random& random, const std::vector<std::string>& corpus) : random_(random), corpus_(corpus) {}

  void Apply(std::string& bytes) {
    if (bytes.empty()) bytes.push_back(0);
    const size_t at = random_.Below(bytes.size());
    const size_t length = 1 + random_.Below(std::min<size_t>(bytes.size() - at, 16));
    switch (random_.Below(10)) {
      case 0: bytes[at] = static_cast<char>(random_.Below(256)); break;
      case 1: bytes[at] = static_cast<char>(kBytes[random_.Below(sizeof(kBytes))]); break;
      case 2: bytes[at] ^= static_cast<char>(1 << random_.Below(8)); break;
      case 3: bytes.insert(at, RandomBytes(1 + random_.Below(8))); break;
      case 4: bytes.erase(at, length); break;
      case 5: bytes.resize(at); break;
      case 6: bytes.insert(at, std::string(bytes, at, length)); break;
      case 7: OverwriteLength(bytes, at); break;
      case 8: bytes[0] = static_cast<char>(random_.Below(24)); break;  // the type of a payload
      case 9: Splice(bytes, at); break;
    }
  }

 private:
  // Values at the limits of encodings: ends, special forms, largest sizes.
  static constexpr unsigned char kBytes[] = {0x00, 0x01, 0x3f, 0x40, 0x7f, 0x80, 0x81, 0xc0, 0xc3, 0xe0,
                                             0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xfd, 0xfe, 0xff};
  static constexpr uint32_t kLengths[] = {0, 1, 0x7f, 0xff, 0xffff, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};

  std::string RandomBytes(size_t count) {
    std::string bytes;
    while (bytes.size() < count) bytes.push_back(static_cast<char>(random_.Below(256)));
    return bytes;
  }
  void OverwriteLength(std::string& bytes, size_t at) {
    const uint32_t length = kLengths[random_.Below(std::size(kLengths))];
    const bool big_endian = random_.Below(2) == 0;
    for (size_t i = 0; i < 4 && at + i < bytes.size(); ++i) {
      bytes[at + i] = static_cast<char>(length >> 8 * (big_endian ? 3 - i : i));
    }
  }
  void Splice(std::string& bytes, size_t at) {
    const std::string& other = corpus_[random_.Below(corpus_.size())];
    bytes.resize(at);
    bytes.append(other, random_.Below(other.size()), std::string::npos);
  }

  Random& random_;
  const std::vector<std::string>& corpus_;
};

}  // namespace cairn
