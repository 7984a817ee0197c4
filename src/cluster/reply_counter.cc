// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/reply_counter.h"

#include <algorithm>

#include "base/number.h"

namespace cairn {
namespace {

constexpr int64_t kMostNumber = int64_t{1} << 40;  // of bytes or elements
constexpr size_t kMostLineBytes = 64 * 1024;

}  // namespace

void ReplyCounter::Feed(std::string_view bytes) {
  while (!bytes.empty() && !is_broken_) {
    if (skip_ > 0) {
      const size_t skipped = std::min(bytes.size(), static_cast<size_t>(skip_));
      bytes.remove_prefix(skipped);
      skip_ -= static_cast<int64_t>(skipped);
      if (skip_ == 0) EndElement();
      continue;
    }
    const size_t end = bytes.find('\n');
    line_.append(bytes.substr(0, end));
    if (line_.size() > kMostLineBytes) return Break();
    if (end == std::string_view::npos) return;
    bytes.remove_prefix(end + 1);
    if (!line_.empty() && line_.back() == '\r') line_.pop_back();
    ReadLine(line_);
    line_.clear();
  }
}

void ReplyCounter::ReadLine(std::string_view line) {
  if (line.empty()) return;
  const int64_t number = ParseInt64(line.substr(1)).value_or(0);
  if ((line.front() == '$' || line.front() == '*') && number > kMostNumber - elements_) return Break();
  if (line.front() == '$' && number >= 0) {
    skip_ = number + 2;
    return;
  }
  if (line.front() == '*' && number > 0) elements_ += number;
  if (line.front() == '-' && error_.empty()) error_ = line.substr(1);
  last_line_ = line;
  EndElement();
}

void ReplyCounter::Break() {
  is_broken_ = true;
  if (error_.empty()) error_ = "ERR the replies are not RESP2";
}

void ReplyCounter::EndElement() {
  if (--elements_ > 0) return;
  elements_ = 1;
  ++count_;
}

}  // namespace cairn
