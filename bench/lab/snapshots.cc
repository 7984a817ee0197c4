// SPDX-License-Identifier: BSD-3-Clause
//
// The cost of reading several rows as one state, for docs/decisions/multi-row-reads.md.
//
//   g++ -O2 -std=c++20 -Isrc bench/lab/snapshots.cc -o build/bench/snapshots -lrocksdb -lpthread
//   build/bench/snapshots [SECONDS [ROUNDS]]
//
// Nanoseconds of CPU time, by 1, 2 and 4 threads, for the work of a reading command other than its reads: take and
// release a snapshot of RocksDB; note the version of a stripe and compare it (storage/stripes.h); lock and unlock a
// stripe, its own or one that all threads share, like readers of one key; register as a reader of a shared stripe and
// unregister.
#include <rocksdb/db.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "storage/stripes.h"

namespace {

using cairn::Stripes;
using cairn::Transaction;

constexpr uint64_t kBatch = 64;

struct Way {
  const char* name;
  std::function<void(uint32_t stripe, const Transaction* owner)> once;
};

// CPU time of the calling thread.
uint64_t CpuNs() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000u + static_cast<uint64_t>(time.tv_nsec);
}

// Nanoseconds of CPU time for one operation. With a shared stripe all threads use the same one.
double Measure(const Way& way, size_t threads, bool shares, double seconds) {
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> done{0};
  std::atomic<uint64_t> took{0};
  std::vector<std::thread> running;
  for (size_t i = 0; i < threads; ++i) {
    running.emplace_back([&, i] {
      uint64_t count = 0;
      uint32_t stripe = shares ? 0 : static_cast<uint32_t>(i * 4096);
      const auto* owner = reinterpret_cast<const Transaction*>(&count);
      const uint64_t start = CpuNs();
      for (; !stop.load(std::memory_order_relaxed); count += kBatch) {
        for (uint64_t n = 0; n < kBatch; ++n) {
          if (!shares) stripe = (stripe & ~4095u) | ((stripe + 1) & 4095u);
          way.once(stripe, owner);
        }
      }
      took += CpuNs() - start;
      done += count;
    });
  }
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  stop = true;
  for (std::thread& thread : running) thread.join();
  return static_cast<double>(took.load()) / static_cast<double>(done.load());
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void Compare(const std::vector<Way>& ways, double seconds, int rounds) {
  std::printf("nanoseconds                        1 thread    2     4    one stripe:    2     4\n");
  std::vector<std::vector<double>> found(5 * ways.size());
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < ways.size(); ++i) {
      size_t column = 5 * i;
      for (const size_t threads : {1, 2, 4}) found[column++].push_back(Measure(ways[i], threads, false, seconds));
      for (const size_t threads : {2, 4}) found[column++].push_back(Measure(ways[i], threads, true, seconds));
    }
  }
  for (size_t i = 0; i < ways.size(); ++i) {
    std::printf("%-32s %10.1f %6.1f %6.1f %15.1f %6.1f\n", ways[i].name, Median(found[5 * i]), Median(found[5 * i + 1]),
                Median(found[5 * i + 2]), Median(found[5 * i + 3]), Median(found[5 * i + 4]));
  }
}

struct alignas(64) SharedStripe {
  std::atomic<int32_t> readers{0};  // below 0: locked by a writer
};

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 0.1;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 9;
  std::string folder = (std::filesystem::temp_directory_path() / "cairn-snapshots-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return 1;
  rocksdb::Options options;
  options.create_if_missing = true;
  rocksdb::DB* opened = nullptr;
  if (!rocksdb::DB::Open(options, folder, &opened).ok()) return 1;
  std::unique_ptr<rocksdb::DB> db(opened);
  (void)db->Put(rocksdb::WriteOptions(), "row", "value");

  Stripes stripes;
  const auto shared = std::make_unique<SharedStripe[]>(cairn::kStripeCount);
  std::atomic<uint64_t> changed{0};
  const std::vector<Way> ways = {
      {"a snapshot", [&](uint32_t, const Transaction*) { db->ReleaseSnapshot(db->GetSnapshot()); }},
      {"a stripe's version, twice",
       [&](uint32_t stripe, const Transaction*) {
         const uint64_t before = stripes.Version(stripe);
         std::atomic_signal_fence(std::memory_order_seq_cst);
         if (stripes.Version(stripe) != before) changed.fetch_add(1);
       }},
      {"a stripe locked for oneself",
       [&](uint32_t stripe, const Transaction* owner) {
         if (stripes.TryLock(stripe, owner)) stripes.Unlock(stripe, owner);
       }},
      {"a stripe that readers share",
       [&](uint32_t stripe, const Transaction*) {
         std::atomic<int32_t>& readers = shared[stripe].readers;
         int32_t seen = readers.load(std::memory_order_relaxed);
         while (seen >= 0 && !readers.compare_exchange_weak(seen, seen + 1)) {
         }
         readers.fetch_sub(1);
       }},
  };
  Compare(ways, seconds, rounds);
  db.reset();
  std::filesystem::remove_all(folder);
  return 0;
}
