// SPDX-License-Identifier: BSD-3-Clause
//
// PrimaryHandshake: the replica's side of the handshake with its primary, up to the stream: PING, AUTH, REPLCONF,
// PSYNC, and the first transfer, as an RDB file in one of its two forms (preceded by its size, or ended by a mark), or
// as row files, of which it reads the head.
//
// Thread: the owner's; Interrupt may be called from any thread.
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
  std::string files_offer;   // the word for REPLCONF capa (replication/file_transfer.h); empty: none
  std::string announced_ip;  // empty: the address that the primary sees
  std::string bind_from;
  int64_t timeout_ms = 60000;
  const Tls* tls = nullptr;  // null: no TLS
};

class PrimaryHandshake {
 public:
  // The primary's answer to PSYNC.
  struct Answer {
    enum class Kind : unsigned char { kFull, kContinue, kNotNow } kind = Kind::kNotNow;
    std::string id;       // the stream's id; empty with kContinue if it did not change
    uint64_t offset = 0;  // with kFull: the stream's offset at the moment of the transfer's snapshot
    std::string text;     // with kNotNow: the error's text
  };

  Status Connect(const LinkOptions& options);
  // Authenticates and sends the options of REPLCONF. REQUIRES: connected.
  Status Introduce(const LinkOptions& options);
  // Asks for the stream `id` from the byte `next` on, or with an empty id for a full transfer. `failover` announces to
  // the primary that this server takes over.
  Result<Answer> Psync(std::string_view id, uint64_t next, bool failover = false);
  // After kFull: waits for the head of the transfer. Then Source yields the bytes of the RDB file; row files
  // (files_head) are read from the socket.
  Status AwaitFile();
  const std::optional<FilesHead>& files_head() const { return files_head_; }
  RdbSource Source();
  // The size of the RDB file; 0: not known.
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
  std::string mark_;  // the mark that ends the file; empty: the size is known
  std::string held_;  // the last received bytes of a marked file, which may be the mark
  bool at_mark_ = false;
};

}  // namespace cairn
