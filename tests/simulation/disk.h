// SPDX-License-Identifier: BSD-3-Clause
//
// Disk: RocksDB's file system over a real folder, which knows what a power loss would take. It can write the folder as
// it would be after one at any moment (a crash image), and it can refuse calls.
//
// Bytes that were appended after the last sync of a file may be lost, or all or a part of them may stay, of each file
// for itself, and the last sector of a log may be torn. Files that were made, renamed or deleted since the last sync of
// the folder may be as before; the changes that stay are the first ones, as with a file system that has a journal.
//
// A step is a call that changes a file or the folder, or syncs one.
//
// Thread: any; guarded by mutex_.
#pragma once

#include <rocksdb/file_system.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/random.h"

namespace cairn::simulation {

// What is left of the unsynced changes.
enum class Loss : unsigned char { kEverything, kNothing, kSomething };

struct CrashPlan {
  std::string image;  // the folder to write
  Loss loss = Loss::kEverything;
  uint64_t seed = 0;
};

struct FaultPlan {
  uint64_t steps_away = 0;  // from now
  uint64_t count = 1;       // of steps that fail
  bool no_space = false;    // else EIO
  uint64_t seed = 0;
};

class Disk : public rocksdb::FileSystemWrapper {
 public:
  // All files that the folder has are synced.
  explicit Disk(std::string folder);
  ~Disk() override;
  const char* Name() const override { return "SimulatedDisk"; }

  // ---- crashes and faults
  // Writes the image after so many further steps; 0: now. `listener` is called then, on the thread of the step.
  void CrashAfter(uint64_t steps, CrashPlan plan, std::function<void()> listener);
  bool has_crashed() const;
  void FailAfter(const FaultPlan& plan);
  // After so many further reads of files, `count` reads fail; each is a failed step.
  void FailReadsAfter(uint64_t reads, uint64_t count);
  // Whether a read of this file fails (simulation/read_faults.h).
  bool FailsRead(const std::string& path);
  void EndFaults();
  uint64_t failed_steps() const;
  uint64_t steps() const;
  // A sync of a file by another way than this file system; a step. Returns whether it succeeds; true for files that the
  // disk does not have.
  bool Sync(const std::string& path);

  // ---- FileSystem
  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus ReopenWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                       std::unique_ptr<rocksdb::FSWritableFile>* file,
                                       rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus DeleteFile(const std::string& path, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus LinkFile(const std::string& from, const std::string& to, const rocksdb::IOOptions& options,
                             rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus Truncate(const std::string& path, size_t size, const rocksdb::IOOptions& options,
                             rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus NewDirectory(const std::string& path, const rocksdb::IOOptions& options,
                                 std::unique_ptr<rocksdb::FSDirectory>* directory,
                                 rocksdb::IODebugContext* debug) override;

 private:
  friend class DiskFile;
  friend class DiskDirectory;

  // A file's bytes, whatever its name is.
  struct Content {
    std::string path;  // where they are
    uint64_t size = 0;
    uint64_t synced = 0;
    uint64_t dropped_from = UINT64_MAX;  // what a failed sync dropped: no later sync writes it to the disk

    void Sync() { synced = std::min(size, dropped_from); }
    void FailSync() { dropped_from = std::min(dropped_from, synced); }
    void Truncate(uint64_t to) {
      size = to;
      synced = std::min(synced, to);
      if (to <= dropped_from) dropped_from = UINT64_MAX;
    }
  };
  using Names = std::map<std::string, std::shared_ptr<Content>>;
  // One change of the folder: what its names were before.
  using Change = std::vector<std::pair<std::string, std::shared_ptr<Content>>>;

  rocksdb::IOStatus Bury(const std::string& path) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool FailsNow() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  rocksdb::IOStatus Error(const std::string& path) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CrashIfDue() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void WriteImage() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Names NamesAfterLoss(Random& random) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void WriteContent(const Content& content, const std::string& to, Random& random) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  rocksdb::IOStatus MarkSynced(const std::string& path, Content& content);
  // Runs a call that is a step. `done` notes its effect.
  template <typename Call, typename Done>
  rocksdb::IOStatus Step(const std::string& path, Call call, Done done);

  const std::string folder_;
  const std::string graves_;
  mutable Mutex mutex_;
  Names names_ ABSL_GUARDED_BY(mutex_);
  std::vector<Change> unsynced_changes_ ABSL_GUARDED_BY(mutex_);
  uint64_t next_grave_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t steps_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t crash_step_ ABSL_GUARDED_BY(mutex_) = UINT64_MAX;
  bool has_crashed_ ABSL_GUARDED_BY(mutex_) = false;
  CrashPlan crash_ ABSL_GUARDED_BY(mutex_);
  std::function<void()> crash_listener_ ABSL_GUARDED_BY(mutex_);
  uint64_t first_fault_ ABSL_GUARDED_BY(mutex_) = UINT64_MAX;
  FaultPlan fault_ ABSL_GUARDED_BY(mutex_);
  uint64_t reads_before_fault_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t failing_reads_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t failed_steps_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace cairn::simulation
