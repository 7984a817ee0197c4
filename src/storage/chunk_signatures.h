// SPDX-License-Identifier: BSD-3-Clause
//
// ChunkSignatures: which chunks of a large list may hold an item, so that LINSERT finds its pivot without reading the
// list up to there.
//
// A bit-sliced signature file (Faloutsos, "Access Methods for Text", ACM Computing Surveys 1985; Goodwin and others,
// "BitFunnel", SIGIR 2017). A chunk is a column of 3,072 bits of which each of its items sets eight; the bits lie row
// by row, 512 columns to a cache line, so that an item is looked for in 512 chunks by reading eight lines. Of chunks
// with 128 items one in 24,000 is named that does not hold the item; none that does is left out.
//
// Chunks are covered from the list's head on, as far as somebody has looked. What a covered chunk holds is only ever
// added to its column; one that has changed since is `touched` and named whatever is looked for. So a column may say
// too much, of items that are gone or of changes that were taken back, and never too little.
//
// It is an aid, not data: it can be dropped at any time. RankIndexes keeps them; whoever holds the stripe may use and
// change them, nobody else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include <absl/container/flat_hash_map.h>

namespace cairn {

class ChunkSignatures {
 public:
  static constexpr size_t kBlockColumns = 512;

  // The chunks up to this number are covered; all others nobody has looked at.
  int64_t covered() const { return covered_; }
  bool Covers(int64_t seq) const { return seq <= covered_; }
  size_t bytes() const;
  // What the next Cover or Touch of a chunk it does not know will add to bytes(), at most.
  size_t next_bytes() const;
  // Most columns are of chunks that came, or went, since they were covered: it is better made anew.
  bool is_stale() const { return seqs_.size() > 2 * covered_columns_ + kBlockColumns; }

  // The chunk behind the covered ones, with the hashes of its items. `settled`: none of them can be taken back.
  // REQUIRES: seq > covered().
  void Cover(int64_t seq, std::span<const uint64_t> hashes, bool settled);
  // The chunk has changed, or is new. REQUIRES: Covers(seq).
  void Touch(int64_t seq);
  bool Knows(int64_t seq) const { return columns_.contains(seq); }
  bool IsTouched(int64_t seq) const;
  // What a touched chunk holds now, all of it committed. REQUIRES: Knows(seq).
  void Settle(int64_t seq, std::span<const uint64_t> hashes);

  // The covered chunks from number `first` on that may hold an item with this hash, in no order.
  std::vector<int64_t> Candidates(uint64_t hash, int64_t first) const;

 private:
  static constexpr size_t kRows = 3072;
  static constexpr size_t kBitsPerItem = 8;
  static constexpr size_t kWords = kBlockColumns / 64;
  static constexpr size_t kTouchedRow = kRows;  // behind the rows of bits
  static constexpr size_t kBlockBytes = (kRows + 1) * kWords * sizeof(uint64_t);
  static constexpr size_t kColumnBytes = 48;  // its number, twice, and the hash table's slack

  // The row of an item's n-th bit.
  static size_t RowOf(uint64_t hash, size_t n);
  uint64_t& WordAt(uint32_t column, size_t row) const {
    return blocks_[column / kBlockColumns][row * kWords + column % kBlockColumns / 64];
  }
  uint32_t AddColumn(int64_t seq);
  void AddBits(uint32_t column, std::span<const uint64_t> hashes);
  void SetTouched(uint32_t column) { WordAt(column, kTouchedRow) |= uint64_t{1} << column % 64; }

  int64_t covered_ = std::numeric_limits<int64_t>::min();
  size_t covered_columns_ = 0;
  std::vector<std::unique_ptr<uint64_t[]>> blocks_;
  std::vector<int64_t> seqs_;                         // by column
  absl::flat_hash_map<int64_t, uint32_t> columns_;    // by chunk
};

}  // namespace cairn
