// SPDX-License-Identifier: BSD-3-Clause
//
// PrimaryLink: the link of a replica to its primary. It connects, asks to go on where it stopped or for
// everything, and has the stream carried out (replication/stream_applier.h); when the link breaks it
// tries again, with pauses that grow.
//
// The first transfer is loaded beside the present data, which goes on being served, and takes its
// place in one commit.
//
// Thread: Follow, Leave and what is asked any; the work is done on "primary-link".
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

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

// A replica's first transfer and the room that it needs on the disk.
struct FirstTransfer {
  bool is_needed = false;
  bool lacks_room = false;  // the last one was ended because it does not fit
  // It begins again when so much room is left, or at this time: the primary may have less data by then.
  uint64_t room_wanted = 0;
  std::atomic<int64_t> again_ms{0};
  // Bytes; a size of 0 is not known.
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
    std::function<void()> on_stream_changed;  // those who follow this server must ask anew
  };

  PrimaryLink(const Parts& parts, StreamLog& log, Events events);
  ~PrimaryLink();
  void Start();
  void Stop();

  // Follows this primary from now on. `failover` asks it to give its role away to this server first.
  void Connect(const PrimaryAddress& primary, bool failover = false);
  // Ends the link and returns when nothing of it is under way any more.
  void Disconnect();
  // Deletes what was received of a transfer. REQUIRES: Leave, or not started.
  void DropReceived() { receiver_.Drop(); }
  // Breaks the link; it is taken up again.
  bool Break();

  State state() const { return state_; }
  // Whether the primary would not take over when it was asked to.
  bool failover_refused() const { return failover_refused_; }
  // Whether it is still to be asked, or has not answered.
  bool asks_failover() const { return asks_failover_; }
  // Unix time in ms of the last byte from the primary, of the link's end, of the last byte of a transfer.
  int64_t last_io_ms() const { return last_io_ms_; }
  int64_t down_since_ms() const { return down_since_ms_; }
  // Its atomics may be read by any thread.
  const FirstTransfer& transfer() const { return transfer_; }
  uint64_t full_syncs() const { return full_syncs_; }
  uint64_t partial_syncs() const { return partial_syncs_; }
  uint64_t received_offset() const { return received_offset_; }

 private:
  void Run();
  // Until the thread has heard of the epoch. REQUIRES: `lock` holds mutex_, and the thread runs.
  void AwaitRest(std::unique_lock<std::mutex>& lock);
  Status ConnectOnce(const PrimaryAddress& primary);
  // An error while the disk is too full for what the link would bring.
  Status CheckRoom() const;
  Status LoadEverything(const PrimaryHandshake::Answer& answer);
  // Ends a first transfer that does not fit. `total` 0: unknown.
  void NoteProgress(uint64_t received, uint64_t total);
  Status LoadFile(const PrimaryHandshake::Answer& answer);
  Status LoadFiles(const PrimaryHandshake::Answer& answer, const FilesHead& head);
  // What was loaded is the stream's data at its offset. `adoption` is to be Done once it is committed.
  Status BeforeAdopting(const PrimaryHandshake::Answer& answer, int64_t selected_db, Transaction& txn,
                        std::unique_ptr<StreamLog::Adoption>& adoption);
  Status CarryOut(const PrimaryAddress& primary);
  Status ReadSome();
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

  std::mutex mutex_;
  std::condition_variable wake_;  // of the thread
  std::condition_variable rest_;  // of those who wait for it
  PrimaryAddress primary_;        // guarded by mutex_; no host: none
  uint64_t epoch_ = 0;            // counts changes of primary_
  uint64_t resting_epoch_ = 0;    // of which the thread has nothing under way
  bool stopping_ = false;
  std::atomic<bool> wanted_{false};
  std::atomic<bool> asks_failover_{false};
  std::atomic<bool> failover_refused_{false};
  std::atomic<State> state_{State::kNone};
  std::atomic<int64_t> last_io_ms_{0};
  std::atomic<int64_t> down_since_ms_{0};
  std::atomic<uint64_t> full_syncs_{0};
  std::atomic<uint64_t> partial_syncs_{0};
  std::atomic<uint64_t> received_offset_{0};
  std::thread thread_;
};

}  // namespace cairn
