// SPDX-License-Identifier: BSD-3-Clause
//
// The cost of locking keys, for docs/decisions/locks.md: the server's stripes (storage/stripes.h), compared with a
// queue per key, as in a database without stripes.
//
//   g++ -O2 -std=c++20 -Isrc bench/lab/locks.cc -o build/bench/locks && build/bench/locks [SECONDS [ROUNDS]]
//
// First the CPU time to lock and unlock 1, 10 and 100 random keys of a million by one thread and by two; a thread that
// meets a locked key releases its whole group and counts a refusal. Then how often another thread's tick is in the way:
// one thread holds the locks of a number of random keys, another tries one, for 1,024 to 262,144 stripes.
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "storage/stripes.h"

namespace {

using cairn::Stripes;
using cairn::Transaction;

constexpr uint64_t kKeys = 1000000;

uint64_t NextRandom(uint64_t& state) {
  uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// CPU time of the calling thread.
uint64_t CpuNs() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000u + static_cast<uint64_t>(time.tv_nsec);
}

struct NamedKey {
  std::string name;
  uint64_t hash;
};

// An address identifies the owner of a lock, like a transaction; it is never dereferenced.
class StripedLocks {
 public:
  bool TryLock(const NamedKey& key, const void* owner) {
    const uint32_t stripe = StripeOf(key);
    const auto* txn = static_cast<const Transaction*>(owner);
    return stripes_.IsHeldBy(stripe, txn) || stripes_.TryLock(stripe, txn);
  }
  // A second unlock of a stripe that two keys share does nothing.
  void Unlock(const NamedKey& key, const void* owner) {
    stripes_.Unlock(StripeOf(key), static_cast<const Transaction*>(owner));
  }

 private:
  static uint32_t StripeOf(const NamedKey& key) { return key.hash & (cairn::kStripeCount - 1); }
  Stripes stripes_;
};

// A table of the locked keys, in parts with a mutex each. A key's entry has its owner and its waiters; there are no
// waiters here, which is the table's best case.
class KeyQueues {
 public:
  bool TryLock(const NamedKey& key, const void* owner) {
    Part& part = PartOf(key);
    const std::lock_guard lock(part.mutex);
    const auto [found, is_new] = part.keys.try_emplace(key.name);
    if (!is_new) return found->second.owner == owner;
    found->second.owner = owner;
    return true;
  }
  void Unlock(const NamedKey& key, const void* owner) {
    Part& part = PartOf(key);
    const std::lock_guard lock(part.mutex);
    const auto found = part.keys.find(std::string_view(key.name));
    if (found == part.keys.end() || found->second.owner != owner) return;
    if (found->second.waiting == nullptr) {
      part.keys.erase(found);
    } else {
      found->second.owner = found->second.waiting->front();
      found->second.waiting->pop_front();
    }
  }

