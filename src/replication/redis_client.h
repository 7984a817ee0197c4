// SPDX-License-Identifier: BSD-3-Clause
//
// RedisClient: sends commands to another server and reads the replies (RESP2), in pipelines.
//
// Thread: one. Every call may wait.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/tls.h"
#include "replication/blocking_socket.h"

namespace cairn {

// One reply. An error of the server is a reply too.
struct RemoteReply {
  enum class Kind : unsigned char { kText, kError, kInteger, kNil, kArray };

  Kind kind = Kind::kNil;
  std::string text;  // of kText and kError
  int64_t number = 0;
  std::vector<RemoteReply> items;

  bool Is(Kind wanted) const { return kind == wanted; }
};

// The fields of a reply to INFO.
using FieldsByName = std::map<std::string, std::string, std::less<>>;
FieldsByName ParseInfo(std::string_view text);

class RedisClient {
 public:
  // Where the server is, and what it wants to know first.
  struct Address {
    std::string host;
    int port = 0;
    std::string user;      // empty: AUTH with the password alone
    std::string password;  // empty: no AUTH
    int64_t database = 0;
    const Tls* tls = nullptr;  // null: no TLS; must outlive the client
  };

  Status Connect(const Address& address);

  // Adds a command to the pipeline; Flush sends it. Each command has one reply, in the same order.
  void Queue(std::span<const std::string_view> argv);
  void Queue(std::initializer_list<std::string_view> argv) { Queue(std::span(argv.begin(), argv.size())); }
  Status Flush();
  Result<RemoteReply> Receive();

  // Sends one command and reads its reply; an error of the server is an error of the call. REQUIRES: no queued command.
  Result<RemoteReply> Call(std::span<const std::string_view> argv);
  Result<RemoteReply> Call(std::initializer_list<std::string_view> argv) {
    return Call(std::span(argv.begin(), argv.size()));
  }

 private:
  Result<RemoteReply> ReceiveAt(int depth);
  Result<std::string> ReceiveLine();
  // Makes at least `size` unread bytes available.
  Status Fill(size_t size);
  // The error of the socket with the server's name.
  Status Named(const Status& error) const;

  BlockingSocket socket_;
  std::string name_;     // host and port, for errors
  std::string queued_;   // requests not sent yet
  std::string arrived_;  // bytes from the server; those before next_ were read
  size_t next_ = 0;
};

}  // namespace cairn
