// SPDX-License-Identifier: BSD-3-Clause
#include "types/sample.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "base/assert.h"

namespace cairn {
namespace {

// Walks over all ranks and takes each with the probability that makes the count come out exactly (Knuth, volume 2,
// algorithm 3.4.2 S).
std::vector<uint64_t> SelectRanks(uint64_t total, uint64_t count, Random& random) {
  std::vector<uint64_t> ranks;
  ranks.reserve(count);
  for (uint64_t rank = 0; ranks.size() < count; ++rank) {
    if (random.Below(total - rank) < count - ranks.size()) ranks.push_back(rank);
  }
  return ranks;
}

// Draws once per wanted rank, without retries (Bentley and Floyd, "A sample of brilliance", 1987).
std::vector<uint64_t> DrawRanks(uint64_t total, uint64_t count, Random& random) {
  absl::flat_hash_set<uint64_t> drawn;
  drawn.reserve(count);
  for (uint64_t last = total - count; last < total; ++last) {
    if (!drawn.insert(random.Below(last + 1)).second) drawn.insert(last);
  }
  std::vector<uint64_t> ranks(drawn.begin(), drawn.end());
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

}  // namespace

std::vector<uint64_t> SampleRanks(uint64_t total, uint64_t count, Random& random) {
  ASSERT(count <= total, "a sample larger than the whole");
  return count * 8 >= total ? SelectRanks(total, count, random) : DrawRanks(total, count, random);
}

}  // namespace cairn
