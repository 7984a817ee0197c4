// SPDX-License-Identifier: BSD-3-Clause
//
// TlsHello: a connection whose TLS handshake has not begun. OpenSSL takes tens of kilobytes for one, so it is not asked
// before the client's first record is here whole: until then its bytes stay in the kernel, which is told by SO_RCVLOWAT
// when to say that the socket is readable.
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

  // To be asked when the socket is readable. Null: more has to come first.
  std::unique_ptr<TlsStream> Begin();

 private:
  int MissingUntil() const;

  const Tls& tls_;
  const int fd_;
  const std::string peer_;
  int awaited_ = 1;  // bytes
};

}  // namespace cairn
