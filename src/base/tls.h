// SPDX-License-Identifier: BSD-3-Clause
//
// Tls: certificates, keys and rules of TLS, as they are now, and the streams that are made with them (OpenSSL).
//
// Configure builds everything anew and only then puts it in the place of what was there, so a bad certificate changes
// nothing. A stream keeps what it was made with: a change is for connections that come later.
//
// Thread: any; guarded by mutex_.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"
#include "base/tls_stream.h"

struct ssl_ctx_st;

namespace cairn {

// The directives `tls-*` under their own names. Empty texts stand for OpenSSL's defaults, or for nothing.
struct TlsOptions {
  struct Identity {
    std::string cert_file;
    std::string key_file;
    std::string key_file_pass;
  };
  Identity server;
  Identity client;  // towards other servers; without one it is `server`
  std::string ca_cert_file;
  std::string ca_cert_dir;
  std::string dh_params_file;
  std::string protocols;  // "TLSv1.2 TLSv1.3"
  std::string ciphers;
  std::string ciphersuites;
  bool prefer_server_ciphers = false;
  bool session_caching = true;
  int64_t session_cache_size = 0;  // 0: no limit
  int64_t session_cache_timeout_s = 0;
  bool needs_ca = false;  // somebody's certificate will be looked at
};

// In the order of `tls-auth-clients`.
enum class TlsClientCertificates : int64_t { kNo, kYes, kOptional };

class Tls {
 public:
  Tls();
  ~Tls();
  Tls(const Tls&) = delete;
  Tls& operator=(const Tls&) = delete;

  // The error is a sentence for the operator; what was there before stays.
  Status Configure(const TlsOptions& options);
  void set_client_certificates(TlsClientCertificates wanted) { client_certificates_ = wanted; }

  // The server's side of a connection; `peer` names it in the log. REQUIRES: Configure went well once.
  std::unique_ptr<TlsStream> Accept(int fd, std::string peer) const;
  // The client's side. The other side's certificate must be one of ours; its name is not looked at, as in Redis.
  std::unique_ptr<TlsStream> Connect(int fd, std::string peer) const;

 private:
  using Context = std::shared_ptr<ssl_ctx_st>;

  mutable std::mutex mutex_;
  Context server_;
  Context client_;
  std::atomic<TlsClientCertificates> client_certificates_{TlsClientCertificates::kYes};
};

}  // namespace cairn
