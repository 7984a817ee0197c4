// SPDX-License-Identifier: BSD-3-Clause
//
// Descriptors: divides the limit on open files (RLIMIT_NOFILE). RocksDB can no longer write when it cannot open its
// next log, so clients, which anyone can open, never get the descriptors that tables and logs need:
//
//   limit = clients (`maxclients`) + tables (storage/open_tables.h) + a reserve
//
// The limit is raised towards the need of `maxclients` and kWantedTables. If it stays lower, tables get at least half
// of it, up to kWantedTables, and `maxclients` is lowered to the rest. Tables get what clients leave over. The reserve
// is for logs, listening sockets and threads, replicas' readers of the log, links to other servers, connections to
// `metrics-port`.
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

// Divides `available` descriptors, without the reserve, for this many wanted clients. If fewer than two times
// kFewestTables are available, clients get none.
DescriptorShares DivideDescriptors(uint64_t available, uint64_t clients);

class Descriptors {
 public:
  explicit Descriptors(Config& config) : config_(config) {}

  // At the start: raises the limit, and lowers `maxclients` if necessary. Returns the number of tables that may be
  // open; kIo with a message if the limit is too low to serve any client.
  Result<uint64_t> Divide();
  // After CONFIG SET maxclients: divides again; refuses, in Redis's words, a value that the limit does not allow.
  Status Apply(Store& store);

 private:
  // The descriptors that neither clients nor tables use.
  uint64_t Reserve() const;

  Config& config_;
};

}  // namespace cairn
