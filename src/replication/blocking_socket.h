// SPDX-License-Identifier: BSD-3-Clause
//
// BlockingSocket: a connection to another server, plain or with TLS, for a thread that may wait. Every wait has an end:
// a time, or Interrupt from another thread.
//
// Thread: its user's; Interrupt any.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/tls.h"

struct addrinfo;

namespace cairn {

class BlockingSocket {
 public:
  BlockingSocket();
  ~BlockingSocket();
  BlockingSocket(const BlockingSocket&) = delete;
  BlockingSocket& operator=(const BlockingSocket&) = delete;

  // To the first of the host's addresses that takes connections; each is given its part of the time.
  // `from`: the local address to use; empty: any. With `tls` the handshake takes place when something is sent.
  Status Connect(const std::string& host, int port, int64_t timeout_ms, const std::string& from = "",
                 const Tls* tls = nullptr);
  void Close();
  bool is_open() const { return fd_ >= 0; }

  Status Send(std::string_view bytes, int64_t timeout_ms);
  Status SendCommand(std::span<const std::string_view> argv, int64_t timeout_ms);
  Status SendCommand(std::initializer_list<std::string_view> argv, int64_t timeout_ms) {
    return SendCommand(std::span(argv.begin(), argv.size()), timeout_ms);
  }

  // Up to `most` bytes; 0 when none came in time. kIo at the end of the connection.
  Result<size_t> Read(char* into, size_t most, int64_t timeout_ms);
  // The next line that is not empty, without its end.
  Result<std::string> ReadLine(int64_t timeout_ms);

  // Whatever waits ends with an error, now and until the next Connect.
  void Interrupt();
  std::string local_address() const;

 private:
  Status ConnectTo(const addrinfo& address, const std::string& host, int64_t timeout_ms, const std::string& from);
  // False: the time is over.
  Result<bool> Await(short events, int64_t timeout_ms);
  Status Failed(const std::string& what) const;

  int fd_ = -1;
  std::unique_ptr<TlsStream> tls_;  // null: none
  int wake_fd_ = -1;
  std::atomic<bool> interrupted_{false};
};

}  // namespace cairn
