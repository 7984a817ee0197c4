// SPDX-License-Identifier: BSD-3-Clause
//
// FileReceiver: the replica's side of a first transfer in row files (replication/file_transfer.h). It writes the files
// to a folder of their own, and keeps them there when the link breaks or the process is killed: the next transfer
// resumes after their last byte if the primary still has the rest. No other state is written, because a file's name
// describes it:
//
//   <transfer>-<number>-<space>-<checksum>-<size>.sst     and .part at the end while bytes are missing
//
// When a server starts, it reads and checks the files in the folder before it uses them.
//
// Thread: the owner's.
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
  // Gets the bytes received so far and the total (0: not known yet). It may send to the primary.
  using OnProgress = std::function<void(uint64_t received, uint64_t total)>;

  // The folder is created when the first file is written.
  explicit FileReceiver(std::string folder) : folder_(std::move(folder)) {}

  // Finds how much of an unfinished transfer is in the folder. The first call reads all files, and stops before one of
  // them when `is_wanted`, if there is one, returns false. It has found nothing then, and the next call reads them
  // again.
  FilesPlace Find(const std::function<bool()>& is_wanted = nullptr);
  // Receives the files after the head, and the content at the end. kIo: the link or the disk failed; the received bytes
  // are kept, unless the disk was full. kCorruption: a checksum is wrong; everything is deleted. The link fails when no
  // byte arrives for `timeout_ms`.
  Status Receive(BlockingSocket& socket, const FilesHead& head, int64_t timeout_ms, const OnProgress& on_progress);
  // Deletes the received files.
  void Drop();

  // After a complete Receive:
  const std::vector<RowFile>& files() const { return files_; }
  const FilesContent& content() const { return content_; }
  // Bytes that an earlier transfer had received already.
  uint64_t spared() const { return spared_; }

 private:
  void Scan(const std::function<bool()>& is_wanted);
  // Turns errno into an error for this file. If the disk is full, it deletes the received files: the next attempt would
  // fail at the same byte, and until then the server could not write its own data.
  Status DiskError(const std::string& path);
  std::string NameOf(const FileLine& line) const;
  Status Begin(const FilesHead& head);
  Status ReceiveFile(BlockingSocket& socket, const FileLine& line);
  Status ReceiveBytes(BlockingSocket& socket, const FileLine& line, int fd);
  Status ReceiveContent(BlockingSocket& socket, const FileLine& line);

  const std::string folder_;
  bool scanned_ = false;
  std::string transfer_ = std::string(kNoTransfer);
  std::vector<RowFile> files_;  // complete ones
  std::string part_;            // name of the next file, which is incomplete; empty: no byte of it was received
  uint64_t part_bytes_ = 0;
  FilesContent content_;
  uint64_t spared_ = 0;
  uint64_t received_ = 0;  // bytes in the folder
  int64_t timeout_ms_ = 0;
  const OnProgress* on_progress_ = nullptr;  // set during Receive
};

}  // namespace cairn
