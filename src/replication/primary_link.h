// SPDX-License-Identifier: BSD-3-Clause
//
// PrimaryLink: the link of a replica to its primary. It connects, asks to resume the stream or for a full transfer, and
// applies the stream (replication/stream_applier.h). When the link breaks it reconnects, with growing pauses.
//
// The server loads the first transfer beside its present data, and serves that until one commit replaces it.
//
// Thread: public functions may be called from any thread; the work is done on "primary-link".
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "replication/file_receiver.h"
#include "replication/primary_handshake.h"
#include "replication/stream_applier.h"
#include "replication/stream_log.h"

namespace cairn {

class Config;
class Store;
class Tls;
struct DatasetParts;

// The state of a first transfer, and the disk space that it needs.
struct FirstTransfer {
  bool is_needed = false;
  bool lacks_room = false;  // the last transfer was aborted because it did not fit
  // The transfer is retried when this much space is free, or at this time: the primary may have less data by then.
  uint64_t room_wanted = 0;
  std::atomic<int64_t> again_ms{0};
  // In bytes; size 0: not known.
  std::atomic<uint64_t> size{0};
  std::atomic<uint64_t> received{0};
  std::atomic<bool> is_loading{false};  // it is being loaded beside the data that is served
};

struct PrimaryAddress {
  std::string host;
  int port = 0;
  bool operator==(const PrimaryAddress&) const = default;
};

class PrimaryLink {
 public:
  enum class State : unsigned char { kNone, kConnect, kConnecting, kHandshake, kSync, kConnected };

  struct Parts {
    Store& store;
    Config& config;
    Tls& tls;
    const DatasetParts& dataset;
    StreamApplier::Parts applier;
  };
  struct Events {
    std::function<void(bool up)> on_link;
    std::function<void()> on_stream_changed;  // replicas of this server must resynchronize
  };

  PrimaryLink(const Parts& parts, StreamLog& log, Events events);
  ~PrimaryLink();
  void Start();
  void Stop();

  // Replicates from this primary from now on. `failover` first asks it to hand over its role to this server.
  void Connect(const PrimaryAddress& primary, bool failover = false);
  // Ends the link; returns when its thread has stopped working for it.
  void Disconnect();
  // Deletes the received files of a transfer. REQUIRES: Disconnect, or not started.
  void DropReceived() { receiver_.Drop(); }
  // Breaks the link; it reconnects.
  bool Break();

  State state() const { return state_; }
  // Whether the primary refused the failover that it was asked for.
  bool failover_refused() const { return failover_refused_; }
  // Whether the request for a failover is not sent or not answered yet.
  bool asks_failover() const { return asks_failover_; }
  // By MonotonicMs(): when the last byte came from the primary, when the link broke. kNever: it was not up since the
  // start, or since this server was a primary. Following another primary changes neither.
  static constexpr int64_t kNever = INT64_MIN;
  int64_t last_io_ms() const { return last_io_ms_; }
  int64_t down_since_ms() const { return down_since_ms_; }
  // For how long no data has come; INT64_MAX: none ever came.
  int64_t DataAgeMs() const;
  // This server is a primary now. REQUIRES: Disconnect.
  void ForgetDownTime() { down_since_ms_ = kNever; }
  // Any thread may read its atomics.
  const FirstTransfer& transfer() const { return transfer_; }
  uint64_t full_syncs() const { return full_syncs_; }
  uint64_t partial_syncs() const { return partial_syncs_; }
  uint64_t received_offset() const { return received_offset_; }

 private:
  void Run();
  // Waits until the thread has noticed the present epoch_. REQUIRES: the thread runs.
  void AwaitRest() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Status ConnectOnce(const PrimaryAddress& primary);
  // Returns an error if the disk is too full for the data that the link would bring.
  Status CheckRoom() const;
  Status LoadEverything(const PrimaryHandshake::Answer& answer);
  // Notes progress, and aborts a first transfer that does not fit. `total` 0: unknown.
  void NoteProgress(uint64_t received, uint64_t total);
  Status LoadFile(const PrimaryHandshake::Answer& answer);
  Status LoadFiles(const PrimaryHandshake::Answer& answer, const FilesHead& head);
  // Records in `txn` that the loaded data is at the answer's offset. Call Done of `adoption` after the commit.
  Status BeforeAdopting(const PrimaryHandshake::Answer& answer, int64_t selected_db, Transaction& txn,
                        std::unique_ptr<StreamLog::Adoption>& adoption);
  Status CarryOut(const PrimaryAddress& primary);
  Status ReadSome();
  // Returns an error if the primary has sent nothing for `repl-timeout`.
  Status CheckSilence() const;
  Status AckWhenDue();
  Status SendAck();
  Status KeepAlive();
  void ShowState(State state);
  bool wanted() const;

  const Parts parts_;
  const Events events_;
  StreamLog& log_;
  PrimaryHandshake link_;
  FileReceiver receiver_;
  StreamApplier applier_;
  int64_t acked_ms_ = 0;
  FirstTransfer transfer_;

  Mutex mutex_;
  CondVar wake_;                                        // wakes the thread
  CondVar rest_;                                        // wakes callers of AwaitRest
  PrimaryAddress primary_ ABSL_GUARDED_BY(mutex_);      // no host: none
  uint64_t epoch_ ABSL_GUARDED_BY(mutex_) = 0;          // counts changes of primary_
  uint64_t resting_epoch_ ABSL_GUARDED_BY(mutex_) = 0;  // the last epoch for which the thread has stopped all work
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::atomic<bool> wanted_{false};
  std::atomic<bool> asks_failover_{false};
  std::atomic<bool> failover_refused_{false};
  std::atomic<State> state_{State::kNone};
  std::atomic<int64_t> last_io_ms_{0};
  std::atomic<int64_t> down_since_ms_{kNever};
  std::atomic<uint64_t> full_syncs_{0};
  std::atomic<uint64_t> partial_syncs_{0};
  std::atomic<uint64_t> received_offset_{0};
  std::thread thread_;
};

}  // namespace cairn
