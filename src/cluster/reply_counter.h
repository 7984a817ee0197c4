// SPDX-License-Identifier: BSD-3-Clause
//
// ReplyCounter: counts the replies (RESP2) of another server and skips their contents. It finds the first that is an
// error.
//
// Thread: the owner's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace cairn {

class ReplyCounter {
 public:
  // Reads the next bytes, as they arrive.
  void Feed(std::string_view bytes);

  // The number of complete replies so far.
  uint64_t count() const { return count_; }
  // The first error reply, without its line end; empty: none. After bytes that are no reply it is an error too, and
  // nothing more is counted.
  const std::string& error() const { return error_; }
  // The last reply that was one line, with its first character.
  const std::string& last_line() const { return last_line_; }

 private:
  void ReadLine(std::string_view line);
  void EndElement();
  void Break();

  std::string line_;      // the beginning of a line
  int64_t skip_ = 0;      // bytes of a bulk string
  int64_t elements_ = 1;  // still to come of the current reply
  uint64_t count_ = 0;
  bool is_broken_ = false;
  std::string error_;
  std::string last_line_;
};

}  // namespace cairn
