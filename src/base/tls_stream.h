// SPDX-License-Identifier: BSD-3-Clause
//
// TlsStream: TLS over a socket that does not block. It reads and writes as the system calls do, so who uses it has
// little to know: the handshake happens inside the first reads.
//
// Two things differ from a bare socket. Bytes may be here that the socket no longer has, so it will not become readable
// for them (`has_more`). And a read may have to write first, as in a handshake, or a write to read (`needs_writable`).
//
// Thread: its connection's.
#pragma once

#include <sys/types.h>

#include <string>

struct ssl_st;

namespace cairn {

class TlsStream {
 public:
  enum class Side : unsigned char { kServer, kClient };

  // Takes `ssl` over, which stands on its socket already. `peer` names the other side in the log.
  TlsStream(ssl_st* ssl, Side side, std::string peer);
  // Says goodbye, as far as the socket takes it. REQUIRES: the socket is open.
  ~TlsStream();
  TlsStream(const TlsStream&) = delete;
  TlsStream& operator=(const TlsStream&) = delete;

  // As read(2): 0 at the end of the stream; -1 with errno, EAGAIN when nothing is there yet.
  ssize_t Read(char* into, size_t most);
  // As send(2), but never more than one record. After EAGAIN the same bytes come first in the next call, and at least
  // as many.
  ssize_t Write(const char* from, size_t size);

  bool in_handshake() const;
  // Read has left bytes that are here already.
  bool has_more() const { return has_more_; }
  // It can go on when the socket is writable: to read, or to write if there is something to (`has_output`).
  bool needs_writable(bool has_output) const { return read_wants_write_ || (has_output && !write_wants_read_); }
  bool read_wants_write() const { return read_wants_write_; }

  // Why it failed, for the log; empty: it has not.
  const std::string& failure() const { return failure_; }

 private:
  ssize_t Settle(int outcome, bool reading);
  void Fail(std::string why);

  ssl_st* const ssl_;
  const Side side_;
  const std::string peer_;
  std::string failure_;
  bool has_more_ = false;
  bool is_at_end_ = false;
  bool read_wants_write_ = false;
  bool write_wants_read_ = false;
};

}  // namespace cairn
