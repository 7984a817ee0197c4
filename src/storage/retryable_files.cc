// SPDX-License-Identifier: BSD-3-Clause
#include "storage/retryable_files.h"

#include <span>
#include <string>
#include <utility>

#include "storage/checked_file.h"
#include "storage/manifest_failure.h"

namespace cairn {
namespace {

using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

// The text of a full disk's error names the reason, so its subcode can be dropped.
IOStatus Retryable(IOStatus status) {
  if (!status.IsIOError()) return status;
  if (status.IsNoSpace()) status = IOStatus::IOError(status.getState() == nullptr ? "" : status.getState());
  status.SetRetryable(true);
  return status;
}

class RetryableFile : public CheckedFile {
 public:
  using CheckedFile::CheckedFile;

 private:
  IOStatus Check(IOStatus status) override { return Retryable(std::move(status)); }
};

// A manifest, or the file that becomes CURRENT.
class ManifestFile : public CheckedFile {
 public:
  ManifestFile(std::unique_ptr<rocksdb::FSWritableFile> file, std::shared_ptr<ManifestFailure> manifest)
      : CheckedFile(std::move(file)), manifest_(std::move(manifest)) {}

  // RocksDB closes a manifest with its mutex held, and only one that has failed or that another has replaced.
  IOStatus Close(const IOOptions& options, IODebugContext* debug) override {
    return Retryable(rocksdb::FSWritableFileOwnerWrapper::Close(options, debug));
  }

 private:
  IOStatus Check(IOStatus status) override {
    if (!status.ok()) manifest_->NoteFailure();
    return Retryable(std::move(status));
  }

  const std::shared_ptr<ManifestFailure> manifest_;
};

// A table or a blob file that is read. Flushes and compactions read too.
class RetryableReads : public rocksdb::FSRandomAccessFileOwnerWrapper {
 public:
  using Base = FSRandomAccessFileOwnerWrapper;
  using Base::Base;

  IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, rocksdb::Slice* result, char* scratch,
                IODebugContext* debug) const override {
    return Retryable(Base::Read(offset, n, options, result, scratch, debug));
  }
  IOStatus MultiRead(rocksdb::FSReadRequest* requests, size_t count, const IOOptions& options,
                     IODebugContext* debug) override {
    IOStatus status = Retryable(Base::MultiRead(requests, count, options, debug));
    for (rocksdb::FSReadRequest& request : std::span(requests, count)) request.status = Retryable(request.status);
    return status;
  }
};

bool IsTable(const std::string& path) { return path.ends_with(".sst") || path.ends_with(".blob"); }
bool IsCurrent(const std::string& path) { return path.ends_with("/CURRENT"); }
bool IsManifest(const std::string& path) {
  const bool becomes_current = path.ends_with(".dbtmp") && path.find("/OPTIONS-") == std::string::npos;
  return becomes_current || path.find("/MANIFEST-") != std::string::npos;
}

class RetryableDirectory : public rocksdb::FSDirectoryWrapper {
 public:
  RetryableDirectory(std::unique_ptr<rocksdb::FSDirectory> directory, std::shared_ptr<ManifestFailure> manifest)
      : FSDirectoryWrapper(std::move(directory)), manifest_(std::move(manifest)) {}

  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return Retryable(FSDirectoryWrapper::Fsync(options, debug));
  }
  IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* debug,
                               const rocksdb::DirFsyncOptions& fsync_options) override {
    IOStatus synced = FSDirectoryWrapper::FsyncWithDirOptions(options, debug, fsync_options);
    if (!synced.ok() && IsCurrent(fsync_options.renamed_new_name)) manifest_->NoteFailure();
    return Retryable(std::move(synced));
  }

 private:
  const std::shared_ptr<ManifestFailure> manifest_;
};

class RetryableFiles : public rocksdb::FileSystemWrapper {
 public:
  using Base = FileSystemWrapper;
  RetryableFiles(std::shared_ptr<rocksdb::FileSystem> files, std::shared_ptr<ManifestFailure> manifest)
      : Base(std::move(files)), manifest_(std::move(manifest)) {}
  const char* Name() const override { return "RetryableFiles"; }

