// SPDX-License-Identifier: BSD-3-Clause
//
// RDB files on disk: written under a temporary name and renamed when complete, read from front to back.
//
// Thread: that of their user.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "rdb/rdb_reader.h"

namespace cairn {

// Returns kIo if `path` exists and is neither an RDB file nor empty: it must not be overwritten.
Status CheckMayBeReplaced(const std::string& path);

class RdbOutputFile {
 public:
  explicit RdbOutputFile(std::string path);
  // Without Finish the file is removed.
  ~RdbOutputFile();
  RdbOutputFile(const RdbOutputFile&) = delete;
  RdbOutputFile& operator=(const RdbOutputFile&) = delete;

  // Also returns kIo if CheckMayBeReplaced does.
  Status Open();
  Status Write(std::string_view bytes);
  // Syncs the file, renames it to its final name, replacing an older one, and syncs the folder.
  Status Finish();

 private:
  const std::string path_;
  std::string temporary_;
  int fd_ = -1;
};

class RdbInputFile {
 public:
  RdbInputFile() = default;
  ~RdbInputFile();
  RdbInputFile(const RdbInputFile&) = delete;
  RdbInputFile& operator=(const RdbInputFile&) = delete;

  // Opens a file; "-" is the standard input.
  Status Open(const std::string& path);
  uint64_t size() const { return size_; }  // 0: unknown
  // Skips to byte `offset`.
  Status Skip(uint64_t offset);
  RdbSource source();

 private:
  int fd_ = -1;
  uint64_t size_ = 0;
};

}  // namespace cairn
