// SPDX-License-Identifier: BSD-3-Clause
#include "storage/synced_files.h"

#include <fmt/format.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/hash.h"
#include "base/mutex.h"
#include "storage/checked_file.h"
#include "storage/file_names.h"
#include "storage/record_ends.h"

namespace cairn {
namespace {

using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

constexpr std::string_view kLogSuffix = ".log";

// The order of the numbers in names of logs, which have leading zeros up to six digits.
struct ByNumber {
  bool operator()(const std::string& left, const std::string& right) const {
    return left.size() != right.size() ? left.size() < right.size() : left < right;
  }
};
using Sizes = std::map<std::string, uint64_t, ByNumber>;

class SyncedFiles : public rocksdb::FileSystemWrapper {
 public:
  SyncedFiles(std::shared_ptr<rocksdb::FileSystem> files, std::string dir)
      : FileSystemWrapper(std::move(files)), dir_(std::move(dir)) {}
  const char* Name() const override { return "SyncedFiles"; }

  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* file, IODebugContext* debug) override;
  IOStatus DeleteFile(const std::string& path, const IOOptions& options, IODebugContext* debug) override {
    IOStatus removed = RemoveFromList(path);
    return removed.ok() ? FileSystemWrapper::DeleteFile(path, options, debug) : removed;
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* debug) override {
    IOStatus removed = RemoveFromList(from);
    return removed.ok() ? FileSystemWrapper::RenameFile(from, to, options, debug) : removed;
  }

  void NoteManifest(const std::string& name, uint64_t size);
  void NoteLog(const std::string& name, uint64_t size);

 private:
  // The name of a manifest or log of the directory; empty: another file.
  std::string ListedName(const std::string& path) const;
  // Whether the log was not listed before.
  bool Insert(const std::string& name, uint64_t size);
  IOStatus RemoveFromList(const std::string& path);
  IOStatus SyncDirectory() ABSL_EXCLUSIVE_LOCKS_REQUIRED(file_mutex_);
  IOStatus Write(bool is_synced) ABSL_EXCLUSIVE_LOCKS_REQUIRED(file_mutex_);

  const std::string dir_;
  Mutex file_mutex_;
  std::string manifest_ ABSL_GUARDED_BY(file_mutex_);  // its line; empty: none was synced yet
  Mutex mutex_ ABSL_ACQUIRED_AFTER(file_mutex_);       // a leaf: a commit may wait for it
  Sizes logs_ ABSL_GUARDED_BY(mutex_);
  bool has_new_log_ ABSL_GUARDED_BY(mutex_) = false;  // its name may not be on disk yet
};

// A manifest or log. It counts its bytes; those before a sync are on disk after it. Of a log only whole records count,
// because LogFile may cut off the rest.
class SyncedFile : public CheckedFile {
 public:
  SyncedFile(std::unique_ptr<rocksdb::FSWritableFile> file, SyncedFiles& files, std::string name)
      : CheckedFile(std::move(file)), files_(files), name_(std::move(name)) {}

  IOStatus Sync(const IOOptions& options, Debug* debug) override {
    const uint64_t size = LastingSize();
    return Note(size, CheckedFile::Sync(options, debug));
  }
  IOStatus Fsync(const IOOptions& options, Debug* debug) override {
    const uint64_t size = LastingSize();
    return Note(size, CheckedFile::Fsync(options, debug));
  }

 private:
  uint64_t LastingSize() const { return is_log_ ? ends_.end() : size_.load(); }
  IOStatus CheckAppend(std::string_view bytes) override {
    appending_ = bytes;
    return IOStatus::OK();
  }
  IOStatus CheckAppended(IOStatus status) override {
    if (!status.ok()) return status;
    size_ += appending_.size();
    if (is_log_) ends_.Read(appending_);
    return status;
  }
  IOStatus Note(uint64_t size, IOStatus synced) {
    if (!synced.ok()) return synced;
    is_log_ ? files_.NoteLog(name_, size) : files_.NoteManifest(name_, size);
    return synced;
  }

