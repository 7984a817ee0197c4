// SPDX-License-Identifier: BSD-3-Clause
//
// BlockingSocket: a blocking connection to another server, plain or with TLS. Every wait ends at a timeout, or when
// another thread calls Interrupt.
//
// Thread: the owner's; Interrupt may be called from any thread.
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

  // Connects to the first address of the host that accepts; the timeout is divided among the addresses. `from`: the
  // local address to bind; empty: any. With `tls` the handshake takes place at the first Send.
  Status Connect(const std::string& host, int port, int64_t timeout_ms, const std::string& from = "",
                 const Tls* tls = nullptr);
  void Close();
  bool is_open() const { return fd_ >= 0; }

  Status Send(std::string_view bytes, int64_t timeout_ms);
  Status SendCommand(std::span<const std::string_view> argv, int64_t timeout_ms);
  Status SendCommand(std::initializer_list<std::string_view> argv, int64_t timeout_ms) {
    return SendCommand(std::span(argv.begin(), argv.size()), timeout_ms);
  }

  // Reads up to `most` bytes; 0 if none arrived in time. kIo at the end of the connection.
  Result<size_t> Read(char* into, size_t most, int64_t timeout_ms);
  // Reads the next line that is not empty, and strips its line end.
  Result<std::string> ReadLine(int64_t timeout_ms);

  // Makes every wait fail, now and until the next Connect.
  void Interrupt();

 private:
  Status ConnectTo(const addrinfo& address, const std::string& host, int64_t timeout_ms, const std::string& from);
  // Returns false after the timeout.
  Result<bool> Await(short events, int64_t timeout_ms);
  Status Failed(const std::string& what) const;

  int fd_ = -1;
  std::unique_ptr<TlsStream> tls_;  // null: no TLS
  int wake_fd_ = -1;
  std::atomic<bool> interrupted_{false};
};

}  // namespace cairn
