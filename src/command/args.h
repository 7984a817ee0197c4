// SPDX-License-Identifier: BSD-3-Clause
//
// Args: a command's arguments, read from left to right. The first bad one latches its error; Done() reports it
// and is asked once, before anything is done. After an error readers answer empty values.
//
// Thread: the worker's. The bytes belong to the request and outlive the command.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "base/words.h"
#include "resp/errors.h"

namespace cairn {

class Args {
 public:
  // `argv` includes the command's name; reading starts after it.
  explicit Args(std::span<const std::string_view> argv) : argv_(argv) {}

  size_t size() const { return argv_.size(); }  // the name included
  std::string_view operator[](size_t i) const { return argv_[i]; }
  std::span<const std::string_view> all() const { return argv_; }
  size_t position() const { return next_; }
  size_t left() const { return error_.ok() ? argv_.size() - next_ : 0; }
  bool More() const { return left() > 0; }

  // The next argument; a missing one is a syntax error.
  std::string_view Bytes();
  std::string_view Peek() const { return More() ? argv_[next_] : std::string_view(); }
  void Skip(size_t count) { next_ += count; }

  int64_t Integer(std::string_view error = errors::kNotAnInteger);
  // An integer within [min, max]; outside of it the error is the same.
  int64_t IntegerIn(int64_t min, int64_t max, std::string_view error = errors::kNotAnInteger);
  double Float(std::string_view error = errors::kNotAFloat);

  // Consumes the next argument when it is this word, whatever its case.
  bool Keyword(std::string_view word);

  // Latches `error` unless one is latched already.
  void Fail(std::string_view error);

  // The latched error; a syntax error when arguments are left over.
  Status Done();
  // The latched error, whatever is left.
  Status Check();

 private:
  std::span<const std::string_view> argv_;
  size_t next_ = 1;
  Status error_;
};

}  // namespace cairn
