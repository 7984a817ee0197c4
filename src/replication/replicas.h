// SPDX-License-Identifier: BSD-3-Clause
//
// Replicas: those who follow this server, and what they are sent.
//
// A replica is a client like others, with a connection in net/; PSYNC makes it one. From then on a
// thread of its own, "replica-<id>", produces what it is to get, and pushes it to the connection as
// fast as that takes it: the first transfer as an RDB file of a snapshot, and then, or at once, the
// stream out of the log (replication/log_stream.h). What changes during a transfer waits in the log,
// not in memory.
//
// Thread: any; guarded by mutex_.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/event.h"
#include "base/result.h"
#include "client/client_session.h"
#include "replication/file_transfer.h"
#include "replication/history.h"
#include "replication/log_stream.h"
#include "replication/sst_snapshots.h"
#include "storage/transaction.h"

namespace cairn {

class ClientRegistry;
class Config;
class Store;
class StreamLog;

// What a client has said about itself by REPLCONF, and what it is told.
struct Replica : ReplicaClient {
  enum class State : unsigned char { kWaiting, kSending, kOnline };

  std::weak_ptr<ClientSession> session;
  uint64_t id = 0;
  std::string ip;
  std::atomic<int> port{0};
  std::atomic<bool> takes_marked_file{false};  // capa eof
  std::optional<FilesOffer> files;             // capa cairn-files; not changed once it is fed
  std::atomic<bool> wants_keys{true};          // not so: rdb-filter-only, likewise the next
  std::atomic<bool> wants_functions{true};
  std::atomic<bool> wants_stream{true};  // not so: rdb-only
  std::atomic<State> state{State::kWaiting};
  std::atomic<int64_t> waits_since_us{0};  // for others, so that they begin together; 0: it does not
  std::atomic<bool> is_written{false};     // its first transfer is being written, to it or to a file
  std::atomic<uint64_t> acked{0};
  std::atomic<uint64_t> synced{0};
  std::atomic<uint64_t> sent{0};
  std::atomic<uint64_t> log_from{1};  // the sequence from which on it may still read the log
  std::atomic<int64_t> acked_ms{0};
  std::atomic<bool> acknowledges{true};  // not one that came by SYNC
  std::atomic<bool> ended{false};        // the connection is gone, or is to go
  std::atomic<bool> done{false};         // the thread has ended
  // ---- the thread's own
  bool caught_up = false;       // it has been at the stream's end once
  int64_t behind_since_us = 0;  // further than the soft limit; 0: it is not
  std::thread thread;

  // Whether it wants less than a replica does.
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

  // What a client that speaks of itself is; made on the first REPLCONF, PSYNC or SYNC.
  std::shared_ptr<Replica> Of(ClientSession& session);

  // PSYNC and SYNC: the replica is fed from here on. `id` is empty for everything.
  void Attach(ClientSession& session, std::string id, uint64_t next, bool is_old);
  void NoteAck(ClientSession& session, uint64_t acked, uint64_t synced);
  // A replica that has said anything is there: one that loads sends newlines.
  void NoteAlive(ClientSession& session);
  // The client is gone.
  void Forget(ClientSession& session);
  // Waits until every online replica has acknowledged the byte `offset`, at most until `until_ms`.
  void AwaitAcked(uint64_t offset, int64_t until_ms);
  // All links are cut, and replicas come again; no first transfer goes on where it was.
  void DisconnectAll();

  std::vector<std::shared_ptr<Replica>> All() const;
  size_t count() const { return count_; }
  // Those that have acknowledged, or synced to their disks, the byte `offset`.
  int CountAcked(uint64_t offset, bool synced) const;
  // Those online that were heard of within min-replicas-max-lag.
  int CountGood() const;
  // Whether a first transfer is being written, which Redis calls a background save. Thread: any.
  bool IsWriting() const;
  // The sequence from which on one of them reads the log (storage/old_logs.h).
  uint64_t FirstNeeded() const;
  // Ends those that are silent for too long; called every second.
  void CheckTimes();

  const SstSnapshots& sst_snapshots() const { return sst_snapshots_; }
  uint64_t full_syncs() const { return full_syncs_; }
  uint64_t partial_syncs() const { return partial_syncs_; }
  uint64_t refused_partial_syncs() const { return refused_partial_syncs_; }
  int64_t last_left_ms() const { return last_left_ms_; }  // when there was one; 0: never

 private:
  void Run(Replica& replica, const std::string& id, uint64_t next, bool is_old);
  Status RunSender(Replica& replica, const std::string& id, uint64_t next, bool is_old);
  // Where the stream is to be read from for the byte `next`; false: it cannot be.
  Result<bool> FindStart(const std::string& id, uint64_t next, Anchor& start);
  // Makes its thread end.
  void End(Replica& replica);
  // Waits for a commit at the sequence `next` or later, and at least until kPieceUs after the last read of the log,
  // which began at `read_us`. A GETACK ends that pause: `acks_asked` is StreamLog::acks_asked() from before the read.
  void AwaitCommit(const Replica& replica, uint64_t next, int64_t read_us, uint64_t acks_asked);
  // Holds a first transfer back for repl-diskless-sync-delay.
  Status AwaitOthers(Replica& replica);
  void ReleaseTogether();
  // Whether it is sent an RDB file straight, without one on the disk.
  bool TakesMarkedFile(const Replica& replica, bool is_old) const;
  Status SendEverything(Replica& replica, bool is_old, Anchor& start);
  Status SendSnapshot(Replica& replica, const StoreSnapshot& snapshot, const Anchor& start, bool is_marked);
  Status SendFiles(Replica& replica, Anchor& start);
  Status AwaitAck(Replica& replica);
  Status AwaitSent(Replica& replica);
  Status SendStream(Replica& replica, const Anchor& from, uint64_t next);
  // Appends some of the stream, or finds a hole in the log (StreamLog::PassHole).
  Result<LogReader::Outcome> ReadPiece(LogStream& stream, std::string& bytes);
  // An error when it is further behind than client-output-buffer-limit allows.
  Status CheckBehind(Replica& replica);
  // How much may wait in a connection.
  uint64_t MostUnsent() const;
  // What is larger than a connection should hold goes a piece at a time, as fast as the replica takes it.
  Status Push(Replica& replica, std::string_view bytes);
  void Reap();

  Store& store_;
  Config& config_;
  const ClientRegistry& clients_;
  StreamLog& log_;
  SstSnapshots sst_snapshots_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Replica>> attached_;  // guarded by mutex_
  std::vector<std::shared_ptr<Replica>> leaving_;   // whose threads are to be joined; guarded by mutex_
  bool stopping_ = false;
  Event changed_;  // a replica has acknowledged bytes, or its thread has ended
  std::atomic<size_t> count_{0};
  std::atomic<uint64_t> full_syncs_{0};
  std::atomic<uint64_t> partial_syncs_{0};
  std::atomic<uint64_t> refused_partial_syncs_{0};
  std::atomic<int64_t> last_left_ms_{0};
};

}  // namespace cairn
