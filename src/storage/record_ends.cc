// SPDX-License-Identifier: BSD-3-Clause
#include "storage/record_ends.h"

#include <algorithm>

namespace cairn {
namespace {

constexpr uint64_t kBlockBytes = 32 << 10;
// The types of fragments that another one of the same record follows.
constexpr unsigned char kFirst = 2;
constexpr unsigned char kMiddle = 3;

}  // namespace

void RecordEnds::Read(std::string_view bytes) {
  while (!bytes.empty()) bytes.remove_prefix(ReadSome(bytes));
}

size_t RecordEnds::ReadSome(std::string_view bytes) {
  const uint64_t block_left = kBlockBytes - position_ % kBlockBytes;
  size_t read;
  if (header_bytes_ == 0 && block_left < kHeaderBytes) {
    read = std::min<size_t>(bytes.size(), block_left);  // zeros, where no header fits
    position_ += read;
    return read;
  }
  if (header_bytes_ < kHeaderBytes) {
    read = std::min(bytes.size(), kHeaderBytes - header_bytes_);
    std::copy_n(bytes.begin(), read, header_.begin() + static_cast<std::ptrdiff_t>(header_bytes_));
    header_bytes_ += read;
    if (header_bytes_ == kHeaderBytes) fragment_left_ = size_t{header_[4]} | size_t{header_[5]} << 8;
  } else {
    read = std::min(bytes.size(), fragment_left_);
    fragment_left_ -= read;
  }
  position_ += read;
  if (header_bytes_ == kHeaderBytes && fragment_left_ == 0) EndFragment();
  return read;
}

void RecordEnds::EndFragment() {
  header_bytes_ = 0;
  const unsigned char type = header_[6];
  if (type != kFirst && type != kMiddle) end_.store(position_, std::memory_order_relaxed);
}

}  // namespace cairn
