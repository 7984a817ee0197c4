// SPDX-License-Identifier: BSD-3-Clause
//
// Evictor: evicts keys of the databases in memory, or of those on disk, as `maxmemory-policy` says. It evicts nothing
// during CLIENT PAUSE, FAILOVER and other pauses that stop expiry, as in Redis.
//
// Thread: the owner's; Policy and IsPaused belong to any.
#pragma once

#include <cstdint>
#include <memory>

#include "base/random.h"
#include "base/result.h"
#include "types/eviction.h"

namespace cairn {

class Conditions;
class Config;
class Notifier;
class Store;
class Transaction;

class Evictor {
 public:
  // `in_memory`: which databases.
  Evictor(Store& store, Config& config, const Conditions& conditions, const Notifier& notifier, bool in_memory);
  ~Evictor();

  // That of the directives; on a replica none, because its primary evicts.
  EvictionPolicy Policy() const;
  // Whether a pause stops evictions.
  bool IsPaused() const;
  // Evicts some dozen keys of a database, which is chosen by its number of keys. Returns about how many bytes they
  // took; 0: no key suits the present policy, or evictions are paused. `hurries`: from fewer samples than
  // maxmemory-samples, which reads less.
  Result<uint64_t> EvictSome(bool hurries);

 private:
  // The keys of the database if it is one of these; else 0.
  uint64_t KeysOf(int db) const;
  int ChooseDatabase();

  Store& store_;
  Config& config_;
  const Conditions& conditions_;
  const Notifier& notifier_;
  const bool in_memory_;
  std::unique_ptr<Transaction> txn_;
  Random random_;
};

}  // namespace cairn
