// SPDX-License-Identifier: BSD-3-Clause
//
// TlsStream: TLS over a non-blocking socket. It reads and writes like the system calls, so its users need no special
// code: the handshake happens inside the first reads.
//
// Two differences from a plain socket: received bytes may be buffered here, and the socket does not become readable
// for them (`has_more`); and a read may have to write first, as in a handshake, or a write to read (`needs_writable`).
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

  // Takes ownership of `ssl`, which has its socket already. `peer` names the other side in the log.
  TlsStream(ssl_st* ssl, Side side, std::string peer);
  // Sends the close notification if the socket accepts it. REQUIRES: the socket is open.
  ~TlsStream();
  TlsStream(const TlsStream&) = delete;
  TlsStream& operator=(const TlsStream&) = delete;

  // As read(2): 0 at the end of the stream; -1 with errno, EAGAIN if no bytes have arrived.
  ssize_t Read(char* into, size_t most);
  // As send(2), but at most one record. After EAGAIN the next call must start with the same bytes; more may follow.
  ssize_t Write(const char* from, size_t size);

  bool in_handshake() const;
  // Whether the next Read returns bytes that are buffered here, or the end of the stream, or a failure.
  bool has_more() const { return has_more_ || is_at_end_ || !failure_.empty(); }
  // Whether it waits for a writable socket: for a read, or for a write if there is output (`has_output`).
  bool needs_writable(bool has_output) const { return read_wants_write_ || (has_output && !write_wants_read_); }
  bool read_wants_write() const { return read_wants_write_; }

  // The reason of the failure, for the log; empty: no failure.
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
