// SPDX-License-Identifier: BSD-3-Clause
//
// FileReceiver: the replica's side of a first transfer in row files (replication/file_transfer.h). The files are
// written to a folder of their own, where they stay when the link breaks or the process is killed: the next transfer
// goes on behind their last byte if the primary still has the rest. Their names say what they are,
//
//   <transfer>-<number>-<space>-<checksum>-<size>.sst     and .part behind it while bytes are missing
//
// so nothing else need be written down. What lies there when a server starts is read and checked before it counts.
//
// Thread: that of its user.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "replication/blocking_socket.h"
#include "replication/file_transfer.h"

namespace cairn {

class FileReceiver {
 public:
  // Bytes that are there, and in all (0: not known yet); may send something to the primary.
  using OnProgress = std::function<void(uint64_t received, uint64_t total)>;

  // The folder is made when there is something to put into it.
  explicit FileReceiver(std::string folder) : folder_(std::move(folder)) {}

  // What is there of a transfer that was not finished.
  FilesPlace Find();
  // Receives what follows the head, up to the content. kIo: the link or the disk failed, what came is kept, unless it
  // was for want of room; kCorruption: a checksum is not right, and nothing is kept. `timeout_ms` without a byte is a
  // link that failed.
  Status Receive(BlockingSocket& socket, const FilesHead& head, int64_t timeout_ms, const OnProgress& on_progress);
  // Deletes what was received.
  void Drop();

  // Of a transfer that was received:
  const std::vector<RowFile>& files() const { return files_; }
  const FilesContent& content() const { return content_; }
  // Bytes that were there already.
  uint64_t spared() const { return spared_; }

 private:
  void Scan();
  // What errno says of a file. Where the disk is full, what was received is dropped: the next try would end at the same
  // byte, and meanwhile the data itself could not be written.
  Status DiskError(const std::string& path);
  std::string NameOf(const FileLine& line) const;
  Status Begin(const FilesHead& head);
  Status ReceiveFile(BlockingSocket& socket, const FileLine& line);
  Status ReceiveBytes(BlockingSocket& socket, const FileLine& line, int fd);
  Status ReceiveContent(BlockingSocket& socket, const FileLine& line);

  const std::string folder_;
  bool scanned_ = false;
  std::string transfer_ = std::string(kNoTransfer);
  std::vector<RowFile> files_;  // whole ones
  std::string part_;            // name of the next one, of which there are bytes; empty: there are none
  uint64_t part_bytes_ = 0;
  FilesContent content_;
  uint64_t spared_ = 0;
  uint64_t received_ = 0;  // bytes that are there
  int64_t timeout_ms_ = 0;
  const OnProgress* on_progress_ = nullptr;  // during Receive
};

}  // namespace cairn
