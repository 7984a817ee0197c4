// SPDX-License-Identifier: BSD-3-Clause
//
// PrimaryHandshake: the replica's side of the conversation with its primary, up to the stream: greeting,
// password, what the replica is and can do, PSYNC, and the first transfer as an RDB file in either
// of its two forms (announced by its size, or ended by a mark), or the head of one in row files.
//
// Thread: its user's; Interrupt any.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "rdb/rdb_reader.h"
#include "replication/blocking_socket.h"
#include "replication/file_transfer.h"

namespace cairn {

struct LinkOptions {
  std::string host;
  int port = 0;
  std::string user;      // masteruser; empty: none
  std::string password;  // masterauth; empty: none
  int listening_port = 0;
  std::string files_offer;   // a capa (replication/file_transfer.h); empty: none
  std::string announced_ip;  // empty: what the primary sees
  std::string bind_from;
  int64_t timeout_ms = 60000;
  const Tls* tls = nullptr;  // null: none is spoken
};

class PrimaryHandshake {
 public:
  // What the primary answered to PSYNC.
  struct Answer {
    enum class Kind : unsigned char { kFull, kContinue, kNotNow } kind = Kind::kNotNow;
    std::string id;       // of the stream; with kContinue empty when it is the same as before
    uint64_t offset = 0;  // with kFull: of the moment the file is of
    std::string text;     // with kNotNow: its words
  };

  Status Connect(const LinkOptions& options);
  // Says who is there, to a primary just connected to.
  Status Introduce(const LinkOptions& options);
  // Asks for the stream `id` from the byte `next` on; an empty id for everything. `failover` tells a
  // primary that this one takes over.
  Result<Answer> Psync(std::string_view id, uint64_t next, bool failover = false);
  // After kFull: the head of the file. Then Source gives its bytes, or they are row files (files_head) and come through
  // the socket.
  Status AwaitFile();
  const std::optional<FilesHead>& files_head() const { return files_head_; }
  RdbSource Source();
  // The size of the file; 0: not known.
  uint64_t file_size() const { return file_size_; }

  BlockingSocket& socket() { return socket_; }
  void Close() { socket_.Close(); }

 private:
  Status Expect(std::initializer_list<std::string_view> argv, bool may_refuse);
  Result<size_t> ReadSized(char* into, size_t most);
  Result<size_t> ReadMarked(char* into, size_t most);

  BlockingSocket socket_;
  int64_t timeout_ms_ = 0;
  bool offers_files_ = false;
  std::optional<FilesHead> files_head_;
  uint64_t file_size_ = 0;
  uint64_t file_received_ = 0;
  std::string mark_;  // ends the file; empty: its size is known
  std::string held_;  // of a marked file: what has come and may be the mark
  bool at_mark_ = false;
};

}  // namespace cairn
