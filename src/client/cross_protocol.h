// SPDX-License-Identifier: BSD-3-Clause
//
// CrossProtocolAlarm: detects HTTP. A web page can make a browser send a request to this port: its first lines are
// errors, but its body may hold commands. Such a client is detected by the words POST and Host:, and is disconnected
// before its body is read.
//
// Thread: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

namespace cairn {

class CrossProtocolAlarm {
 public:
  // Whether this word, at the place of a command's name, belongs to HTTP.
  static bool IsHttp(std::string_view word);
  // Writes a warning to the log, at most once a minute.
  void Sound(std::string_view peer);

 private:
  std::atomic<int64_t> silent_until_us_{0};
};

}  // namespace cairn
