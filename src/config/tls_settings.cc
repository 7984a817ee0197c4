// SPDX-License-Identifier: BSD-3-Clause
#include "config/tls_settings.h"

#include <algorithm>

#include "base/log.h"

namespace cairn {
namespace {

// Directives that a TLS context is built from; below, directives that may make one necessary.
constexpr std::string_view kBuiltFrom[] = {
    "tls-cert-file",
    "tls-key-file",
    "tls-key-file-pass",
    "tls-client-cert-file",
    "tls-client-key-file",
    "tls-client-key-file-pass",
    "tls-dh-params-file",
    "tls-ca-cert-file",
    "tls-ca-cert-dir",
    "tls-protocols",
    "tls-ciphers",
    "tls-ciphersuites",
    "tls-prefer-server-ciphers",
    "tls-session-caching",
    "tls-session-cache-size",
    "tls-session-cache-timeout",
    "tls-replication",
};

TlsClientCertificates ClientCertificates(const Config& config) {
  return static_cast<TlsClientCertificates>(config.Number("tls-auth-clients"));
}

}  // namespace

bool UsesTls(const Config& config) {
  if (config.Number("tls-port") != 0 || config.Flag("tls-replication") || config.Flag("tls-cluster")) return true;
  const std::vector<ListenSpec> listeners = config.Listeners();
  return std::any_of(listeners.begin(), listeners.end(), [](const ListenSpec& spec) { return spec.tls; });
}

Status ConfigureTls(const Config& config, Tls& tls) {
  TlsOptions options;
  options.server = {config.Text("tls-cert-file"), config.Text("tls-key-file"), config.Text("tls-key-file-pass")};
  options.client = {config.Text("tls-client-cert-file"), config.Text("tls-client-key-file"),
                    config.Text("tls-client-key-file-pass")};
  options.ca_cert_file = config.Text("tls-ca-cert-file");
  options.ca_cert_dir = config.Text("tls-ca-cert-dir");
  options.dh_params_file = config.Text("tls-dh-params-file");
  options.protocols = config.Text("tls-protocols");
  options.ciphers = config.Text("tls-ciphers");
  options.ciphersuites = config.Text("tls-ciphersuites");
  options.prefer_server_ciphers = config.Flag("tls-prefer-server-ciphers");
  options.session_caching = config.Flag("tls-session-caching");
  options.session_cache_size = config.Number("tls-session-cache-size");
  options.session_cache_timeout_s = config.Number("tls-session-cache-timeout");
  options.needs_ca = ClientCertificates(config) != TlsClientCertificates::kNo || config.Flag("tls-replication") ||
                     config.Flag("tls-cluster");
  tls.set_client_certificates(ClientCertificates(config));
  return tls.Configure(options);
}

void WatchTls(Config& config, Tls& tls) {
  for (const std::string_view name : kBuiltFrom) {
    config.Watch(name, [&config, &tls] {
      if (!UsesTls(config)) return Ok();
      const Status built = ConfigureTls(config, tls);
      if (built.ok()) return Ok();
      Log(LogSeverity::kWarning, "{}", built.text());
      return Status::Reply(kCannotUpdateTls);
    });
  }
  config.Watch("tls-auth-clients", [&config, &tls] {
    tls.set_client_certificates(ClientCertificates(config));
    return Ok();
  });
}

}  // namespace cairn
