// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/disk.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace cairn::simulation {

namespace fs = std::filesystem;
using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

namespace {

constexpr uint64_t kSectorBytes = 512;

}  // namespace

class DiskFile : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  using Base = FSWritableFileOwnerWrapper;
  DiskFile(std::unique_ptr<rocksdb::FSWritableFile> file, Disk& disk, std::string path,
           std::shared_ptr<Disk::Content> content)
      : Base(std::move(file)), disk_(disk), path_(std::move(path)), content_(std::move(content)) {}

  IOStatus Append(const Slice& bytes, const IOOptions& options, IODebugContext* debug) override {
    const MutexLock lock(disk_.mutex_);
    const bool fails = disk_.FailsNow();
    Slice written = bytes;
    if (fails) written = Slice(bytes.data(), disk_.fault_.seed % (bytes.size() + 1) / 2);
    IOStatus status = Base::Append(written, options, debug);
    if (status.ok()) content_->size += written.size();
    disk_.CrashIfDue();
    return fails ? disk_.Error(path_) : status;
  }
  IOStatus Append(const Slice& bytes, const IOOptions& options, const rocksdb::DataVerificationInfo&,
                  IODebugContext* debug) override {
    return Append(bytes, options, debug);
  }
  // Never fails: a shorter file needs no space.
  IOStatus Truncate(uint64_t size, const IOOptions& options, IODebugContext* debug) override {
    const MutexLock lock(disk_.mutex_);
    IOStatus status = Base::Truncate(size, options, debug);
    content_->Truncate(size);
    disk_.CrashIfDue();
    return status;
  }
  IOStatus Sync(const IOOptions&, IODebugContext*) override { return disk_.MarkSynced(path_, *content_); }
  IOStatus Fsync(const IOOptions&, IODebugContext*) override { return disk_.MarkSynced(path_, *content_); }
  IOStatus RangeSync(uint64_t, uint64_t, const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }

 private:
  Disk& disk_;
  const std::string path_;
  const std::shared_ptr<Disk::Content> content_;
};

class DiskDirectory : public rocksdb::FSDirectoryWrapper {
 public:
  DiskDirectory(std::unique_ptr<rocksdb::FSDirectory> directory, Disk& disk, std::string path)
      : FSDirectoryWrapper(std::move(directory)), disk_(disk), path_(std::move(path)) {}
  IOStatus Fsync(const IOOptions&, IODebugContext*) override {
    const auto is_here = [this](const auto& name) { return fs::path(name.first).parent_path() == path_; };
    return disk_.Step(
        path_, [] { return IOStatus::OK(); },
        [&] {
          std::erase_if(disk_.unsynced_changes_,
                        [&](const Disk::Change& change) { return std::ranges::any_of(change, is_here); });
        });
  }
  IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* debug,
                               const rocksdb::DirFsyncOptions&) override {
    return Fsync(options, debug);
  }

 private:
  Disk& disk_;
  const std::string path_;
};

Disk::Disk(std::string folder)
    : FileSystemWrapper(rocksdb::FileSystem::Default()), folder_(std::move(folder)), graves_(folder_ + ".deleted") {
  fs::create_directories(folder_);
  fs::create_directories(graves_);
  for (const auto& file : fs::recursive_directory_iterator(folder_)) {
    if (!file.is_regular_file()) continue;
    const uint64_t size = file.file_size();
    names_[file.path()] = std::make_shared<Content>(Content{file.path(), size, size});
  }
}

Disk::~Disk() { fs::remove_all(graves_); }

// ---- steps

template <typename Call, typename Done>
IOStatus Disk::Step(const std::string& path, Call call, Done done) {
  const MutexLock lock(mutex_);
  const bool fails = FailsNow();
  IOStatus status = fails ? Error(path) : call();
  // Whether a crash at this step comes before or after its effect.
  const bool comes_before = steps_ + 1 >= crash_step_ && crash_.seed % 2 == 0;
  if (comes_before) CrashIfDue();
  if (status.ok()) done();
  if (!comes_before) CrashIfDue();
  return status;
}

bool Disk::FailsNow() {
  if (steps_ < first_fault_ || steps_ - first_fault_ >= fault_.count) return false;
  ++failed_steps_;
  return true;
}

