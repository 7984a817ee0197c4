// SPDX-License-Identifier: BSD-3-Clause
//
// StreamApplier: runs the commands of a primary's stream through the ordinary command functions, and commits them.
//
// Each command is applied exactly once: the applied offset is a row in the same batch as the command's writes
// (StreamLog::AddApplied), so kill -9 at any moment leaves data and offset consistent. MULTI to EXEC is one batch.
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
class Stats;
class Store;
class StreamLog;
class WorkerStats;
struct CommandLogs;

class StreamApplier {
 public:
  struct Parts {
    Store& store;
    Config& config;
    Dispatcher& dispatcher;
    const CommandTable& table;
    Stats& stats;
    CommandLogs& logs;
    Monitors& monitors;
    const Notifier& notifier;
  };

  StreamApplier(const Parts& parts, StreamLog& log);
  ~StreamApplier();
  // REQUIRES: the store is open.
  void Start();
  void Stop();

  // Begins a stream from `peer` at the log's applied offset.
  void Begin(const std::string& peer);
  // The parser to which received bytes are added. REQUIRES: Begin.
  RequestParser& parser() { return *parser_; }
  // Runs complete commands that have arrived, for some time. It commits at any point except within a MULTI.
  Status RunBuffered();
  // RunBuffered has left some for its next call. Leave the parser alone until then.
  bool has_more() const { return !ahead_left_.empty() || outcome_ == RequestParser::Outcome::kRequest; }
  // Discards commands that ran but are not committed.
  void Abandon();

  // The committed offset.
  uint64_t applied_offset() const { return applied_.offset; }
  // Whether the stream has requested an acknowledgement since the last call.
  bool TakeAckRequest() { return std::exchange(ack_wanted_, false); }
  // The last stream cannot be followed from where it ended, so the next one must not resume there.
  bool is_damaged() const { return is_damaged_; }
  // The primary's data set has replaced this server's.
  void NoteAdopted() { is_damaged_ = false; }
  // For a first transfer. REQUIRES: no stream is being run.
  Transaction& txn() { return *txn_; }

 private:
  void ReadAhead();
  Status RunRequest(const StreamPrefetcher::Request& request);
  Status RunCommand(std::span<const std::string_view> argv);
  Status RunRetried(std::span<const std::string_view> argv);
  Status CommitApplied();
  Status CommitStream();
  Status Damaged(const std::string& how);
  // What the outcome of a command means for the link.
  Status Judge(const Status& outcome, std::string_view name);
  void Account(const Command& command, std::span<const std::string_view> argv, int64_t usec, std::string_view error);

  const Parts parts_;
  StreamLog& log_;
  std::unique_ptr<Transaction> txn_;
  Random random_;
  WorkerStats& stats_;  // applied commands count as calls, as in Redis
  std::vector<uint32_t> positions_;
  std::vector<uint32_t> stripes_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<RequestParser> parser_;
  StreamPrefetcher ahead_;
  RequestParser::Outcome outcome_{};  // of ahead_'s last read
  // The requests of ahead_ that did not run yet.
  std::span<const StreamPrefetcher::Request> ahead_left_;
  std::string stream_;     // bytes of commands that ran but are not committed
  Applied applied_;        // the committed position
  uint64_t in_multi_ = 0;  // bytes of an open MULTI
  int64_t clock_us_ = 0;   // the end of the last command, and so the start of the next
  bool ack_wanted_ = false;
  std::string reply_;
  std::vector<QueuedCommand> ran_;  // commands of an EXEC that are not accounted for yet
  StreamFilter stream_filter_;
  bool is_damaged_ = false;  // the last stream could not be parsed, or names a database that this server lacks
};

}  // namespace cairn
