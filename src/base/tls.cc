// SPDX-License-Identifier: BSD-3-Clause
#include "base/tls.h"

#include <openssl/dh.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <string.h>

#include <algorithm>
#include <string_view>

#include "base/assert.h"
#include "base/words.h"

namespace cairn {
namespace {

using Context = std::shared_ptr<SSL_CTX>;

struct Protocol {
  std::string_view name;
  uint64_t off;  // the option that disables it
};
constexpr Protocol kProtocols[] = {{"tlsv1", SSL_OP_NO_TLSv1},
                                   {"tlsv1.1", SSL_OP_NO_TLSv1_1},
                                   {"tlsv1.2", SSL_OP_NO_TLSv1_2},
                                   {"tlsv1.3", SSL_OP_NO_TLSv1_3}};
constexpr std::string_view kDefaultProtocols = "TLSv1.2 TLSv1.3";
constexpr unsigned char kSessionsOf[] = "cairn";

// An error with OpenSSL's text for the last failure.
Status Failed(const std::string& what) {
  char text[256] = "no reason given";
  if (const unsigned long code = ERR_peek_last_error(); code != 0) ERR_error_string_n(code, text, sizeof text);
  ERR_clear_error();
  return Status::Io("TLS: " + what + ": " + text);
}

// The options that disable all protocols not in `names`.
Result<uint64_t> ParseProtocols(const std::string& names) {
  uint64_t off = SSL_OP_NO_SSLv3;
  for (const Protocol& protocol : kProtocols) off |= protocol.off;
  const auto words = SplitWords(names.empty() ? kDefaultProtocols : std::string_view(names));
  if (words) {
    for (std::string word : *words) {
      std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
      const auto* const found = std::find_if(std::begin(kProtocols), std::end(kProtocols),
                                             [&word](const Protocol& protocol) { return protocol.name == word; });
      if (found == std::end(kProtocols)) {
        return Status::Io("TLS: tls-protocols has the unknown value '" + word +
                          "'; known are TLSv1, TLSv1.1, TLSv1.2 and TLSv1.3");
      }
      off &= ~found->off;
    }
  }
  return off;
}

// Gives OpenSSL the password of a key file. Without a password the key is refused: no prompt on the terminal.
int GivePassword(char* into, int size, int, void* password) {
  const auto& text = *static_cast<const std::string*>(password);
  if (text.empty() || text.size() > static_cast<size_t>(size)) return -1;
  memcpy(into, text.data(), text.size());
  return static_cast<int>(text.size());
}

Status LoadIdentity(SSL_CTX* context, const TlsOptions::Identity& identity) {
  if (SSL_CTX_use_certificate_chain_file(context, identity.cert_file.c_str()) <= 0) {
    return Failed("cannot load the certificate " + identity.cert_file);
  }
  std::string password = identity.key_file_pass;
  SSL_CTX_set_default_passwd_cb(context, GivePassword);
  SSL_CTX_set_default_passwd_cb_userdata(context, &password);
  const bool loaded = SSL_CTX_use_PrivateKey_file(context, identity.key_file.c_str(), SSL_FILETYPE_PEM) > 0;
  SSL_CTX_set_default_passwd_cb_userdata(context, nullptr);
  SSL_CTX_set_default_passwd_cb(context, nullptr);
  return loaded ? Ok() : Failed("cannot load the private key " + identity.key_file);
}

Status LoadAuthorities(SSL_CTX* context, const TlsOptions& options) {
  const auto* const file = options.ca_cert_file.empty() ? nullptr : options.ca_cert_file.c_str();
  const auto* const dir = options.ca_cert_dir.empty() ? nullptr : options.ca_cert_dir.c_str();
  if (file == nullptr && dir == nullptr) return Ok();
  if (SSL_CTX_load_verify_locations(context, file, dir) > 0) return Ok();
  return Failed("cannot load the authorities' certificates of the file '" + options.ca_cert_file +
                "', the directory '" + options.ca_cert_dir + "'");
}

Status SetCiphers(SSL_CTX* context, const TlsOptions& options) {
  if (!options.ciphers.empty() && SSL_CTX_set_cipher_list(context, options.ciphers.c_str()) != 1) {
    return Failed("tls-ciphers '" + options.ciphers + "'");
  }
  if (!options.ciphersuites.empty() && SSL_CTX_set_ciphersuites(context, options.ciphersuites.c_str()) != 1) {
    return Failed("tls-ciphersuites '" + options.ciphersuites + "'");
  }
  return Ok();
}

// Without a file, OpenSSL chooses the group by the key's strength.
Status LoadDhParams(SSL_CTX* context, const std::string& path) {
  if (path.empty()) {
    SSL_CTX_set_dh_auto(context, 1);
    return Ok();
  }
  const std::unique_ptr<BIO, int (*)(BIO*)> file(BIO_new_file(path.c_str(), "r"), BIO_free);
  EVP_PKEY* const params = file == nullptr ? nullptr : PEM_read_bio_Parameters(file.get(), nullptr);
  if (params == nullptr) return Failed("cannot load tls-dh-params-file " + path);
  if (SSL_CTX_set0_tmp_dh_pkey(context, params) == 1) return Ok();
  EVP_PKEY_free(params);
  return Failed("cannot use tls-dh-params-file " + path);
}

// The settings that both sides share. Without a certificate file it has no identity.
Result<Context> MakeContext(const SSL_METHOD* method, const TlsOptions& options, const TlsOptions::Identity& identity) {
  const uint64_t protocols = TRY(ParseProtocols(options.protocols));
  Context context(SSL_CTX_new(method), SSL_CTX_free);
  if (context == nullptr) return Failed("no context");
  // Renegotiation is disabled: it lets the peer keep the server busy with key computations.
  SSL_CTX_set_options(context.get(), protocols | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  // The output buffer may move before it is sent, and idle connections hold no buffers.
  SSL_CTX_set_mode(context.get(),
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_read_ahead(context.get(), 1);  // one system call reads a record with its header
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  if (!identity.cert_file.empty()) TRY(LoadIdentity(context.get(), identity));
  TRY(LoadAuthorities(context.get(), options));
  TRY(SetCiphers(context.get(), options));
  return context;
}

void SetSessions(SSL_CTX* context, const TlsOptions& options) {
  SSL_CTX_set_session_id_context(context, kSessionsOf, sizeof kSessionsOf - 1);
  if (!options.session_caching) {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(context, SSL_OP_NO_TICKET);  // tickets would cache sessions in the clients
    SSL_CTX_set_num_tickets(context, 0);
    return;
  }
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_SERVER);
  SSL_CTX_sess_set_cache_size(context, options.session_cache_size);
  SSL_CTX_set_timeout(context, options.session_cache_timeout_s);
}

constexpr int kVerifyAlways = SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT;

SSL* MakeSsl(const Context& context, int fd, int verify) {
  ASSERT(context != nullptr, "TLS is used before it is configured");
  SSL* const ssl = SSL_new(context.get());
  ASSERT(ssl != nullptr, "no memory for a TLS connection");
  SSL_set_verify(ssl, verify, nullptr);
  SSL_set_fd(ssl, fd);
  return ssl;
}

// The handshake will fail unless the certificate is for the host. REQUIRES: `host` has been resolved.
void CheckName(SSL* ssl, const std::string& host) {
  if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host.c_str()) == 1) return;
  const bool is_set = SSL_set1_host(ssl, host.c_str()) == 1 && SSL_set_tlsext_host_name(ssl, host.c_str()) == 1;
  ASSERT(is_set, "no memory for the name of a host");
}

}  // namespace

