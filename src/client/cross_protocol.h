// SPDX-License-Identifier: BSD-3-Clause
//
// CrossProtocolAlarm: a page in a browser can be made to send a request to this port, whose first lines are errors and
// whose body are commands. Such a client is known by the words HTTP begins with, POST and Host:, and it is cut off
// before it comes to the body.
//
// Thread: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

namespace cairn {

class CrossProtocolAlarm {
 public:
  // Is this word, in a command's place, one of HTTP's?
  static bool IsHttp(std::string_view word);
  // Says so in the log, once a minute at the most.
  void Sound(std::string_view peer);

 private:
  std::atomic<int64_t> silent_until_us_{0};
};

}  // namespace cairn
