// SPDX-License-Identifier: BSD-3-Clause
//
// UnservedSlots: the slots of which this node stores keys although it does not serve them. They are being imported
// (cluster/slot_imports.h), or they have left for another node and their keys are still to be deleted.
//
// Clients see none of these keys (storage/hidden_slots.h). The set is a row of the store (docs/format.md, section 6),
// so that a node that was killed finds the keys again: a master deletes them when it starts, or when it is promoted; a
// replica waits for its master. A slot that this node serves is not hidden and its keys are not deleted, whatever the
// set says: so the commit point of an import is the change of the slot's owner in nodes.conf.
//
// A slot's keys are deleted by range, on the thread "slot-drop".
//
// Thread: any. Hide and Show may wait for the disk; the others do not wait for a commit.
#pragma once

#include <atomic>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "bus/slot_set.h"
#include "cluster/slot_keys.h"

namespace cairn {

class UnservedSlots {
 public:
  struct Host {
    std::function<bool(int slot)> is_served;  // by this node or its master, or open for a manual import
    std::function<bool()> is_master;
    std::function<Status()> settle;  // waits for all commands that hold keys
  };

  UnservedSlots(Store& store, const Notifier& notifier, Host host);
  ~UnservedSlots() { Stop(); }

  // Reads the row. REQUIRES: no client is served yet.
  Status Load();
  // `first` runs on the thread "slot-drop" before any deletion; may be empty.
  void Start(const std::function<void()>& first = nullptr);
  void Stop();

  // Hides the slots under a name, here and, if `replicates`, on the replicas. They are hidden even after kill -9. An
  // error: nothing has changed.
  Status Hide(const std::string& name, const SlotSet& slots, bool replicates);
  // Ends that. The caller has deleted the keys, or this node serves the slots now. After an error the slots are shown
  // here, but not after a restart or on the replicas.
  Status Show(const std::string& name, bool replicates);
  // Deletes the keys of these slots, then shows the slots and calls `done` (may be empty) on the thread "slot-drop".
  // A slot that another name hides too is left alone: an import of it may have begun, which has called DropNow.
  // REQUIRES: they are hidden.
  void Drop(const std::string& name, std::function<void()> done);
  // Deletes the keys now; false if the server stops or has become a replica. REQUIRES: they are hidden, and the caller
  // holds no stripe.
  Result<bool> DropNow(const SlotSet& slots);
  // Whether the slot's keys are hidden, unless this node serves it.
  bool Hides(int slot) { return IsHiddenByAnother(slot, {}); }
  // The names under which slots are hidden.
  std::vector<std::string> Names();
  // Drop for each of the names.
  void DropEach(const std::vector<std::string>& names);
  // Deletes the keys of all hidden slots: this node has started as a master.
  void DropAll() { DropEach(Names()); }

  // Held by a change of the routes: no key is deleted by old ones meanwhile.
  Mutex& drop_mutex() ABSL_LOCK_RETURNED(drop_mutex_) { return drop_mutex_; }
  // The routes have changed.
  void Refresh();

 private:
  struct Job {
    std::string name;
    std::function<void()> done;
  };

  // Commits the row.
  Status Write(const std::string& row, std::span<const std::string_view> replicated)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_);
  void RefreshLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool Next(Job& job);
  void Run();
  Status Carry(const Job& job);
  // Deletes the keys of the slots of which `is_dropped` is true.
  Result<bool> DropSlots(const SlotSet& slots, const std::function<bool(int slot)>& is_dropped);
  bool IsHiddenByAnother(int slot, const std::string& name);

  Store& store_;
  const Host host_;
  Mutex deletion_mutex_;  // one deletion at a time; held while it waits for holders of keys
  Mutex drop_mutex_ ABSL_ACQUIRED_AFTER(deletion_mutex_);
  SlotKeyDrops drops_ ABSL_GUARDED_BY(deletion_mutex_);
  Mutex change_mutex_;  // one change of the set and its row at a time; held during a commit
  Mutex mutex_ ABSL_ACQUIRED_AFTER(drop_mutex_, change_mutex_);
  std::map<std::string, SlotSet> slots_ ABSL_GUARDED_BY(mutex_);  // by name
  Mutex jobs_mutex_;                                              // a leaf
  CondVar jobs_changed_;
  std::deque<Job> jobs_ ABSL_GUARDED_BY(jobs_mutex_);
  std::atomic<bool> stopping_{false};  // set under jobs_mutex_
  std::thread thread_;
};

// The slots whose keys a node of a cluster hides, by its file `nodes_conf`; for programs that open its directory
// without a server. None if the file is missing: then it is not known which of these slots the node serves.
Result<SlotSet> ReadUnservedSlots(const Store& store, const std::filesystem::path& nodes_conf);

}  // namespace cairn
