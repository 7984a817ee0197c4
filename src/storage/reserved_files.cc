// SPDX-License-Identifier: BSD-3-Clause
#include "storage/reserved_files.h"

#include <string>
#include <utility>

#include "storage/checked_file.h"

namespace cairn {
namespace {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

thread_local bool writes_compaction_output = false;

class ReservedFile : public CheckedFile {
 public:
  ReservedFile(std::unique_ptr<rocksdb::FSWritableFile> file, DiskReserve& reserve, bool is_output)
      : CheckedFile(std::move(file)), reserve_(reserve), is_output_(is_output) {}

  // Preallocation takes space from other files, and on an almost full disk mostly fails.
  void PrepareWrite(size_t offset, size_t size, const IOOptions& options, IODebugContext* debug) override {
    if (is_output_ && reserve_.level() != DiskReserve::Level::kPlenty) return;
    CheckedFile::PrepareWrite(offset, size, options, debug);
  }

 private:
  IOStatus CheckAppend(std::string_view bytes) override {
    const size_t size = bytes.size();
    if (is_output_ && !reserve_.HasRoomForCompaction(size)) {
      reserve_.Look();  // files may have been deleted
      if (!reserve_.HasRoomForCompaction(size)) return IOStatus::NoSpace("min-free-disk", "kept from compactions");
    }
    reserve_.NoteWritten(size);
    return IOStatus::OK();
  }

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
