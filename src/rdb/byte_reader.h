// SPDX-License-Identifier: BSD-3-Clause
//
// ByteReader: reads untrusted bytes from the front. Only this class in this folder compares a length with the bytes
// available. A read beyond the end returns zero or nothing and latches, so a decoder may read first and check ok()
// before it uses the result.
//
// Thread: that of its user. The bytes must outlive the reader and the views it returns.
#pragma once

#include <cstdint>
#include <string_view>

namespace cairn {

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  bool ok() const { return ok_; }
  size_t left() const { return rest_.size(); }
  std::string_view rest() const { return rest_; }
  uint8_t Peek() const { return rest_.empty() ? 0 : static_cast<uint8_t>(rest_[0]); }

  std::string_view Take(uint64_t size) {
    if (size > rest_.size()) {
      ok_ = false;
      rest_ = {};
      return {};
    }
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  uint8_t Byte() {
    const std::string_view taken = Take(1);
    return taken.empty() ? 0 : static_cast<uint8_t>(taken[0]);
  }
  // Reads an unsigned little-endian integer of `size` bytes. REQUIRES: size <= 8
  uint64_t Little(int size) {
    const std::string_view taken = Take(size);
    uint64_t value = 0;
    for (size_t i = taken.size(); i > 0; --i) value = value << 8 | static_cast<uint8_t>(taken[i - 1]);
    return value;
  }
  // The same, big-endian.
  uint64_t Big(int size) {
    uint64_t value = 0;
    for (const char byte : Take(size)) value = value << 8 | static_cast<uint8_t>(byte);
    return value;
  }
  // Reads a two's complement little-endian integer of `size` bytes. REQUIRES: 1 <= size <= 8
  int64_t SignedLittle(int size) {
    const int unused = 64 - 8 * size;
    return static_cast<int64_t>(Little(size) << unused) >> unused;
  }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace cairn
