// SPDX-License-Identifier: BSD-3-Clause
#include "server/client_flags.h"

#include <gflags/gflags.h>

#include <optional>
#include <string>

#include "base/number.h"

DEFINE_string(cacert, "",
              "with TLS: the authorities of the server's certificate (PEM), whatever its name; without it and "
              "--cacertdir the system's, and the name must be the host's");
DEFINE_string(cacertdir, "", "with TLS: a directory of such authorities, named as `openssl rehash` does");
DEFINE_string(cert, "", "with TLS: the certificate to show (PEM)");
DEFINE_string(key, "", "with TLS: the private key of --cert (PEM)");

namespace cairn {

Result<RedisClient::Address> ParseAddress(std::string_view text, int default_port) {
  constexpr int64_t kMostPort = 65535;
  const size_t colon = text.rfind(':');
  const bool has_port = colon != text.npos && colon > 0 && (text.find(':') == colon || text[colon - 1] == ']');
  std::string_view host = has_port ? text.substr(0, colon) : text;
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const auto port = has_port ? ParseInt64(text.substr(colon + 1)) : std::optional<int64_t>(default_port);
  if (host.empty() || !port || *port < 1 || *port > kMostPort) {
    return Status::Io("'" + std::string(text) + "' is not <host>" + (default_port == 0 ? ":<port>" : "[:<port>]"));
  }
  return RedisClient::Address{.host = std::string(host), .port = static_cast<int>(*port)};
}

Status ConfigureByFlags(Tls& tls) {
  if (FLAGS_cert.empty() != FLAGS_key.empty()) return Status::Io("--cert and --key belong together");
  TlsOptions options;
  options.client = {.cert_file = FLAGS_cert, .key_file = FLAGS_key};
  options.ca_cert_file = FLAGS_cacert;
  options.ca_cert_dir = FLAGS_cacertdir;
  return tls.ConfigureClient(options);
}

}  // namespace cairn
