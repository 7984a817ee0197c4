// SPDX-License-Identifier: BSD-3-Clause
//
// Descriptors: the limit on open files (RLIMIT_NOFILE), divided. RocksDB loses its way to write when it cannot open its
// next log, so clients, which anybody can open, never get what tables and logs need:
//
//   limit = clients (`maxclients`) + tables (storage/open_tables.h) + a reserve
//
// The limit is raised towards what `maxclients` and kWantedTables need. Where it stays lower, tables get at least half
// of what there is up to kWantedTables, and `maxclients` is lowered to the rest. What clients leave belongs to tables.
// The reserve is for logs, listening sockets and threads, replicas' readers of the log, links to other servers,
// connections to `metrics-port`.
//
// Thread: the owner's until the server runs; then one CONFIG SET at a time.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "config/config.h"

namespace cairn {

class Store;

struct DescriptorShares {
  uint64_t clients = 0;
  uint64_t tables = 0;
};
inline constexpr uint64_t kWantedTables = 4096;
inline constexpr uint64_t kFewestTables = 64;

// How `available` descriptors, without the reserve, are divided for so many clients wanted. Fewer than two times
// kFewestTables are not enough: no clients then.
DescriptorShares DivideDescriptors(uint64_t available, uint64_t clients);

class Descriptors {
 public:
  explicit Descriptors(Config& config) : config_(config) {}

  // At the start: raises the limit, lowers `maxclients` if it must. The number of tables that may be open; kIo with a
  // sentence when the limit is too low to serve anybody.
  Result<uint64_t> Divide();
  // After CONFIG SET maxclients: divides again; refuses, in Redis's words, what the limit does not allow.
  Status Apply(Store& store);

 private:
  // Descriptors that are neither clients' nor tables'.
  uint64_t Reserve() const;

  Config& config_;
};

}  // namespace cairn
