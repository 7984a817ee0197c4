// SPDX-License-Identifier: BSD-3-Clause
#include "storage/ready_reads.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "base/remove_file.h"
#include "storage/open_tables.h"

namespace cairn {
namespace {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

// Larger reads are not done on a thread that others wait for. In a table only a filter is that large, and is read once
// until the block cache has it; in a blob file it is a value, which would be copied on every read.
constexpr size_t kMostTableBytes = 2 * 1024 * 1024;
constexpr size_t kMostBlobBytes = 128 * 1024;

thread_local ReadyOnly* current = nullptr;

IOStatus Refused() { return IOStatus::Busy("not in memory"); }

IOStatus Failed(const std::string& what, const std::string& path, int error) {
  return IOStatus::IOError(what + " " + path, std::strerror(error));
}

}  // namespace

ReadyOnly::ReadyOnly(bool on, Statistics statistics) : on_(on), statistics_(statistics), outer_(current) {
  current = on ? this : nullptr;
}

ReadyOnly::~ReadyOnly() { current = outer_; }

bool ReadyOnly::IsCounted() { return current == nullptr || current->statistics_ == Statistics::kCounted; }

// A table or a blob file. Thread: any, several at once; the descriptor never moves.
class TableFile : public rocksdb::FSRandomAccessFile {
 public:
  TableFile(std::string path, int fd, std::shared_ptr<OpenTables> open_tables)
      : path_(std::move(path)), fd_(fd), most_bytes_(path_.ends_with(".blob") ? kMostBlobBytes : kMostTableBytes),
        open_tables_(std::move(open_tables)) {
    open_tables_->OnOpen();
  }
  ~TableFile() override {
    close(fd_);
    open_tables_->OnClose();
  }

  // Refuses a read that would wait.
  static IOStatus Refuse(ReadyOnly& ready) {
    ready.refused_ = true;
    return Refused();
  }

  IOStatus Read(uint64_t offset, size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) const override {
    ReadyOnly* const ready = current;
    if (ready != nullptr && n > most_bytes_) return Refuse(*ready);
    size_t got = 0;
    while (got < n) {
      iovec part{scratch + got, n - got};
      const ssize_t more = preadv2(fd_, &part, 1, static_cast<off_t>(offset + got), ready != nullptr ? RWF_NOWAIT : 0);
      if (more == 0) break;  // end of the file
      if (more > 0) {
        got += static_cast<size_t>(more);
      } else if (ready != nullptr && (errno == EAGAIN || errno == EOPNOTSUPP)) {
        return Refuse(*ready);
      } else if (errno != EINTR) {
        return Failed("reading", path_, errno);
      }
    }
    if (ready != nullptr) ++ready->served_;
    *result = Slice(scratch, got);
    return IOStatus::OK();
  }

  IOStatus Prefetch(uint64_t offset, size_t n, const IOOptions&, IODebugContext*) override {
    if (current != nullptr) return IOStatus::OK();  // only a hint, and it could wait
    if (readahead(fd_, static_cast<off64_t>(offset), n) == 0) return IOStatus::OK();
    return Failed("reading ahead", path_, errno);
  }

  void Hint(AccessPattern pattern) override {
    static constexpr std::pair<AccessPattern, int> kAdvice[] = {{kNormal, POSIX_FADV_NORMAL},
                                                                {kRandom, POSIX_FADV_RANDOM},
                                                                {kSequential, POSIX_FADV_SEQUENTIAL},
                                                                {kWillNeed, POSIX_FADV_WILLNEED},
                                                                {kWontNeed, POSIX_FADV_DONTNEED}};
    for (const auto& [known, advice] : kAdvice) {
      if (known == pattern) posix_fadvise(fd_, 0, 0, advice);
    }
  }

  IOStatus InvalidateCache(size_t offset, size_t length) override {
    const int error = posix_fadvise(fd_, static_cast<off_t>(offset), static_cast<off_t>(length), POSIX_FADV_DONTNEED);
    return error == 0 ? IOStatus::OK() : Failed("forgetting", path_, error);
  }

 private:
  const std::string path_;
  const int fd_;
  const size_t most_bytes_;
  const std::shared_ptr<OpenTables> open_tables_;
};

// A file that bypasses the page cache.
class DirectFile : public rocksdb::FSRandomAccessFileOwnerWrapper {
 public:
  DirectFile(std::unique_ptr<rocksdb::FSRandomAccessFile> file, std::shared_ptr<OpenTables> open_tables)
      : FSRandomAccessFileOwnerWrapper(std::move(file)), open_tables_(std::move(open_tables)) {
    open_tables_->OnOpen();
  }
  ~DirectFile() override { open_tables_->OnClose(); }

  IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* debug) const override {
    if (current != nullptr) return TableFile::Refuse(*current);
    return FSRandomAccessFileOwnerWrapper::Read(offset, n, options, result, scratch, debug);
  }

 private:
  const std::shared_ptr<OpenTables> open_tables_;
};

namespace {

class TableFiles : public rocksdb::FileSystemWrapper {
 public:
  TableFiles(std::shared_ptr<rocksdb::FileSystem> files, std::shared_ptr<OpenTables> open_tables)
      : FileSystemWrapper(std::move(files)), open_tables_(std::move(open_tables)) {}
  const char* Name() const override { return "TableFiles"; }

  IOStatus NewRandomAccessFile(const std::string& path, const rocksdb::FileOptions& options,
                               std::unique_ptr<rocksdb::FSRandomAccessFile>* file, IODebugContext* debug) override {
    if (current != nullptr) return TableFile::Refuse(*current);  // opening a file waits
    if (options.use_direct_reads || options.use_mmap_reads) {
      std::unique_ptr<rocksdb::FSRandomAccessFile> direct;
      IOStatus opened = FileSystemWrapper::NewRandomAccessFile(path, options, &direct, debug);
      if (opened.ok()) *file = std::make_unique<DirectFile>(std::move(direct), open_tables_);
      return opened;
    }
    int fd = -1;
    do {
      fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    } while (fd < 0 && errno == EINTR);
    if (fd < 0 && errno == ENOENT) return IOStatus::PathNotFound("opening " + path, std::strerror(errno));
    if (fd < 0) return Failed("opening", path, errno);
    *file = std::make_unique<TableFile>(path, fd, open_tables_);
    return IOStatus::OK();
  }

  // Logs are excluded: a reader may still read one after its deletion (storage/log_tail.h). RocksDB deletes a table or
  // blob file only when no version uses it any more.
  IOStatus DeleteFile(const std::string& path, const IOOptions& options, IODebugContext* debug) override {
    if (path.ends_with(".sst") || path.ends_with(".blob")) CutDownToRemove(path);
    return FileSystemWrapper::DeleteFile(path, options, debug);
  }

 private:
  const std::shared_ptr<OpenTables> open_tables_;
};

}  // namespace

std::shared_ptr<rocksdb::FileSystem> MakeTableFiles(std::shared_ptr<OpenTables> open_tables) {
  return std::make_shared<TableFiles>(rocksdb::FileSystem::Default(), std::move(open_tables));
}

}  // namespace cairn