 private:
  struct Entry {
    const void* owner = nullptr;
    std::unique_ptr<std::deque<const void*>> waiting;
  };
  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  struct alignas(64) Part {
    std::mutex mutex;
    std::unordered_map<std::string, Entry, TextHash, std::equal_to<>> keys;
  };
  static constexpr size_t kParts = 64;
  Part& PartOf(const NamedKey& key) { return parts_[key.hash >> 32 & (kParts - 1)]; }
  std::unique_ptr<Part[]> parts_ = std::make_unique<Part[]>(kParts);
};

// The cost of the rest of the loop.
class NoLocks {
 public:
  bool TryLock(const NamedKey&, const void*) { return true; }
  void Unlock(const NamedKey&, const void*) {}
};

struct Tally {
  uint64_t cpu_ns = 0;
  uint64_t locked = 0;   // keys
  uint64_t tried = 0;    // groups
  uint64_t refused = 0;  // groups
};

template <typename Locks>
void Take(Locks& locks, const std::vector<NamedKey>& names, size_t group, const std::atomic<bool>& stop, uint64_t seed,
          Tally& tally) {
  std::vector<const NamedKey*> held;
  const uint64_t start = CpuNs();
  while (!stop.load(std::memory_order_relaxed)) {
    held.clear();
    bool all = true;
    for (size_t i = 0; all && i < group; ++i) {
      const NamedKey& key = names[NextRandom(seed) % names.size()];
      all = locks.TryLock(key, &tally);
      if (all) held.push_back(&key);
    }
    for (const NamedKey* key : held) locks.Unlock(*key, &tally);
    tally.locked += held.size();
    ++tally.tried;
    tally.refused += !all;
  }
  tally.cpu_ns = CpuNs() - start;
}

// Nanoseconds of CPU time to lock and unlock a key, and the share of groups that met a locked key.
template <typename Locks>
std::pair<double, double> Measure(const std::vector<NamedKey>& names, size_t threads, size_t group, double seconds) {
  Locks locks;
  std::atomic<bool> stop{false};
  std::vector<std::unique_ptr<Tally>> tallies;
  std::vector<std::thread> running;
  for (size_t i = 0; i < threads; ++i) {
    tallies.push_back(std::make_unique<Tally>());
    running.emplace_back([&, i] { Take(locks, names, group, stop, i + 1, *tallies[i]); });
  }
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  stop = true;
  for (std::thread& thread : running) thread.join();
  Tally sum;
  for (const auto& tally : tallies) {
    sum.cpu_ns += tally->cpu_ns;
    sum.locked += tally->locked;
    sum.tried += tally->tried;
    sum.refused += tally->refused;
  }
  return {static_cast<double>(sum.cpu_ns) / static_cast<double>(sum.locked),
          static_cast<double>(sum.refused) / static_cast<double>(sum.tried)};
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void CompareCosts(const std::vector<NamedKey>& names, double seconds, int rounds) {
  std::printf("threads  keys     loop ns   stripes ns   refused   queues ns   refused\n");
  for (const size_t threads : {1, 2}) {
    for (const size_t group : {1, 10, 100}) {
      std::vector<double> figures[5];
      for (int round = 0; round < rounds; ++round) {
        const auto stripes = Measure<StripedLocks>(names, threads, group, seconds);
        const auto queues = Measure<KeyQueues>(names, threads, group, seconds);
        const auto loop = Measure<NoLocks>(names, threads, group, seconds);
        const double values[] = {stripes.first, stripes.second, queues.first, queues.second, loop.first};
        for (size_t i = 0; i < std::size(values); ++i) figures[i].push_back(values[i]);
      }
      std::printf("%7zu %5zu %11.1f %12.1f %8.3f%% %11.1f %8.3f%%\n", threads, group, Median(figures[4]),
                  Median(figures[0]), 100 * Median(figures[1]), Median(figures[2]), 100 * Median(figures[3]));
    }
  }
}

// The share of single keys whose stripe is held by a thread that holds `held` other keys.
double Collisions(const std::vector<NamedKey>& names, size_t stripes, size_t held) {
  constexpr int kTicks = 200;
  constexpr int kTries = 500;
  uint64_t seed = 1;
  int met = 0;
  std::vector<bool> taken(stripes);
  for (int tick = 0; tick < kTicks; ++tick) {
    std::fill(taken.begin(), taken.end(), false);
    for (size_t i = 0; i < held; ++i) taken[names[NextRandom(seed) % names.size()].hash & (stripes - 1)] = true;
    for (int i = 0; i < kTries; ++i) met += taken[names[NextRandom(seed) % names.size()].hash & (stripes - 1)];
  }
  return static_cast<double>(met) / (kTicks * kTries);
}

void CountCollisions(const std::vector<NamedKey>& names) {
  std::printf("\nheld     1024 stripes    16384 stripes   262144 stripes\n");
  for (const size_t held : {1, 16, 192, 2048}) {
    std::printf("%4zu", held);
    for (const size_t stripes : {1024, 16384, 262144}) std::printf(" %15.3f%%", 100 * Collisions(names, stripes, held));
    std::printf("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 0.3;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 9;
  std::vector<NamedKey> names;
  for (uint64_t i = 0; i < kKeys; ++i) {
    uint64_t seed = i;
    names.push_back({"key:" + std::to_string(1000000000 + i), NextRandom(seed)});
  }
  CompareCosts(names, seconds, rounds);
  CountCollisions(names);
  return 0;
}
