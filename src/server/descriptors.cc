// SPDX-License-Identifier: BSD-3-Clause
#include "server/descriptors.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/file_limit.h"
#include "base/log.h"
#include "storage/store.h"

namespace cairn {
namespace {

constexpr uint64_t kBaseReserve = 128;
constexpr uint64_t kPerIoThread = 4;    // its event loop, its wakeup, a client that it is refusing
constexpr uint64_t kPerSlowThread = 2;  // a connection of MIGRATE, a file
constexpr uint64_t kPerJob = 4;         // of RocksDB: files read and written by a flush or a part of a compaction
constexpr int kOwnIoThreads = 2;        // "io-streams" and "io-transfers"

}  // namespace

DescriptorShares DivideDescriptors(uint64_t available, uint64_t clients) {
  if (available < 2 * kFewestTables) return {};
  const uint64_t fewest_tables = std::min(available / 2, kWantedTables);
  DescriptorShares shares;
  shares.clients = std::min(clients, available - fewest_tables);
  shares.tables = available - shares.clients;
  return shares;
}

uint64_t Descriptors::Reserve() const {
  const Settings& settings = config_.settings();
  auto io_threads = static_cast<uint64_t>(2 * settings.io_threads + kOwnIoThreads);  // of `port` and of `tls-port`
  for (const ListenSpec& spec : config_.Listeners()) io_threads += static_cast<uint64_t>(spec.io_threads);
  const auto slow_threads = static_cast<uint64_t>(settings.slow_threads);
  const auto jobs = static_cast<uint64_t>(settings.max_background_jobs + settings.rocksdb_max_subcompactions);
  return kBaseReserve + kPerIoThread * io_threads + kPerSlowThread * slow_threads + kPerJob * jobs;
}

Result<uint64_t> Descriptors::Divide() {
  const auto wanted = static_cast<uint64_t>(config_.settings().maxclients);
  const uint64_t reserve = Reserve();
  const uint64_t limit = RaiseFileLimit(wanted + kWantedTables + reserve);
  const DescriptorShares shares = DivideDescriptors(limit - std::min(limit, reserve), wanted);
  const std::string limit_text = "'ulimit -n' of " + std::to_string(limit);
  if (shares.clients == 0) {
    return Status::Io(
        fmt::format("the {} is too low to start, at least {} is needed", limit_text, reserve + 2 * kFewestTables));
  }
  if (shares.clients < wanted) {
    config_.KeepNumber("maxclients", static_cast<int64_t>(shares.clients));
    Log(LogSeverity::kWarning,
        "maxclients is lowered from {} to {}, because the {} also covers up to {} open tables, logs and links. A "
        "limit of {} is enough.",
        wanted, shares.clients, limit_text, shares.tables, wanted + kWantedTables + reserve);
  }
  return shares.tables;
}

// Open tables stay open, so their share cannot become smaller than their number.
Status Descriptors::Apply(Store& store) {
  const auto wanted = static_cast<uint64_t>(config_.settings().maxclients);
  const uint64_t reserve = Reserve();
  const uint64_t limit = RaiseFileLimit(wanted + kWantedTables + reserve);
  const uint64_t available = limit - std::min(limit, reserve);
  const DescriptorShares shares = DivideDescriptors(available, wanted);
  const uint64_t open_tables = std::min(store.engine().open_tables(), available - 1);
  const uint64_t most = std::min(shares.clients, available - open_tables);
  if (most < wanted) {
    return Status::Reply("The operating system is not able to handle the specified number of clients, try with " +
                         std::to_string(most));
  }
  return store.engine().SetMostOpenTables(shares.tables);
}

}  // namespace cairn
