// SPDX-License-Identifier: BSD-3-Clause
//
// StreamApplier: runs the commands of a primary's stream through the ordinary command functions, and commits them.
//
// Exactly once: how far the stream was applied is a row of the same batch as what it did (StreamLog::AddApplied), so
// kill -9 at any moment leaves data and offset in step. What stands between MULTI and EXEC is one batch.
//
// Thread: "primary-link".
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "command/session.h"
#include "replication/history.h"
#include "replication/stream_filter.h"
#include "replication/stream_prefetcher.h"
#include "resp/request_parser.h"
#include "storage/transaction.h"

namespace cairn {

class Notifier;
class CommandTable;
class Config;
class Dispatcher;
class Monitors;
class SlowLog;
class Stats;
class Store;
class StreamLog;
class WorkerStats;

class StreamApplier {
 public:
  struct Parts {
    Store& store;
    Config& config;
    Dispatcher& dispatcher;
    const CommandTable& table;
    Stats& stats;
    SlowLog& slow_log;
    Monitors& monitors;
    const Notifier& notifier;
  };

  StreamApplier(const Parts& parts, StreamLog& log);
  ~StreamApplier();
  // REQUIRES: the store is open.
  void Start();
  void Stop();

  // A stream from `peer` begins at the log's applied offset.
  void Begin(const std::string& peer);
  // What has come is added here. REQUIRES: Begin.
  RequestParser& parser() { return *parser_; }
  // Runs the whole commands that have come. A commit falls anywhere but within a MULTI.
  Status RunBuffered();
  // Forgets what is run and not committed.
  void Abandon();

  // As committed.
  uint64_t applied_offset() const { return applied_.offset; }
  // Whether the stream has asked for an acknowledgement since the last call.
  bool TakeAckRequest() { return std::exchange(ack_wanted_, false); }
  // The last stream was damaged, so another may not go on where it ended.
  bool is_damaged() const { return is_damaged_; }
  // The data set was replaced by the primary's.
  void NoteAdopted() { is_damaged_ = false; }
  // For a first transfer. REQUIRES: no stream is being run.
  Transaction& txn() { return *txn_; }

 private:
  Status RunRequest(const StreamPrefetcher::Request& request);
  Status RunCommand(std::span<const std::string_view> argv);
  Status RunRetried(std::span<const std::string_view> argv);
  Status CommitApplied();
  Status Damaged(const std::string& how);
  void Account(const Command& command, std::span<const std::string_view> argv, int64_t usec, std::string_view error);

  const Parts parts_;
  StreamLog& log_;
  std::unique_ptr<Transaction> txn_;
  Random random_;
  WorkerStats& stats_;  // what is carried out counts as called, as in Redis
  std::vector<uint32_t> positions_;
  std::vector<uint32_t> stripes_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<RequestParser> parser_;
  StreamPrefetcher ahead_;
  std::string stream_;     // bytes of commands that are run and not committed
  Applied applied_;        // as committed
  uint64_t in_multi_ = 0;  // bytes of an open MULTI
  int64_t clock_us_ = 0;   // when the last command ended and the next one begins
  bool ack_wanted_ = false;
  std::string reply_;
  std::vector<QueuedCommand> ran_;  // by an EXEC that is not accounted for yet
  StreamFilter stream_filter_;
  bool is_damaged_ = false;  // what the primary sent last was no stream
};

}  // namespace cairn
