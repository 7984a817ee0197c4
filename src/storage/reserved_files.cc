// SPDX-License-Identifier: BSD-3-Clause
#include "storage/reserved_files.h"

#include <string>
#include <utility>

namespace cairn {
namespace {

using rocksdb::DataVerificationInfo;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

thread_local bool writes_compaction_output = false;

class ReservedFile : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  ReservedFile(std::unique_ptr<rocksdb::FSWritableFile> file, DiskReserve& reserve, bool is_output)
      : FSWritableFileOwnerWrapper(std::move(file)), reserve_(reserve), is_output_(is_output) {}

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* debug) override {
    return Take(data) ? FSWritableFileOwnerWrapper::Append(data, options, debug) : Refused();
  }
  IOStatus Append(const Slice& data, const IOOptions& options, const DataVerificationInfo& checksum,
                  IODebugContext* debug) override {
    return Take(data) ? FSWritableFileOwnerWrapper::Append(data, options, checksum, debug) : Refused();
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            IODebugContext* debug) override {
    return Take(data) ? FSWritableFileOwnerWrapper::PositionedAppend(data, offset, options, debug) : Refused();
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            const DataVerificationInfo& checksum, IODebugContext* debug) override {
    return Take(data) ? FSWritableFileOwnerWrapper::PositionedAppend(data, offset, options, checksum, debug)
                      : Refused();
  }
  // What is allocated ahead is taken from the others at once, and where there is little, mostly in vain.
  void PrepareWrite(size_t offset, size_t size, const IOOptions& options, IODebugContext* debug) override {
    if (is_output_ && reserve_.level() != DiskReserve::Level::kPlenty) return;
    FSWritableFileOwnerWrapper::PrepareWrite(offset, size, options, debug);
  }

 private:
  bool Take(const Slice& data) {
    if (is_output_ && !reserve_.HasRoomForCompaction(data.size())) {
      reserve_.Look();  // files may have gone
      if (!reserve_.HasRoomForCompaction(data.size())) return false;
    }
    reserve_.NoteWritten(data.size());
    return true;
  }
  static IOStatus Refused() { return IOStatus::NoSpace("min-free-disk", "kept from compactions"); }

  DiskReserve& reserve_;
  const bool is_output_;
};

class ReservedFiles : public rocksdb::FileSystemWrapper {
 public:
  ReservedFiles(std::shared_ptr<rocksdb::FileSystem> files, DiskReserve& reserve)
      : FileSystemWrapper(std::move(files)), reserve_(reserve) {}
  const char* Name() const override { return "ReservedFiles"; }

  IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* file, IODebugContext* debug) override {
    IOStatus opened = FileSystemWrapper::NewWritableFile(path, options, file, debug);
    if (!opened.ok()) return opened;
    const bool is_output = writes_compaction_output && (path.ends_with(".sst") || path.ends_with(".blob"));
    *file = std::make_unique<ReservedFile>(std::move(*file), reserve_, is_output);
    return opened;
  }

 private:
  DiskReserve& reserve_;
};

}  // namespace

void MarkCompactionOutput(bool on) { writes_compaction_output = on; }

std::shared_ptr<rocksdb::FileSystem> MakeReservedFiles(std::shared_ptr<rocksdb::FileSystem> files,
                                                       DiskReserve& reserve) {
  return std::make_shared<ReservedFiles>(std::move(files), reserve);
}

}  // namespace cairn
