// SPDX-License-Identifier: BSD-3-Clause
#include "config/listen_spec.h"

#include <fmt/format.h>

#include <optional>

#include "base/number.h"
#include "command/args.h"

namespace cairn {
namespace {

constexpr std::string_view kUnixPrefix = "unix:";
constexpr int kMaxIoThreads = 128;

Status Fail(std::string text) { return Status::Error(Code::kReply, std::move(text)); }

Status ParseAddress(std::string_view text, ListenSpec& spec) {
  if (text.starts_with(kUnixPrefix)) {
    spec.unix_path = text.substr(kUnixPrefix.size());
    return spec.unix_path.empty() ? Fail("'unix:' must be followed by a path") : Ok();
  }
  const size_t colon = text.rfind(':');
  const auto port = colon == text.npos ? std::nullopt : ParseInt64(text.substr(colon + 1));
  if (!port || *port < 1 || *port > 65535) {
    return Fail(
        std::string("'").append(text).append("' is not <address:port> with a port from 1 to 65535, nor unix:path"));
  }
  std::string_view address = text.substr(0, colon);
  if (address.starts_with('[') && address.ends_with(']')) {
    address = address.substr(1, address.size() - 2);
  } else if (address.find(':') != address.npos) {
    return Fail(fmt::format("an IPv6 address stands in brackets: [{}]:{}", address, *port));
  }
  if (address.empty()) return Fail("the address before ':' is missing; * means all");
  spec.address = address;
  spec.port = static_cast<int>(*port);
  return Ok();
}

Result<int64_t> ParseCount(std::span<const std::string> words, size_t at, int64_t min, int64_t max) {
  const auto count = at < words.size() ? ParseInt64(words[at]) : std::nullopt;
  if (count && *count >= min && *count <= max) return *count;
  return Fail(fmt::format("'{}' takes a number from {} to {}", words[at - 1], min, max));
}

}  // namespace

Result<ListenSpec> ParseListenSpec(std::span<const std::string> words) {
  if (words.empty()) return Fail("an address is missing");
  ListenSpec spec;
  TRY(ParseAddress(words[0], spec));
  for (size_t i = 1; i < words.size(); ++i) {
    if (EqualsIgnoreCase(words[i], "readonly")) {
      spec.read_only = true;
    } else if (EqualsIgnoreCase(words[i], "tls")) {
      spec.tls = true;
    } else if (EqualsIgnoreCase(words[i], "io-threads")) {
      spec.io_threads = static_cast<int>(TRY(ParseCount(words, ++i, 1, kMaxIoThreads)));
    } else if (EqualsIgnoreCase(words[i], "qps-limit")) {
      spec.qps_limit = TRY(ParseCount(words, ++i, 0, INT64_MAX));
    } else {
      return Fail("unknown option '" + words[i] + "' after the address");
    }
  }
  return spec;
}

}  // namespace cairn
