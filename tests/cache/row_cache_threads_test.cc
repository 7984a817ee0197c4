// SPDX-License-Identifier: BSD-3-Clause
//
// The key cache under threads: a thread with a reference reads the value inserted for its key, whatever other threads
// do.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "base/hash.h"
#include "base/random.h"
#include "cache/row_cache.h"

namespace cairn {
namespace {

constexpr size_t kCapacity = 64 * 65536;
constexpr uint64_t kRows = 40000;
constexpr int kSteps = 60000;

std::string RowName(uint64_t row) { return "row" + std::to_string(row); }

// The row's name `times` times, so that a mix with another row's bytes is noticed.
std::string ValueOf(const std::string& tagged, uint64_t times) {
  std::string value;
  for (uint64_t i = 0; i < times; ++i) value += tagged;
  return value;
}

bool IsWhole(std::string_view value, const std::string& tagged) {
  return value == ValueOf(tagged, value.size() / tagged.size());
}

// Each row has one writing thread, because an inserting thread holds the row's stripe.
void Work(RowCache& cache, uint64_t number, uint64_t threads, std::atomic<int>& broken) {
  Random random(number);
  std::vector<std::pair<std::string, RowRef>> held(8);
  for (int step = 0; step < kSteps; ++step) {
    const uint64_t row = random.Below(kRows);
    const std::string tagged = RowName(row);
    const uint64_t hash = Hash64(tagged);
    const uint64_t what = random.Below(16);
    if (what < 4) cache.Prefetch(hash);
    if (what < 8) cache.PrefetchRow(hash);
    if (row % threads == number && what < 8) {
      if (what == 0) cache.Erase(tagged, hash);
      else cache.Insert(tagged, hash, ValueOf(tagged, 1 + random.Below(step % 1000 == 0 ? 1000 : 20)), 1000);
    }
    auto& [name, ref] = held[random.Below(held.size())];
    if (ref && !IsWhole(ref.bytes(), name)) ++broken;
    ref = cache.Lookup(tagged, hash, what % 2 == 0, 1000);
    name = tagged;
    if (ref && !IsWhole(ref.bytes(), name)) ++broken;
  }
}

TEST(RowCacheThreads, APinnedValueNeverChanges) {
  RowCache cache(kCapacity);
  cache.CountUses(true);
  std::atomic<int> broken{0};
  std::atomic<bool> over{false};
  constexpr uint64_t kThreads = 4;
  std::vector<std::thread> threads;
  for (uint64_t number = 0; number < kThreads; ++number) {
    threads.emplace_back([&, number] { Work(cache, number, kThreads, broken); });
  }
  std::thread other([&] {
    for (int round = 0; !over; ++round) {
      RowCache::Pass pass;
      while (cache.EraseDead(pass, 100, [](std::string_view tagged) { return tagged.ends_with("77"); })) continue;
      cache.SetCapacity(round % 2 == 0 ? kCapacity / 2 : kCapacity);
      if (round % 64 == 0) cache.EraseAll();
      EXPECT_LE(cache.usage(), 2 * kCapacity);
    }
  });
  for (std::thread& thread : threads) thread.join();
  over = true;
  other.join();
  EXPECT_EQ(broken, 0);
  EXPECT_GT(cache.hits(), 1000u);
  cache.EraseAll();
  EXPECT_EQ(cache.usage(), 0u);
}

}  // namespace
}  // namespace cairn
