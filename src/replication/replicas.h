// SPDX-License-Identifier: BSD-3-Clause
//
// Replicas: the replicas of this server, and the threads that send to them.
//
// A replica is an ordinary client with a connection in net/ until it sends PSYNC. From then on its own thread,
// "replica-<id>", produces its data and pushes it to the connection as fast as the connection takes it: first an RDB
// file of a snapshot, unless the replica can resume, and then the stream from the log (replication/log_stream.h).
// Changes during a transfer wait in the log, not in memory.
//
// Thread: any; guarded by mutex_.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/event.h"
#include "base/mutex.h"
#include "base/result.h"
#include "client/client_session.h"
#include "replication/file_transfer.h"
#include "replication/history.h"
#include "replication/log_stream.h"
#include "replication/log_uses.h"
#include "replication/sst_snapshots.h"
#include "storage/transaction.h"

namespace cairn {

class ClientRegistry;
class Config;
class Store;
class StreamLog;

// What a client has announced by REPLCONF, and the state of its transfer.
struct Replica : ReplicaClient {
  enum class State : unsigned char { kWaiting, kSending, kOnline };

  std::weak_ptr<ClientSession> session;
  uint64_t id = 0;
  std::string ip;
  std::atomic<int> port{0};
  std::atomic<bool> takes_marked_file{false};  // capa eof
  std::atomic<bool> reads_valkey_rdb{false};   // version: a Valkey since 9.0
  std::optional<FilesOffer> files;             // capa cairn-files; constant once its thread runs
  std::atomic<bool> wants_keys{true};          // false: rdb-filter-only; likewise the next
  std::atomic<bool> wants_functions{true};
  std::atomic<bool> wants_stream{true};  // false: rdb-only
  std::atomic<State> state{State::kWaiting};
  std::atomic<int64_t> waits_since_us{0};  // when it began to wait for other transfers; 0: it does not wait
  std::atomic<bool> is_written{false};     // its first transfer is being written, to the connection or to a file
  std::atomic<uint64_t> acked{0};
  std::atomic<uint64_t> synced{0};
  std::atomic<uint64_t> sent{0};
  std::atomic<uint64_t> log_from{1};     // the first sequence that it may still read from the log
  std::atomic<int64_t> acked_ms{0};      // by MonotonicMs(), as all times of this folder that measure a length
  std::atomic<bool> acknowledges{true};  // false for a replica that sent SYNC
  std::atomic<bool> ended{false};        // the connection is closed, or must close
  std::atomic<bool> done{false};         // its thread has ended
  // ---- used by its thread only
  bool caught_up = false;       // it has reached the stream's end once
  int64_t behind_since_us = 0;  // when it exceeded the soft limit; 0: it does not
  std::thread thread;

  // Whether it wants only a part of the data.
  bool is_partial() const { return !wants_keys || !wants_functions || !wants_stream; }
};

class Replicas {
 public:
  Replicas(Store& store, Config& config, const ClientRegistry& clients, StreamLog& log)
      : store_(store), config_(config), clients_(clients), log_(log), sst_snapshots_(store, config, log) {}
  ~Replicas() { Stop(); }
  // REQUIRES: the store is open.
  void Start() { sst_snapshots_.Start(); }
  void Stop();

  // The Replica of a client; created at its first REPLCONF, PSYNC or SYNC.
  std::shared_ptr<Replica> Of(ClientSession& session);

  // PSYNC and SYNC: starts the replica's thread. An empty `id` asks for a full transfer.
  void Attach(ClientSession& session, std::string id, uint64_t next, bool is_old);
  void NoteAck(ClientSession& session, uint64_t acked, uint64_t synced);
  // Notes that the replica is alive: one that loads sends newlines.
  void NoteAlive(ClientSession& session);
  // The client has disconnected.
  void Forget(ClientSession& session);
  // Waits until every online replica has acknowledged the byte `offset`, at most until `until_ms` of MonotonicMs().
  void AwaitAcked(uint64_t offset, int64_t until_ms);
  // Disconnects all replicas. They reconnect, but no interrupted first transfer can resume.
  void DisconnectAll();

