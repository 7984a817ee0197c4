// SPDX-License-Identifier: BSD-3-Clause
//
// Tls: the current certificates, keys and rules of TLS, and the streams made with them (OpenSSL).
//
// Configure builds everything first and then replaces the old configuration, so a bad certificate changes nothing. A
// change affects new connections only; a stream keeps its configuration.
//
// Thread: any; guarded by mutex_.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "base/result.h"
#include "base/tls_stream.h"

struct ssl_ctx_st;

namespace cairn {

// The values of the directives `tls-*`. An empty text means OpenSSL's default, or none.
struct TlsOptions {
  struct Identity {
    std::string cert_file;
    std::string key_file;
    std::string key_file_pass;
  };
  Identity server;
  Identity client;  // for connections to other servers; default: `server`
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
  bool needs_ca = false;  // certificates of peers will be verified
};

// The values of `tls-auth-clients`, in their order there.
enum class TlsClientCertificates : int64_t { kNo, kYes, kOptional };

class Tls {
 public:
  Tls();
  ~Tls();
  Tls(const Tls&) = delete;
  Tls& operator=(const Tls&) = delete;

  // The error is a message for the operator; the old configuration stays.
  Status Configure(const TlsOptions& options);
  // For a program that only connects: Accept may not be called. A certificate of its own is optional. Without
  // authorities it trusts the system's, which sign for anyone, and so checks the name in the server's certificate.
  Status ConfigureClient(const TlsOptions& options);
  void set_client_certificates(TlsClientCertificates wanted) { client_certificates_ = wanted; }

  // The server side of a connection; `peer` names the client in the log. REQUIRES: one Configure has succeeded.
  std::unique_ptr<TlsStream> Accept(int fd, std::string peer) const;
  // The same for another node of a cluster, which must present a certificate whatever clients may do, as in Redis.
  std::unique_ptr<TlsStream> AcceptNode(int fd, std::string peer) const;
  // The client side, to the host `peer`. The server's certificate must be signed by one of our CAs; after Configure its
  // name is not checked, as in Redis.
  std::unique_ptr<TlsStream> Connect(int fd, std::string peer) const;

 private:
  using Context = std::shared_ptr<ssl_ctx_st>;

  mutable Mutex mutex_;
  Context server_ ABSL_GUARDED_BY(mutex_);
  Context client_ ABSL_GUARDED_BY(mutex_);
  bool checks_names_ ABSL_GUARDED_BY(mutex_) = false;  // in the certificates of servers
  std::atomic<TlsClientCertificates> client_certificates_{TlsClientCertificates::kYes};
};

}  // namespace cairn
