// SPDX-License-Identifier: BSD-3-Clause
//
// TcpClient: a connection to another server, for threads that may wait.
//
// Every step waits no longer than the timeout it is given; kIo says what failed. What is read is cut into lines
// as RESP has them.
//
// Thread: that of its user; never an I/O thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cairn {

class TcpClient {
 public:
  // `port` as the client said it; the first of the host's addresses that can be tried is taken. That the other side
  // refused is noticed by the first Write, and clients of MIGRATE are told so, as by Redis.
  static Result<TcpClient> Connect(const std::string& host, const std::string& port, int64_t timeout_ms);
  ~TcpClient();
  TcpClient(TcpClient&& other) noexcept;
  TcpClient& operator=(TcpClient&& other) noexcept;

  // All of `bytes`; the timeout is for each part that the kernel takes.
  Status Write(std::string_view bytes, int64_t timeout_ms);
  // The next line, without its end.
  Result<std::string> ReadLine(int64_t timeout_ms);

 private:
  explicit TcpClient(int socket) : socket_(socket) {}
  Status WaitFor(short events, int64_t timeout_ms) const;

  int socket_ = -1;
  std::string received_;  // and not yet asked for
};

}  // namespace cairn