IOStatus Disk::Error(const std::string& path) const {
  return fault_.no_space ? IOStatus::NoSpace(path, "simulated") : IOStatus::IOError(path, "simulated");
}

void Disk::CrashIfDue() {
  ++steps_;
  if (has_crashed_ || steps_ < crash_step_) return;
  WriteImage();
  has_crashed_ = true;
  crash_listener_();
}

void Disk::CrashAfter(uint64_t steps, CrashPlan plan, std::function<void()> listener) {
  const MutexLock lock(mutex_);
  crash_ = std::move(plan);
  crash_listener_ = std::move(listener);
  crash_step_ = steps_ + steps;
  if (steps > 0) return;
  --steps_;  // no call is running
  CrashIfDue();
}

bool Disk::has_crashed() const {
  const MutexLock lock(mutex_);
  return has_crashed_;
}

void Disk::FailAfter(const FaultPlan& plan) {
  const MutexLock lock(mutex_);
  fault_ = plan;
  first_fault_ = steps_ + plan.steps_away;
}

void Disk::FailReadsAfter(uint64_t reads, uint64_t count) {
  const MutexLock lock(mutex_);
  reads_before_fault_ = reads;
  failing_reads_ = count;
}

bool Disk::FailsRead(const std::string& path) {
  const MutexLock lock(mutex_);
  if (failing_reads_ == 0 || !path.starts_with(folder_ + "/")) return false;
  if (reads_before_fault_ > 0) {
    --reads_before_fault_;
    return false;
  }
  --failing_reads_;
  ++failed_steps_;
  return true;
}

void Disk::EndFaults() {
  const MutexLock lock(mutex_);
  first_fault_ = UINT64_MAX;
  failing_reads_ = 0;
}

uint64_t Disk::failed_steps() const {
  const MutexLock lock(mutex_);
  return failed_steps_;
}

uint64_t Disk::steps() const {
  const MutexLock lock(mutex_);
  return steps_;
}

bool Disk::Sync(const std::string& path) {
  std::shared_ptr<Content> content;
  {
    const MutexLock lock(mutex_);
    const auto found = names_.find(path);
    if (found == names_.end()) return true;
    content = found->second;
  }
  return MarkSynced(path, *content).ok();
}

IOStatus Disk::MarkSynced(const std::string& path, Content& content) {
  IOStatus synced = Step(
      path, [] { return IOStatus::OK(); }, [&] { content.Sync(); });
  if (synced.ok()) return synced;
  const MutexLock lock(mutex_);
  content.FailSync();
  return synced;
}

// ---- the image

Disk::Names Disk::NamesAfterLoss(Random& random) const {
  size_t kept = unsynced_changes_.size();
  if (crash_.loss == Loss::kEverything) kept = 0;
  if (crash_.loss == Loss::kSomething) kept = random.Below(kept + 1);
  Names names = names_;
  for (size_t i = unsynced_changes_.size(); i > kept; --i) {
    for (const auto& [name, content] : unsynced_changes_[i - 1]) {
      if (content == nullptr) {
        names.erase(name);
      } else {
        names[name] = content;
      }
    }
  }
  return names;
}