  IOStatus NewSequentialFile(const std::string& path, const FileOptions& options,
                             std::unique_ptr<rocksdb::FSSequentialFile>* file, IODebugContext* debug) override {
    return Retryable(Base::NewSequentialFile(path, options, file, debug));
  }
  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions& options,
                               std::unique_ptr<rocksdb::FSRandomAccessFile>* file, IODebugContext* debug) override {
    IOStatus opened = Retryable(Base::NewRandomAccessFile(path, options, file, debug));
    if (opened.ok()) *file = std::make_unique<RetryableReads>(std::move(*file));
    return opened;
  }
  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* file, IODebugContext* debug) override {
    IOStatus opened = Base::NewWritableFile(path, options, file, debug);
    if (!IsManifest(path)) return Wrap(std::move(opened), file);
    if (opened.ok()) {
      *file = std::make_unique<ManifestFile>(std::move(*file), manifest_);
    } else {
      manifest_->NoteFailure();
    }
    return Retryable(std::move(opened));
  }
  IOStatus ReopenWritableFile(const std::string& path, const FileOptions& options,
                              std::unique_ptr<rocksdb::FSWritableFile>* file, IODebugContext* debug) override {
    return Wrap(Base::ReopenWritableFile(path, options, file, debug), file);
  }
  IOStatus ReuseWritableFile(const std::string& path, const std::string& old_path, const FileOptions& options,
                             std::unique_ptr<rocksdb::FSWritableFile>* file, IODebugContext* debug) override {
    return Wrap(Base::ReuseWritableFile(path, old_path, options, file, debug), file);
  }
  IOStatus NewDirectory(const std::string& path, const IOOptions& options, std::unique_ptr<rocksdb::FSDirectory>* out,
                        IODebugContext* debug) override {
    IOStatus status = Retryable(Base::NewDirectory(path, options, out, debug));
    if (status.ok()) *out = std::make_unique<RetryableDirectory>(std::move(*out), manifest_);
    return status;
  }
  IOStatus Truncate(const std::string& path, size_t size, const IOOptions& options, IODebugContext* debug) override {
    return Retryable(Base::Truncate(path, size, options, debug));
  }
  IOStatus GetFileSize(const std::string& path, const IOOptions& options, uint64_t* size,
                       IODebugContext* debug) override {
    return Retryable(Base::GetFileSize(path, options, size, debug));
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* debug) override {
    IOStatus renamed = Base::RenameFile(from, to, options, debug);
    if (IsCurrent(to)) renamed.ok() ? manifest_->NoteReplaced() : manifest_->NoteFailure();
    return Retryable(std::move(renamed));
  }
  // RocksDB 7.8 deletes the output of a compaction whose record in the manifest has failed. But a record that was
  // written and could not be synced is read by the next start, which needs the table then. If it does not, it deletes
  // the table.
  IOStatus DeleteFile(const std::string& path, const IOOptions& options, IODebugContext* debug) override {
    if (manifest_->has_failed() && IsTable(path)) return IOStatus::OK();
    return Base::DeleteFile(path, options, debug);
  }
  IOStatus LinkFile(const std::string& from, const std::string& to, const IOOptions& options,
                    IODebugContext* debug) override {
    return Retryable(Base::LinkFile(from, to, options, debug));
  }

 private:
  static IOStatus Wrap(IOStatus status, std::unique_ptr<rocksdb::FSWritableFile>* file) {
    if (status.ok()) *file = std::make_unique<RetryableFile>(std::move(*file));
    return Retryable(std::move(status));
  }

  const std::shared_ptr<ManifestFailure> manifest_;
};

}  // namespace

std::shared_ptr<rocksdb::FileSystem> MakeRetryableFiles(std::shared_ptr<rocksdb::FileSystem> files,
                                                        std::shared_ptr<ManifestFailure> manifest) {
  return std::make_shared<RetryableFiles>(std::move(files), std::move(manifest));
}

}  // namespace cairn
