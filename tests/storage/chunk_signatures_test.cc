// SPDX-License-Identifier: BSD-3-Clause
//
// Signatures name every chunk that holds an item and few others, whatever became of the chunks since.
#include "storage/chunk_signatures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/random.h"

namespace cairn {
namespace {

constexpr int64_t kChunks = 2000;
constexpr uint64_t kItems = 128;

uint64_t ItemHash(uint64_t number) { return Hash64("item:" + std::to_string(number)); }

std::vector<uint64_t> HashesOfChunk(int64_t seq) {
  std::vector<uint64_t> hashes;
  for (uint64_t i = 0; i < kItems; ++i) hashes.push_back(ItemHash(static_cast<uint64_t>(seq) * kItems + i));
  return hashes;
}

ChunkSignatures CoverAll() {
  ChunkSignatures signatures;
  for (int64_t seq = 0; seq < kChunks; ++seq) signatures.Cover(seq, HashesOfChunk(seq), true);
  return signatures;
}

bool Names(const ChunkSignatures& signatures, uint64_t item, int64_t seq, int64_t first = 0) {
  const std::vector<int64_t> named = signatures.Candidates(ItemHash(item), first);
  return std::find(named.begin(), named.end(), seq) != named.end();
}

TEST(ChunkSignatures, NameTheChunkAndFewOthers) {
  const ChunkSignatures signatures = CoverAll();
  Random random(3);
  size_t named = 0;
  constexpr int kLooks = 500;
  for (int look = 0; look < kLooks; ++look) {
    const uint64_t item = random.Below(kChunks * kItems);
    ASSERT_TRUE(Names(signatures, item, static_cast<int64_t>(item / kItems)));
    named += signatures.Candidates(ItemHash(item), 0).size();
  }
  // One of 24,000 others is a twelfth of a chunk a look.
  EXPECT_LT(named, kLooks + kLooks / 4);
  EXPECT_LT(signatures.bytes(), kChunks * kItems * 4);
}

TEST(ChunkSignatures, NameWhatHasChangedUntilItIsSettled) {
  ChunkSignatures signatures = CoverAll();
  const uint64_t stranger = kChunks * kItems + 5;
  EXPECT_FALSE(Names(signatures, stranger, 700));
  signatures.Touch(700);
  EXPECT_TRUE(signatures.IsTouched(700));
  EXPECT_TRUE(Names(signatures, stranger, 700));
  signatures.Settle(700, std::vector<uint64_t>{ItemHash(stranger)});
  EXPECT_FALSE(signatures.IsTouched(700));
  EXPECT_TRUE(Names(signatures, stranger, 700));
  EXPECT_TRUE(Names(signatures, 700 * kItems, 700)) << "what it held before is still said of it";
}

TEST(ChunkSignatures, KnowChunksThatCameLater) {
  ChunkSignatures signatures = CoverAll();
  EXPECT_FALSE(signatures.Knows(-5));
  EXPECT_TRUE(signatures.Covers(-5));
  EXPECT_FALSE(signatures.Covers(kChunks));
  signatures.Touch(-5);
  EXPECT_TRUE(Names(signatures, 1, -5, -10));
  EXPECT_FALSE(Names(signatures, 1, -5, 0)) << "it lies before the list's first chunk";
  for (int64_t seq = -10; !signatures.is_stale(); --seq) {
    ASSERT_GT(seq, -3 * kChunks);
    signatures.Touch(seq);
  }
}

}  // namespace
}  // namespace cairn
