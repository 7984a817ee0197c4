// SPDX-License-Identifier: BSD-3-Clause
//
// TlsHello: a connection whose TLS handshake has not begun. OpenSSL allocates tens of kilobytes for a handshake, so it
// is called only when the client's first record is complete. Until then the record's bytes stay in the kernel;
// SO_RCVLOWAT makes the socket readable when enough of them have arrived.
//
// Thread: its connection's.
#pragma once

#include <memory>
#include <string>

#include "base/tls_stream.h"

namespace cairn {

class Tls;

class TlsHello {
 public:
  TlsHello(const Tls& tls, int fd, std::string peer) : tls_(tls), fd_(fd), peer_(std::move(peer)) {}

  // Called when the socket is readable. Returns null while the record is incomplete.
  std::unique_ptr<TlsStream> Begin();

 private:
  int MissingUntil() const;

  const Tls& tls_;
  const int fd_;
  const std::string peer_;
  int awaited_ = 1;  // bytes
};

}  // namespace cairn
