// SPDX-License-Identifier: BSD-3-Clause
//
// The directives about TLS. What they come to is built in config/tls_settings.h.
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

const Directive kRows[] = {
    {.name = "tls-port", .section = kTls, .kind = Kind::kNumber, .fallback = "0", .min = 0, .max = 65535,
     .target = &S::tls_port,
     .help = "TCP port on each address of `bind` where clients speak TLS, beside `port` and with as many I/O threads "
             "of its own; 0 is none. A change is for clients that come later."},
    File("tls-cert-file",
         "The server's certificate, PEM, with those between it and its authority behind it. Needed wherever TLS is "
         "used."),
    File("tls-key-file", "The private key of `tls-cert-file`, PEM."),
    Password("tls-key-file-pass", "The password of `tls-key-file`, if it has one."),
    File("tls-client-cert-file",
         "The certificate that other servers are shown; without one it is `tls-cert-file`, which then has to be good "
         "for both sides."),
    File("tls-client-key-file", "The private key of `tls-client-cert-file`, PEM."),
    Password("tls-client-key-file-pass", "The password of `tls-client-key-file`, if it has one."),
    File("tls-dh-params-file", "Parameters of the DHE ciphers of TLS 1.2, PEM; without them they follow the key."),
    File("tls-ca-cert-file",
         "Certificates of the authorities whose word counts, PEM, for clients and for other servers."),
    {.name = "tls-ca-cert-dir", .section = kTls, .kind = Kind::kText, .syntax = "<path>",
     .help = "The same as a directory, with a file for each under the name that `openssl rehash` gives."},
    {.name = "tls-auth-clients", .section = kTls, .kind = Kind::kChoice, .fallback = "yes", .choices = kAuthClients,
     .target = &S::tls_auth_clients,
     .help = "Whether a client must show a certificate of an authority in `tls-ca-cert-file` or `tls-ca-cert-dir`, or "
             "may; one that is shown has to be good."},
    {.name = "tls-replication", .section = kTls, .kind = Kind::kBool, .fallback = "no", .target = &S::tls_replication,
     .help = "Follow the primary over TLS: `replicaof` names its TLS port."},
    Words("tls-protocols", "<protocol> [<protocol> ...]",
          "The versions spoken, in quotes: TLSv1, TLSv1.1, TLSv1.2, TLSv1.3. Empty stands for the last two."),
    Words("tls-ciphers", "<ciphers>", "The ciphers of TLS 1.2 and older, as in `openssl ciphers`; empty leaves them to "
                                      "OpenSSL."),
    Words("tls-ciphersuites", "<ciphersuites>", "The ciphers of TLS 1.3; empty leaves them to OpenSSL."),
    {.name = "tls-prefer-server-ciphers", .section = kTls, .kind = Kind::kBool, .fallback = "no",
     .help = "Let the server's order of ciphers decide, not the client's."},
    {.name = "tls-session-caching", .section = kTls, .kind = Kind::kBool, .fallback = "yes",
     .help = "Remember sessions, so that clients that come again have a shorter handshake."},
    {.name = "tls-session-cache-size", .section = kTls, .kind = Kind::kNumber, .fallback = "20480", .min = 0,
     .max = kMaxInt, .help = "How many sessions are remembered; 0 is no limit."},
    {.name = "tls-session-cache-timeout", .section = kTls, .kind = Kind::kNumber, .fallback = "300", .min = 0,
     .max = kMaxInt, .syntax = "<seconds>", .help = "How long a session is remembered."},
};

}  // namespace

std::span<const Directive> TlsDirectives() { return kRows; }

}  // namespace cairn
