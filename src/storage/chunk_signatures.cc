// SPDX-License-Identifier: BSD-3-Clause
#include "storage/chunk_signatures.h"

#include <array>
#include <bit>

#include "base/assert.h"

namespace cairn {

size_t ChunkSignatures::bytes() const { return blocks_.size() * kBlockBytes + seqs_.size() * kColumnBytes; }

size_t ChunkSignatures::next_bytes() const {
  return kColumnBytes + (seqs_.size() % kBlockColumns == 0 ? kBlockBytes : 0);
}

// Two halves of the hash stand for as many hashes as are wanted (Kirsch and Mitzenmacher, "Less Hashing, Same
// Performance", 2006).
size_t ChunkSignatures::RowOf(uint64_t hash, size_t n) {
  const auto spread = static_cast<uint32_t>(hash + n * ((hash >> 32) | 1));
  return static_cast<size_t>(uint64_t{spread} * kRows >> 32);
}

uint32_t ChunkSignatures::AddColumn(int64_t seq) {
  const auto column = static_cast<uint32_t>(seqs_.size());
  if (column % kBlockColumns == 0) blocks_.push_back(std::make_unique<uint64_t[]>(kBlockBytes / sizeof(uint64_t)));
  seqs_.push_back(seq);
  columns_.emplace(seq, column);
  return column;
}

void ChunkSignatures::AddBits(uint32_t column, std::span<const uint64_t> hashes) {
  const uint64_t bit = uint64_t{1} << column % 64;
  for (const uint64_t hash : hashes) {
    for (size_t n = 0; n < kBitsPerItem; ++n) WordAt(column, RowOf(hash, n)) |= bit;
  }
}

void ChunkSignatures::Cover(int64_t seq, std::span<const uint64_t> hashes, bool settled) {
  ASSERT(seq > covered_, "chunks are covered from the head on");
  covered_ = seq;
  const uint32_t column = AddColumn(seq);
  ++covered_columns_;
  AddBits(column, hashes);
  if (!settled) SetTouched(column);
}

void ChunkSignatures::Touch(int64_t seq) {
  const auto found = columns_.find(seq);
  SetTouched(found != columns_.end() ? found->second : AddColumn(seq));
}

bool ChunkSignatures::IsTouched(int64_t seq) const {
  const auto found = columns_.find(seq);
  return found != columns_.end() && (WordAt(found->second, kTouchedRow) >> found->second % 64 & 1) != 0;
}

void ChunkSignatures::Settle(int64_t seq, std::span<const uint64_t> hashes) {
  const uint32_t column = columns_.at(seq);
  AddBits(column, hashes);
  WordAt(column, kTouchedRow) &= ~(uint64_t{1} << column % 64);
}

std::vector<int64_t> ChunkSignatures::Candidates(uint64_t hash, int64_t first) const {
  std::vector<int64_t> found;
  for (size_t block = 0; block < blocks_.size(); ++block) {
    const uint64_t* const bits = blocks_[block].get();
    std::array<uint64_t, kWords> words;
    words.fill(~uint64_t{0});
    for (size_t n = 0; n < kBitsPerItem; ++n) {
      const uint64_t* const row = bits + RowOf(hash, n) * kWords;
      for (size_t word = 0; word < kWords; ++word) words[word] &= row[word];
    }
    for (size_t word = 0; word < kWords; ++word) {
      for (uint64_t left = words[word] | bits[kTouchedRow * kWords + word]; left != 0; left &= left - 1) {
        const size_t column = block * kBlockColumns + word * 64 + static_cast<size_t>(std::countr_zero(left));
        if (seqs_[column] >= first) found.push_back(seqs_[column]);
      }
    }
  }
  return found;
}

}  // namespace cairn
