// SPDX-License-Identifier: BSD-3-Clause
#include "command/args.h"

#include "base/number.h"

namespace cairn {

std::string_view Args::Bytes() {
  if (!error_.ok()) return {};
  if (next_ >= argv_.size()) {
    Fail(errors::kSyntax);
    return {};
  }
  return argv_[next_++];
}

int64_t Args::Integer(std::string_view error) { return IntegerIn(INT64_MIN, INT64_MAX, error); }

int64_t Args::IntegerIn(int64_t min, int64_t max, std::string_view error) {
  const std::string_view text = Bytes();
  if (!error_.ok()) return 0;
  const auto value = ParseInt64(text);
  if (!value || *value < min || *value > max) {
    Fail(error);
    return 0;
  }
  return *value;
}

double Args::Float(std::string_view error) {
  const std::string_view text = Bytes();
  if (!error_.ok()) return 0;
  const auto value = ParseDouble(text);
  if (!value) {
    Fail(error);
    return 0;
  }
  return *value;
}

bool Args::Keyword(std::string_view word) {
  if (!More() || !EqualsIgnoreCase(argv_[next_], word)) return false;
  ++next_;
  return true;
}

void Args::Fail(std::string_view error) {
  if (error_.ok()) error_ = Status::Reply(error);
}

Status Args::Done() {
  if (error_.ok() && next_ < argv_.size()) return Status::Reply(errors::kSyntax);
  return Check();
}

Status Args::Check() { return std::move(error_); }

}  // namespace cairn
