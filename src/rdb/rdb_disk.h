// SPDX-License-Identifier: BSD-3-Clause
//
// RDB files on a disk: written beside their place and moved there when they are whole, read from front to back.
//
// Thread: that of their user.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "rdb/rdb_reader.h"

namespace cairn {

// kIo when there is something of this name that is neither an RDB file nor empty, and so is somebody else's.
Status CheckMayBeReplaced(const std::string& path);

class RdbOutputFile {
 public:
  explicit RdbOutputFile(std::string path);
  // Without Finish there is nothing left of it.
  ~RdbOutputFile();
  RdbOutputFile(const RdbOutputFile&) = delete;
  RdbOutputFile& operator=(const RdbOutputFile&) = delete;

  // kIo also when CheckMayBeReplaced says so.
  Status Open();
  Status Write(std::string_view bytes);
  // Syncs it and gives it its name, in place of an older one.
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
  uint64_t size() const { return size_; }  // 0: not known
  // What follows is read from the byte `offset` on.
  Status Skip(uint64_t offset);
  RdbSource source();

 private:
  int fd_ = -1;
  uint64_t size_ = 0;
};

}  // namespace cairn
