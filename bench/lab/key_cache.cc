// SPDX-License-Identifier: BSD-3-Clause
//
// RocksDB's caches and the server's own (cache/row_cache.h) as caches of rows, for docs/decisions/key-cache.md.
//
//   g++ -O2 -std=c++20 -Isrc bench/lab/key_cache.cc src/storage/row_{cache,table}.cc src/base/{assert,hash}.cc \
//       -o build/bench/key_cache -lrocksdb -lxxhash -ljemalloc -lpthread
//   build/bench/key_cache [READS [ROUNDS]]
//
// Readers request rows of 100 bytes out of a million, some far more often than others (Zipf, 0.99). A missing row is
// inserted, as if it had been read from the disk. The cache has room for some tenth of them. The output is the share of
// hits: without other reads; while every second read is of a row that was never requested before; and just after a pass
// over a million such rows. Then the nanoseconds of CPU time of a hit and of an insertion, by one thread and by two.
#include <rocksdb/cache.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "cache/row_cache.h"

namespace {

using rocksdb::Cache;
using rocksdb::Slice;

constexpr uint64_t kRows = 1000000;
constexpr uint64_t kColdPass = 1000000;
constexpr size_t kRowBytes = 100;
constexpr size_t kCapacity = 24 << 20;
constexpr size_t kCharge = kRowBytes + 40;  // as RowCache charges it
constexpr size_t kShards = 64;

uint64_t Mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next() { return Mix(state_ += 0x9e3779b97f4a7c15u); }
  double Share() { return static_cast<double>(Next() >> 11) * 0x1p-53; }

 private:
  uint64_t state_;
};

// Jim Gray's: Quickly Generating Billion-Record Synthetic Databases, 1994.
class Zipf {
 public:
  explicit Zipf(uint64_t count) : count_(static_cast<double>(count)) {
    for (uint64_t i = 1; i <= count; ++i) zeta_ += 1 / std::pow(static_cast<double>(i), kTheta);
    const double zeta2 = 1 + std::pow(0.5, kTheta);
    eta_ = (1 - std::pow(2 / count_, 1 - kTheta)) / (1 - zeta2 / zeta_);
  }
  uint64_t Draw(Random& random) const {
    const double u = random.Share();
    const double uz = u * zeta_;
    if (uz < 1) return 0;
    if (uz < 1 + std::pow(0.5, kTheta)) return 1;
    return static_cast<uint64_t>(count_ * std::pow(eta_ * u - eta_ + 1, 1 / (1 - kTheta)));
  }

 private:
  static constexpr double kTheta = 0.99;
  const double count_;
  double zeta_ = 0;
  double eta_ = 0;
};

void Free(const Slice&, void* value) { std::free(value); }

// 16 bytes for a row number; HyperClockCache takes no other size.
struct RowName {
  explicit RowName(uint64_t row) {
    const uint64_t halves[] = {Mix(row + 1), row};
    std::memcpy(bytes, halves, sizeof bytes);
  }
  Slice slice() const { return {bytes, sizeof bytes}; }
  std::string_view view() const { return {bytes, sizeof bytes}; }
  char bytes[16];
};

struct Kind {
  const char* name;
  std::function<std::shared_ptr<Cache>()> make;  // none: the server's own
  size_t caches;
  Cache::Priority priority;
  bool second_miss;  // a row enters at its second miss
};

class Rows {
 public:
  explicit Rows(const Kind& kind) : kind_(kind), seen_(kind.second_miss ? kSeen : 0) {
    if (!kind.make) own_ = std::make_unique<cairn::RowCache>(kCapacity);
    for (size_t i = 0; i < kind.caches; ++i) caches_.push_back(kind.make());
  }

  bool Read(uint64_t row) {
    const RowName name(row);
    if (own_ != nullptr) {
      if (own_->Lookup(name.view(), Mix(row + 1), true, 1)) return true;
      Insert(row);
      return false;
    }
    Cache& cache = CacheOf(name);
    if (Cache::Handle* handle = cache.Lookup(name.slice())) {
      cache.Release(handle);
      return true;
    }
    if (IsAdmitted(row)) Insert(row);
    return false;
  }

  void Insert(uint64_t row) {
    const RowName name(row);
    if (own_ != nullptr) {
      char value[kRowBytes];
      std::memset(value, 'v', kRowBytes);
      return own_->Insert(name.view(), Mix(row + 1), {value, kRowBytes}, 1);
    }
    void* value = std::malloc(kRowBytes);
    std::memset(value, 'v', kRowBytes);
    (void)CacheOf(name).Insert(name.slice(), value, kCharge, &Free, nullptr, kind_.priority);
  }

 private:
  static constexpr size_t kSeen = 1 << 18;
  Cache& CacheOf(const RowName& name) { return *caches_[static_cast<uint8_t>(name.bytes[7]) % caches_.size()]; }

  // Remembers the last missed row of each of kSeen places.
  bool IsAdmitted(uint64_t row) {
    if (seen_.empty()) return true;
    uint64_t& last = seen_[Mix(row * 31) % kSeen];
    const bool again = last == row;
    last = row;
    return again;
  }

