// SPDX-License-Identifier: BSD-3-Clause
#include "base/tls_hello.h"

#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/tls.h"

namespace cairn {
namespace {

constexpr int kHeadBytes = 5;  // type, version, length
constexpr unsigned char kHandshake = 22;
constexpr int kMostRecordBytes = 16 * 1024;

}  // namespace

// The number of bytes that must arrive before OpenSSL can read the first record. 0: do not wait, because it is not a
// handshake that OpenSSL would accept, or the client has closed its side.
int TlsHello::MissingUntil() const {
  unsigned char head[kHeadBytes];
  const ssize_t seen = recv(fd_, head, sizeof head, MSG_PEEK | MSG_DONTWAIT);
  if (seen <= 0 || head[0] != kHandshake) return 0;
  if (seen < kHeadBytes) return kHeadBytes;
  const int size = head[3] << 8 | head[4];
  return size > kMostRecordBytes ? 0 : kHeadBytes + size;
}

std::unique_ptr<TlsStream> TlsHello::Begin() {
  int needed = MissingUntil();
  int here = 0;
  (void)ioctl(fd_, FIONREAD, &here);
  // If the socket is readable with fewer bytes than SO_RCVLOWAT, the client has closed its side.
  if (here < needed && awaited_ != needed) {
    awaited_ = needed;
    (void)setsockopt(fd_, SOL_SOCKET, SO_RCVLOWAT, &awaited_, sizeof awaited_);
    return nullptr;
  }
  needed = 1;
  (void)setsockopt(fd_, SOL_SOCKET, SO_RCVLOWAT, &needed, sizeof needed);
  return tls_.Accept(fd_, peer_);
}

}  // namespace cairn
