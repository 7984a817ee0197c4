// SPDX-License-Identifier: BSD-3-Clause
#include "base/tls_stream.h"

#include <errno.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <string.h>

#include <algorithm>

#include "base/log.h"

namespace cairn {

TlsStream::TlsStream(ssl_st* ssl, Side side, std::string peer) : ssl_(ssl), side_(side), peer_(std::move(peer)) {
  if (side == Side::kServer) {
    SSL_set_accept_state(ssl_);
  } else {
    SSL_set_connect_state(ssl_);
  }
}

TlsStream::~TlsStream() {
  if (failure_.empty() && SSL_is_init_finished(ssl_)) SSL_shutdown(ssl_);
  SSL_free(ssl_);
  ERR_clear_error();
}

bool TlsStream::in_handshake() const { return !SSL_is_init_finished(ssl_); }

void TlsStream::Fail(std::string why) {
  failure_ = std::move(why);
  if (side_ == Side::kServer && !SSL_is_init_finished(ssl_)) {
    Log(LogSeverity::kWarning, "Error accepting a client connection: {} (addr={})", failure_, peer_);
  }
}

// Converts the outcome of a failed call to a return value and errno, as a system call would return them.
ssize_t TlsStream::Settle(int outcome, bool reading) {
  const int error = errno;
  const int kind = SSL_get_error(ssl_, outcome);
  switch (kind) {
    case SSL_ERROR_ZERO_RETURN: is_at_end_ = true; return 0;
    case SSL_ERROR_WANT_READ:
      write_wants_read_ = !reading;
      errno = EAGAIN;
      return -1;
    case SSL_ERROR_WANT_WRITE:
      read_wants_write_ = reading;
      errno = EAGAIN;
      return -1;
    default: break;
  }
  if (const unsigned long code = ERR_peek_last_error(); code != 0) {
    char text[256];
    ERR_error_string_n(code, text, sizeof text);
    Fail(text);
  } else {
    Fail(error == 0 ? "the connection was closed" : strerror(error));
  }
  errno = EPROTO;
  return -1;
}

ssize_t TlsStream::Read(char* into, size_t most) {
  has_more_ = read_wants_write_ = write_wants_read_ = false;
  size_t got = 0;
  while (got < most) {
    if (is_at_end_) return 0;
    errno = failure_.empty() ? 0 : EPROTO;
    if (errno != 0) return -1;
    ERR_clear_error();
    const int size = SSL_read(ssl_, into + got, static_cast<int>(std::min<size_t>(most - got, INT_MAX)));
    if (size <= 0) {
      const ssize_t outcome = Settle(size, true);
      return got == 0 ? outcome : static_cast<ssize_t>(got);  // the next call reports an end
    }
    got += static_cast<size_t>(size);
    if (!SSL_has_pending(ssl_)) return static_cast<ssize_t>(got);
  }
  has_more_ = true;
  return static_cast<ssize_t>(got);
}

ssize_t TlsStream::Write(const char* from, size_t size) {
  write_wants_read_ = false;
  errno = failure_.empty() ? 0 : EPROTO;
  if (errno != 0) return -1;
  ERR_clear_error();
  const int written = SSL_write(ssl_, from, static_cast<int>(std::min<size_t>(size, INT_MAX)));
  if (written > 0) return written;
  if (Settle(written, false) == 0) errno = EPIPE;
  return -1;
}

}  // namespace cairn