  SyncedFiles& files_;
  const std::string name_;
  const bool is_log_ = name_.ends_with(kLogSuffix);
  std::atomic<uint64_t> size_{0};
  RecordEnds ends_;
  std::string_view appending_;  // by the current append
};

std::string Line(std::string_view name, uint64_t size) { return fmt::format("{} {}\n", name, size); }
std::string HashLine(std::string_view lines) { return fmt::format("{}\n", Hash64(lines)); }

std::string SyncedFiles::ListedName(const std::string& path) const {
  const std::filesystem::path file(path);
  std::string name = file.filename().string();
  const bool may_be_listed = name.starts_with("MANIFEST-") || name.ends_with(kLogSuffix);
  return may_be_listed && file.parent_path() == dir_ ? name : "";
}

IOStatus SyncedFiles::NewWritableFile(const std::string& path, const FileOptions& options,
                                      std::unique_ptr<rocksdb::FSWritableFile>* file, IODebugContext* debug) {
  IOStatus opened = FileSystemWrapper::NewWritableFile(path, options, file, debug);
  std::string name = ListedName(path);
  if (!opened.ok() || name.empty()) return opened;
  *file = std::make_unique<SyncedFile>(std::move(*file), *this, std::move(name));
  return opened;
}

void SyncedFiles::NoteManifest(const std::string& name, uint64_t size) {
  const MutexLock lock(file_mutex_);
  manifest_ = Line(name, size);
  static_cast<void>(Write(false));
}

void SyncedFiles::NoteLog(const std::string& name, uint64_t size) {
  if (!Insert(name, size)) return;
  const MutexLock lock(file_mutex_);
  static_cast<void>(Write(false));
}

bool SyncedFiles::Insert(const std::string& name, uint64_t size) {
  const MutexLock lock(mutex_);
  const bool is_new = logs_.insert_or_assign(name, size).second;
  if (is_new) has_new_log_ = true;
  return is_new;
}

// RocksDB removes a log when no row in it or in an older one is needed, and begins with the newest one
// (DBImpl::PurgeObsoleteFiles). So the older logs leave the list with it, and a hundred logs that go at once cost one
// synced write.
IOStatus SyncedFiles::RemoveFromList(const std::string& path) {
  const std::string name = ListedName(path);
  if (!name.ends_with(kLogSuffix)) return IOStatus::OK();
  const MutexLock file_lock(file_mutex_);
  Sizes removed;
  {
    const MutexLock lock(mutex_);
    const auto end = logs_.upper_bound(name);
    removed.insert(logs_.begin(), end);
    logs_.erase(logs_.begin(), end);
  }
  if (removed.empty()) return IOStatus::OK();
  IOStatus written = Write(true);
  if (!written.ok()) {
    const MutexLock lock(mutex_);
    logs_.merge(removed);
  }
  return written;
}

IOStatus SyncedFiles::SyncDirectory() {
  std::unique_ptr<rocksdb::FSDirectory> directory;
  IOStatus status = target()->NewDirectory(dir_, IOOptions(), &directory, nullptr);
  return status.ok() ? directory->Fsync(IOOptions(), nullptr) : status;
}

IOStatus SyncedFiles::Write(bool is_synced) {
  std::string text = manifest_;
  bool has_new_log;
  {
    const MutexLock lock(mutex_);
    for (const auto& [name, size] : logs_) text += Line(name, size);
    has_new_log = std::exchange(has_new_log_, false);
  }
  text += HashLine(text);
  IOStatus status = has_new_log ? SyncDirectory() : IOStatus::OK();
  const std::string path = dir_ + "/" + std::string(kSyncedFilesName);
  std::unique_ptr<rocksdb::FSWritableFile> file;
  if (status.ok()) status = target()->NewWritableFile(path + ".new", FileOptions(), &file, nullptr);
  if (status.ok()) status = file->Append(text, IOOptions(), nullptr);
  if (status.ok() && is_synced) status = file->Sync(IOOptions(), nullptr);
  if (status.ok()) status = file->Close(IOOptions(), nullptr);
  if (status.ok()) status = target()->RenameFile(path + ".new", path, IOOptions(), nullptr);
  if (status.ok() && is_synced) status = SyncDirectory();
  if (!status.ok() && has_new_log) {
    const MutexLock lock(mutex_);
    has_new_log_ = true;
  }
  return status;
}

// The bytes of a file; empty if it cannot be opened.
Result<std::string> ReadWhole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::string();
  std::ostringstream text;
  errno = 0;
  file >> text.rdbuf();
  if (!file.eof()) return Status::Io(path + ": " + std::strerror(errno));
  return text.str();
}

Result<bool> IsCurrent(const std::string& dir, const std::string& manifest) {
  return TRY(ReadWhole(dir + "/CURRENT")) == manifest + "\n";
}

// The list without its last line, the hash; empty if it is damaged.
Result<std::string> ReadList(const std::string& dir) {
  const std::string text = TRY(ReadWhole(dir + "/" + std::string(kSyncedFilesName)));
  const size_t end = text.size() < 2 ? 0 : text.rfind('\n', text.size() - 2) + 1;
  std::string list = text.substr(0, end);
  return text.substr(end) == HashLine(list) ? list : "";
}

Status CheckFile(const std::string& dir, const std::string& name, uint64_t least) {
  std::error_code error;
  const uint64_t size = std::filesystem::file_size(dir + "/" + name, error);
  if (error) return Status::Corruption(fmt::format("{} cannot be found: {}", name, error.message()));
  if (size >= least) return Ok();
  return Status::Corruption(
      fmt::format("{} is cut: it has {} bytes, and had {} when it was synced", name, size, least));
}

}  // namespace

std::shared_ptr<rocksdb::FileSystem> MakeSyncedFiles(std::shared_ptr<rocksdb::FileSystem> files, std::string dir) {
  return std::make_shared<SyncedFiles>(std::move(files), TrimSlashes(std::move(dir)));
}

Status CheckSyncedManifest(const std::string& dir) {
  std::istringstream list(TRY(ReadList(dir)));
  std::string manifest;
  uint64_t least = 0;
  list >> manifest >> least;
  return TRY(IsCurrent(dir, manifest)) ? CheckFile(dir, manifest, least) : Ok();
}

Status CheckSyncedFiles(const std::string& dir) {
  std::istringstream list(TRY(ReadList(dir)));
  std::string name;
  uint64_t least = 0;
  for (bool is_first = true; list >> name >> least; is_first = false) {
    if (is_first && !TRY(IsCurrent(dir, name))) return Ok();
    TRY(CheckFile(dir, name, least));
  }
  return Ok();
}

}  // namespace cairn