  const Kind& kind_;
  std::unique_ptr<cairn::RowCache> own_;
  std::vector<std::shared_ptr<Cache>> caches_;
  std::vector<uint64_t> seen_;
};

std::shared_ptr<Cache> MakeLru(size_t capacity, double hot_share) {
  rocksdb::LRUCacheOptions options;
  options.capacity = capacity;
  options.num_shard_bits = capacity == kCapacity ? 6 : 0;
  options.high_pri_pool_ratio = hot_share;
  options.metadata_charge_policy = rocksdb::kFullChargeCacheMetadata;
  return rocksdb::NewLRUCache(options);
}

std::shared_ptr<Cache> MakeClock() {
  rocksdb::HyperClockCacheOptions options(kCapacity, kCharge, 6);
  return options.MakeSharedCache();
}

double HitShare(Rows& rows, const Zipf& zipf, Random& random, uint64_t reads, uint64_t& cold, bool mixed) {
  uint64_t hits = 0;
  for (uint64_t i = 0; i < reads; ++i) {
    hits += rows.Read(zipf.Draw(random));
    if (mixed) rows.Read(cold++);
  }
  return 100 * static_cast<double>(hits) / static_cast<double>(reads);
}

void CompareHits(const std::vector<Kind>& kinds, const Zipf& zipf, uint64_t reads) {
  std::printf("%-22s %10s %12s %12s\n", "hits, percent", "alone", "mixed", "after a pass");
  for (const Kind& kind : kinds) {
    Rows rows(kind);
    Random random(1);
    uint64_t cold = kRows;
    HitShare(rows, zipf, random, reads, cold, false);
    const double alone = HitShare(rows, zipf, random, reads, cold, false);
    const double mixed = HitShare(rows, zipf, random, reads, cold, true);
    for (uint64_t i = 0; i < kColdPass; ++i) rows.Read(cold++);
    const double after = HitShare(rows, zipf, random, reads / 20, cold, false);
    std::printf("%-22s %10.1f %12.1f %12.1f\n", kind.name, alone, mixed, after);
  }
}

// CPU time of the calling thread.
double CpuNs() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

// Nanoseconds of CPU time per operation.
double Time(size_t threads, uint64_t count, const std::function<void(Random&)>& operation) {
  std::vector<std::thread> running;
  std::vector<double> took(threads);
  for (size_t i = 0; i < threads; ++i) {
    running.emplace_back([&, i] {
      Random random(i + 7);
      const double start = CpuNs();
      for (uint64_t n = 0; n < count; ++n) operation(random);
      took[i] = CpuNs() - start;
    });
  }
  for (std::thread& thread : running) thread.join();
  return std::accumulate(took.begin(), took.end(), 0.0) / static_cast<double>(count * threads);
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void CompareTimes(const std::vector<Kind>& kinds, uint64_t reads, int rounds) {
  constexpr uint64_t kResident = 50000;
  std::printf("\n%-22s %10s %12s %12s %14s\n", "nanoseconds", "a hit", "two threads", "an insertion", "two threads");
  std::vector<std::unique_ptr<Rows>> all;
  for (const Kind& kind : kinds) {
    all.push_back(std::make_unique<Rows>(kind));
    for (uint64_t row = 0; row < kResident; ++row) all.back()->Insert(row);
  }
  std::vector<std::vector<double>> found(4 * kinds.size());
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < kinds.size(); ++i) {
      Rows& rows = *all[i];
      for (const size_t threads : {1, 2}) {
        found[4 * i + threads - 1].push_back(
            Time(threads, reads / 10, [&rows](Random& random) { rows.Read(random.Next() % kResident); }));
      }
    }
  }
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < kinds.size(); ++i) {
      Rows& rows = *all[i];
      for (const size_t threads : {1, 2}) {
        found[4 * i + 1 + threads].push_back(
            Time(threads, reads / 20, [&rows](Random& random) { rows.Insert(random.Next() | 1ull << 63); }));
      }
    }
  }
  for (size_t i = 0; i < kinds.size(); ++i) {
    std::printf("%-22s %10.0f %12.0f %12.0f %14.0f\n", kinds[i].name, Median(found[4 * i]), Median(found[4 * i + 1]),
                Median(found[4 * i + 2]), Median(found[4 * i + 3]));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t reads = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 2000000;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 7;
  const auto lru = [] { return MakeLru(kCapacity, 0); };
  const auto midpoint = [] { return MakeLru(kCapacity / kShards, 0.67); };
  const std::vector<Kind> kinds = {
      {"LRU", lru, 1, Cache::Priority::LOW, false},
      {"LRU, second miss", lru, 1, Cache::Priority::LOW, true},
      {"LRU with a midpoint", midpoint, kShards, Cache::Priority::LOW, false},
      {"own", nullptr, 0, Cache::Priority::LOW, false},
      {"HyperClock", MakeClock, 1, Cache::Priority::HIGH, false},
      {"HyperClock, low", MakeClock, 1, Cache::Priority::LOW, false},
      {"HyperClock, bottom", MakeClock, 1, Cache::Priority::BOTTOM, false},
  };
  const Zipf zipf(kRows);
  CompareHits(kinds, zipf, reads);
  CompareTimes(kinds, reads, rounds);
  return 0;
}
