// SPDX-License-Identifier: BSD-3-Clause
//
// Replica: a node that takes the stream of a primary, with a disk of its own, and the link between both. The link is
// cut, delayed and torn by the simulation; it begins just below the socket: what a primary's replica thread would push
// (replication/replicas.cc) are the bytes in flight, and what the thread of a primary link does with received bytes
// (replication/primary_link.cc) is done here. The stream, the choice between resuming and a full transfer, the file of
// the transfer, its adoption and the applier are Cairn's.
//
// Thread: one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "replication/log_stream.h"
#include "replication/stream_applier.h"
#include "replication/stream_log.h"
#include "simulation/disk.h"
#include "simulation/node.h"
#include "simulation/step.h"

namespace cairn::simulation {

// How a full transfer goes: an RDB file or row files, of which so many bytes arrive before the link breaks.
struct Transfer {
  bool by_row_files = false;
  uint64_t bytes = kAllBytes;
};

class Replica {
 public:
  // `folder`: of its data directories.
  Replica(const Setting& setting, std::string folder);
  ~Replica();

  // ---- the link
  bool is_linked() const { return stream_ != nullptr; }
  // Asks the primary to resume, or for a full transfer.
  Status Connect(Node& primary, const Transfer& transfer);
  // Takes what the primary has committed into the link, and lets up to `most` bytes of it arrive.
  Status Receive(Node& primary, uint64_t most);
  // The bytes in flight are lost.
  void Cut();

  // ---- its life
  Status Sync() { return node_->Sync(); }
  // A power loss after so many steps of its disk; 0: now.
  void Crash(uint64_t disk_steps, uint64_t seed);
  bool has_crashed() const { return disk_->has_crashed(); }
  // Opens what the power loss has left. `check` looks at the folder first.
  void Recover(const std::function<void(const std::string& dir)>& check);
  // A step of its disk has failed since the last recovery.
  bool has_failed() const { return disk_->failed_steps() != failed_before_; }
  // No further step of its disk fails. False: RocksDB does not recover from those that did, so a power loss must
  // follow.
  bool EndFaults();
  // Its process has ended. The power is lost too, unless it was lost before.
  void NoteEnd();
  void Restart();

  Node& node() { return *node_; }
  const std::shared_ptr<Disk>& disk() const { return disk_; }
  // The stream that its data is the result of, and how much of it.
  std::pair<std::string, uint64_t> position() const;
  // The same for what it has received of the present stream.
  std::pair<std::string, uint64_t> sent() const { return {sent_id_, stream_->offset()}; }
  uint64_t full_syncs() const { return full_syncs_; }
  uint64_t partial_syncs() const { return partial_syncs_; }

 private:
  void Open();
  void Close();
  // The status if the disk has failed. Throws if it has not and the status is an error.
  Status Judge(Status status, const char* what) const;
  // ---- a full transfer of `snapshot`, whose place in the stream is `start`
  using Adopt = std::function<Status(Transaction& txn)>;  // called before the data replaces the old one
  Status Load(Node& primary, const Transfer& transfer);
  Status LoadRdbFile(Node& primary, const StoreSnapshot& snapshot, uint64_t bytes, const Adopt& adopt);
  Status LoadRowFiles(Node& primary, const StoreSnapshot& snapshot, uint64_t bytes, const Adopt& adopt);

  Setting setting_;
  const std::string folder_;
  uint64_t lives_ = 0;
  std::shared_ptr<Disk> disk_;
  std::unique_ptr<Node> node_;
  std::unique_ptr<StreamApplier> applier_;
  std::unique_ptr<LogStream> stream_;  // null: the link is down
  std::string sent_id_;                // of the stream
  uint64_t sent_ = 0;                  // the offset up to which bytes are in flight or received
  std::string in_flight_;
  uint64_t transfers_ = 0;      // by row files
  uint64_t failed_before_ = 0;  // Disk::failed_steps() at the end of the last recovery
  uint64_t full_syncs_ = 0;
  uint64_t partial_syncs_ = 0;
};

}  // namespace cairn::simulation