  std::vector<std::shared_ptr<Replica>> All() const;
  size_t count() const { return count_; }
  // The number of replicas that have acknowledged, or synced to their disks, the byte `offset`.
  int CountAcked(uint64_t offset, bool synced) const;
  // The number of online replicas that sent anything within min-replicas-max-lag.
  int CountGood() const;
  // Whether a first transfer is being written; Redis reports it as a background save. Thread: any.
  bool IsWriting() const;
  // The first sequence that any replica, or another reader, still reads from the log (storage/old_logs.h).
  uint64_t FirstNeeded() const;
  // Disconnects replicas that exceed the timeout; called every second.
  void CheckTimes();

  const SstSnapshots& sst_snapshots() const { return sst_snapshots_; }
  // The other readers of the log, for example an export of slots.
  LogUses& log_uses() { return log_uses_; }
  uint64_t full_syncs() const { return full_syncs_; }
  uint64_t partial_syncs() const { return partial_syncs_; }
  uint64_t refused_partial_syncs() const { return refused_partial_syncs_; }
  int64_t last_left_ms() const { return last_left_ms_; }  // when the last replica disconnected; 0: never

 private:
  void Run(Replica& replica, const std::string& id, uint64_t next, bool is_old);
  Status RunSender(Replica& replica, const std::string& id, uint64_t next, bool is_old);
  // Makes the replica's thread end.
  void End(Replica& replica);
  // Waits for a commit at the sequence `next` or later, and at least until kPieceUs after the last read of the log,
  // which began at `read_us`. A GETACK ends that pause: `acks_asked` is StreamLog::acks_asked() from before the read.
  void AwaitCommit(const Replica& replica, uint64_t next, int64_t read_us, uint64_t acks_asked);
  // Delays a first transfer by repl-diskless-sync-delay.
  Status AwaitOthers(Replica& replica);
  void ReleaseTogether();
  // Whether the RDB file is sent directly, without a file on the disk.
  bool TakesMarkedFile(const Replica& replica, bool is_old) const;
  Status SendEverything(Replica& replica, bool is_old, Anchor& start);
  Status SendSnapshot(Replica& replica, const StoreSnapshot& snapshot, const Anchor& start, bool is_marked);
  Status SendFiles(Replica& replica, Anchor& start);
  Status AwaitAck(Replica& replica);
  Status AwaitSent(Replica& replica);
  Status SendStream(Replica& replica, const Anchor& from, uint64_t next);
  // Appends a piece of the stream, or finds a hole in the log (StreamLog::PassHole).
  Result<LogReader::Outcome> ReadPiece(LogStream& stream, std::string& bytes);
  // Returns an error if the replica is further behind than client-output-buffer-limit allows.
  Status CheckBehind(Replica& replica);
  // The most bytes that may wait in a connection.
  uint64_t MostUnsent() const;
  // Sends the bytes in pieces that a connection may hold, as fast as the replica takes them.
  Status Push(Replica& replica, std::string_view bytes);
  void Reap();

  Store& store_;
  Config& config_;
  const ClientRegistry& clients_;
  StreamLog& log_;
  SstSnapshots sst_snapshots_;
  LogUses log_uses_;
  mutable Mutex mutex_;
  std::vector<std::shared_ptr<Replica>> attached_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<Replica>> leaving_ ABSL_GUARDED_BY(mutex_);  // whose threads are to be joined
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  Event changed_;  // a replica has acknowledged bytes, or its thread has ended
  std::atomic<size_t> count_{0};
  std::atomic<uint64_t> full_syncs_{0};
  std::atomic<uint64_t> partial_syncs_{0};
  std::atomic<uint64_t> refused_partial_syncs_{0};
  std::atomic<int64_t> last_left_ms_{0};
};

}  // namespace cairn
