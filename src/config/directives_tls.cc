// SPDX-License-Identifier: BSD-3-Clause
//
// The directives about TLS. config/tls_settings.h applies them.
#include "config/directive.h"

namespace cairn {
namespace {

using S = Settings;

constexpr int64_t kMaxInt = INT32_MAX;
constexpr auto kTls = Section::kTls;

constexpr std::string_view kAuthClients[] = {"no", "yes", "optional"};  // TlsClientCertificates

constexpr Directive File(std::string_view name, std::string_view help) {
  return {.name = name, .section = kTls, .kind = Kind::kText, .syntax = "<path>", .help = help};
}

constexpr Directive Password(std::string_view name, std::string_view help) {
  return {.name = name, .section = kTls, .kind = Kind::kText, .flags = kSecret, .syntax = "<password>", .help = help};
}

constexpr Directive Words(std::string_view name, std::string_view syntax, std::string_view help) {
  return {.name = name, .section = kTls, .kind = Kind::kText, .syntax = syntax, .help = help};
}

// clang-format off
const Directive kRows[] = {
    {.name = "tls-port", .section = kTls, .kind = Kind::kNumber, .fallback = "0", .min = 0, .max = 65535,
     .target = &S::tls_port,
     .help = "TCP port for TLS on each address of `bind`, with as many I/O threads of its own as `port` has; 0 is "
             "none. A change applies to new connections."},
    File("tls-cert-file",
         "The server's certificate, PEM, followed by the intermediate certificates. Required for TLS."),
    File("tls-key-file", "The private key of `tls-cert-file`, PEM."),
    Password("tls-key-file-pass", "The password of `tls-key-file`, if it has one."),
    File("tls-client-cert-file",
         "The certificate for connections to other servers; without one the server uses `tls-cert-file`, which must "
         "then be valid for both sides."),
    File("tls-client-key-file", "The private key of `tls-client-cert-file`, PEM."),
    Password("tls-client-key-file-pass", "The password of `tls-client-key-file`, if it has one."),
    File("tls-dh-params-file", "Parameters of the DHE ciphers of TLS 1.2, PEM; without them OpenSSL chooses by the "
                               "key."),
    File("tls-ca-cert-file",
         "Certificates of the trusted authorities, PEM, for clients and for other servers."),
    {.name = "tls-ca-cert-dir", .section = kTls, .kind = Kind::kText, .syntax = "<path>",
     .help = "A directory of trusted authorities' certificates, named as `openssl rehash` does."},
    {.name = "tls-auth-clients", .section = kTls, .kind = Kind::kChoice, .fallback = "yes", .choices = kAuthClients,
     .target = &S::tls_auth_clients,
     .help = "Whether a client must (yes) or may (optional) present a certificate of an authority in "
             "`tls-ca-cert-file` or `tls-ca-cert-dir`; an invalid one is refused."},
    {.name = "tls-cluster", .section = kTls, .kind = Kind::kBool, .fallback = "no", .flags = kStartOnly,
     .help = "The links of the cluster bus use TLS in both directions, and so does MIGRATE; all nodes of a cluster "
             "need the same value."},
    {.name = "tls-replication", .section = kTls, .kind = Kind::kBool, .fallback = "no", .target = &S::tls_replication,
     .help = "Connect to the primary over TLS: `replicaof` names its TLS port."},
    Words("tls-protocols", "<protocol> [<protocol> ...]",
          "The protocol versions, in quotes: TLSv1, TLSv1.1, TLSv1.2, TLSv1.3. Empty means the last two."),
    Words("tls-ciphers", "<ciphers>", "The ciphers of TLS 1.2 and older, as in `openssl ciphers`; empty leaves them to "
                                      "OpenSSL."),
    Words("tls-ciphersuites", "<ciphersuites>", "The ciphers of TLS 1.3; empty leaves them to OpenSSL."),
    {.name = "tls-prefer-server-ciphers", .section = kTls, .kind = Kind::kBool, .fallback = "no",
     .help = "Choose the cipher by the server's order of preference, not the client's."},
    {.name = "tls-session-caching", .section = kTls, .kind = Kind::kBool, .fallback = "yes",
     .help = "Cache sessions, so that clients that reconnect have a shorter handshake."},
    {.name = "tls-session-cache-size", .section = kTls, .kind = Kind::kNumber, .fallback = "20480", .min = 0,
     .max = kMaxInt, .help = "Sessions in the cache; 0 is no limit."},
    {.name = "tls-session-cache-timeout", .section = kTls, .kind = Kind::kNumber, .fallback = "300", .min = 0,
     .max = kMaxInt, .syntax = "<seconds>", .help = "How long a session stays in the cache."},
};
// clang-format on

}  // namespace

std::span<const Directive> TlsDirectives() { return kRows; }

}  // namespace cairn
