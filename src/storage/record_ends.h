// SPDX-License-Identifier: BSD-3-Clause
//
// RecordEnds: where the last whole record of a growing log ends.
//
// RocksDB writes a record in fragments, none of which crosses a block, and appends the fragments of a large one by
// several calls (docs of RocksDB, "Write Ahead Log File Format"; a fragment has a header of seven bytes).
//
// Thread: the owner's; end() may be called from any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace cairn {

class RecordEnds {
 public:
  // Reads the next bytes of the file. The first call has the first bytes of the file.
  void Read(std::string_view bytes);
  // The offset in the file where its last whole record ends.
  uint64_t end() const { return end_.load(std::memory_order_relaxed); }

 private:
  static constexpr size_t kHeaderBytes = 7;  // a checksum, the size of the fragment in two bytes, its type

  // Reads some of the bytes; returns how many.
  size_t ReadSome(std::string_view bytes);
  void EndFragment();

  uint64_t position_ = 0;
  std::array<unsigned char, kHeaderBytes> header_{};
  size_t header_bytes_ = 0;   // of the fragment, read so far
  size_t fragment_left_ = 0;  // bytes behind the header
  std::atomic<uint64_t> end_{0};
};

}  // namespace cairn
