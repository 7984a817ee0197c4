// SPDX-License-Identifier: BSD-3-Clause
//
// ListenSpec: one `listen` line. Thread: any; a value.
//
//   listen <address:port | [ipv6]:port | unix:path> [io-threads N] [qps-limit N] [readonly] [tls]
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"

namespace cairn {

struct ListenSpec {
  std::string address;  // an address without brackets, or "*"; empty for a Unix socket
  int port = 0;
  std::string unix_path;  // empty for TCP
  int io_threads = 1;
  int64_t qps_limit = 0;  // commands per second of all its clients together; 0: no limit
  bool read_only = false;
  bool tls = false;
};

// Parses the words after `listen`. The error's text is a part of a sentence.
Result<ListenSpec> ParseListenSpec(std::span<const std::string> words);

}  // namespace cairn