Tls::Tls() = default;
Tls::~Tls() = default;

Status Tls::Configure(const TlsOptions& options) {
  if (options.server.cert_file.empty()) return Status::Io("TLS: tls-cert-file is not set");
  if (options.server.key_file.empty()) return Status::Io("TLS: tls-key-file is not set");
  if (options.needs_ca && options.ca_cert_file.empty() && options.ca_cert_dir.empty()) {
    return Status::Io(
        "TLS: peer certificates cannot be verified: set tls-ca-cert-file or tls-ca-cert-dir, or, if clients need "
        "none, tls-auth-clients no");
  }
  Context server = TRY(MakeContext(TLS_server_method(), options, options.server));
  if (options.prefer_server_ciphers) SSL_CTX_set_options(server.get(), SSL_OP_CIPHER_SERVER_PREFERENCE);
  SetSessions(server.get(), options);
  TRY(LoadDhParams(server.get(), options.dh_params_file));
  const bool has_own = !options.client.cert_file.empty() && !options.client.key_file.empty();
  Context client = TRY(MakeContext(TLS_client_method(), options, has_own ? options.client : options.server));
  const MutexLock lock(mutex_);
  server_ = std::move(server);
  client_ = std::move(client);
  return Ok();
}

Status Tls::ConfigureClient(const TlsOptions& options) {
  Context client = TRY(MakeContext(TLS_client_method(), options, options.client));
  const bool trusts_system = options.ca_cert_file.empty() && options.ca_cert_dir.empty();
  if (trusts_system && SSL_CTX_set_default_verify_paths(client.get()) != 1) {
    return Failed("cannot load the system's authorities");
  }
  const MutexLock lock(mutex_);
  client_ = std::move(client);
  checks_names_ = trusts_system;
  return Ok();
}

std::unique_ptr<TlsStream> Tls::Accept(int fd, std::string peer) const {
  int verify = SSL_VERIFY_NONE;
  switch (client_certificates_.load(std::memory_order_relaxed)) {
    case TlsClientCertificates::kNo: break;
    case TlsClientCertificates::kYes: verify = kVerifyAlways; break;
    case TlsClientCertificates::kOptional: verify = SSL_VERIFY_PEER; break;
  }
  const MutexLock lock(mutex_);
  return std::make_unique<TlsStream>(MakeSsl(server_, fd, verify), TlsStream::Side::kServer, std::move(peer));
}

std::unique_ptr<TlsStream> Tls::AcceptNode(int fd, std::string peer) const {
  const MutexLock lock(mutex_);
  return std::make_unique<TlsStream>(MakeSsl(server_, fd, kVerifyAlways), TlsStream::Side::kServer, std::move(peer));
}

std::unique_ptr<TlsStream> Tls::Connect(int fd, std::string peer) const {
  const MutexLock lock(mutex_);
  SSL* const ssl = MakeSsl(client_, fd, SSL_VERIFY_PEER);
  if (checks_names_) CheckName(ssl, peer);
  return std::make_unique<TlsStream>(ssl, TlsStream::Side::kClient, std::move(peer));
}

}  // namespace cairn