void Disk::WriteContent(const Content& content, const std::string& to, Random& random) const {
  std::ifstream in(content.path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const uint64_t size = std::min(content.size, content.dropped_from);
  bytes.resize(size);
  const uint64_t unsynced = size - std::min(size, content.synced);
  uint64_t kept = unsynced;
  if (crash_.loss == Loss::kEverything) kept = 0;
  if (crash_.loss == Loss::kSomething && random.Below(3) != 0) {
    kept = random.Below(2) == 0 ? 0 : random.Below(unsynced + 1);
  }
  bytes.resize(size - unsynced + kept);
  if (crash_.loss == Loss::kSomething && kept > 0 && to.ends_with(".log") && random.Below(2) == 0) {
    const uint64_t torn = 1 + random.Below(std::min(kept, kSectorBytes));
    std::fill(bytes.end() - static_cast<int64_t>(torn), bytes.end(), '\0');
  }
  fs::create_directories(fs::path(to).parent_path());
  std::ofstream(to, std::ios::binary) << bytes;
}

void Disk::WriteImage() {
  Random random(crash_.seed);
  fs::create_directories(crash_.image);
  for (const auto& [name, content] : NamesAfterLoss(random)) {
    WriteContent(*content, crash_.image + name.substr(folder_.size()), random);
  }
}

// ---- the folder

// Keeps the bytes of a file that is deleted or replaced: a crash may bring it back. Fails if the folder was removed:
// a store that cannot be closed runs on, and its folder does not stay.
IOStatus Disk::Bury(const std::string& path) {
  const auto found = names_.find(path);
  if (found == names_.end()) return IOStatus::OK();
  const std::string grave = graves_ + "/" + std::to_string(next_grave_++);
  std::error_code error;
  fs::rename(path, grave, error);
  if (error) return IOStatus::IOError(path, error.message());
  found->second->path = grave;
  return IOStatus::OK();
}

IOStatus Disk::NewWritableFile(const std::string& path, const FileOptions& options,
                               std::unique_ptr<rocksdb::FSWritableFile>* file, IODebugContext* debug) {
  const auto content = std::make_shared<Content>(Content{path});
  IOStatus status = Step(
      path,
      [&] {
        IOStatus buried = Bury(path);
        return buried.ok() ? target()->NewWritableFile(path, options, file, debug) : buried;
      },
      [&] {
        const auto before = names_.find(path);
        unsynced_changes_.push_back({{path, before == names_.end() ? nullptr : before->second}});
        names_[path] = content;
      });
  if (status.ok()) *file = std::make_unique<DiskFile>(std::move(*file), *this, path, content);
  return status;
}

// RocksDB syncs a file in this way before it takes it in.
IOStatus Disk::ReopenWritableFile(const std::string& path, const FileOptions& options,
                                  std::unique_ptr<rocksdb::FSWritableFile>* file, IODebugContext* debug) {
  std::shared_ptr<Content> content;
  {
    const MutexLock lock(mutex_);
    const auto found = names_.find(path);
    if (found == names_.end()) return IOStatus::NotFound(path);
    content = found->second;
  }
  IOStatus status = target()->ReopenWritableFile(path, options, file, debug);
  if (status.ok()) *file = std::make_unique<DiskFile>(std::move(*file), *this, path, content);
  return status;
}

IOStatus Disk::DeleteFile(const std::string& path, const IOOptions& options, IODebugContext* debug) {
  return Step(
      path, [&] { return names_.contains(path) ? Bury(path) : target()->DeleteFile(path, options, debug); },
      [&] {
        const auto found = names_.find(path);
        if (found == names_.end()) return;
        unsynced_changes_.push_back({{path, found->second}});
        names_.erase(found);
      });
}

IOStatus Disk::RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                          IODebugContext* debug) {
  return Step(
      from,
      [&] {
        IOStatus buried = Bury(to);
        return buried.ok() ? target()->RenameFile(from, to, options, debug) : buried;
      },
      [&] {
        const auto moved = names_.find(from);
        if (moved == names_.end()) return;
        const std::shared_ptr<Content> content = moved->second;
        const auto before = names_.find(to);
        unsynced_changes_.push_back({{from, content}, {to, before == names_.end() ? nullptr : before->second}});
        names_.erase(moved);
        names_[to] = content;
        content->path = to;
      });
}

// REQUIRES: `from` is a file that the disk does not know, and `to` does not exist.
IOStatus Disk::LinkFile(const std::string& from, const std::string& to, const IOOptions& options,
                        IODebugContext* debug) {
  return Step(
      to, [&] { return target()->LinkFile(from, to, options, debug); },
      [&] {
        names_[to] = std::make_shared<Content>(Content{to, fs::file_size(to)});
        unsynced_changes_.push_back({{to, nullptr}});
      });
}

IOStatus Disk::Truncate(const std::string& path, size_t size, const IOOptions& options, IODebugContext* debug) {
  return Step(
      path, [&] { return target()->Truncate(path, size, options, debug); },
      [&] {
        const auto found = names_.find(path);
        if (found == names_.end()) return;
        found->second->Truncate(size);
      });
}

IOStatus Disk::NewDirectory(const std::string& path, const IOOptions& options,
                            std::unique_ptr<rocksdb::FSDirectory>* directory, IODebugContext* debug) {
  IOStatus status = target()->NewDirectory(path, options, directory, debug);
  if (status.ok()) *directory = std::make_unique<DiskDirectory>(std::move(*directory), *this, path);
  return status;
}

}  // namespace cairn::simulation
