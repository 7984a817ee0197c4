// SPDX-License-Identifier: BSD-3-Clause
//
// Args: a command's arguments, read from left to right. The first invalid argument latches its error; Done() reports it
// and is called once, before the command does anything. After an error, readers return empty values.
//
// Thread: that of the worker. The bytes belong to the request and outlive the command.
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

  size_t size() const { return argv_.size(); }  // including the name
  std::string_view operator[](size_t i) const { return argv_[i]; }
  std::span<const std::string_view> all() const { return argv_; }
  size_t position() const { return next_; }
  size_t left() const { return error_.ok() ? argv_.size() - next_ : 0; }
  bool More() const { return left() > 0; }

  // The next argument; a syntax error if there is none.
  std::string_view Bytes();
  std::string_view Peek() const { return More() ? argv_[next_] : std::string_view(); }
  void Skip(size_t count) { next_ += count; }

  int64_t Integer(std::string_view error = errors::kNotAnInteger);
  // An integer within [min, max]; `error` also if it is out of range.
  int64_t IntegerIn(int64_t min, int64_t max, std::string_view error = errors::kNotAnInteger);
  double Float(std::string_view error = errors::kNotAFloat);

  // Consumes the next argument if it equals this word, ignoring case.
  bool Keyword(std::string_view word);

  // Latches `error` unless one is latched already.
  void Fail(std::string_view error);

  // Returns the latched error, or a syntax error if arguments are left.
  Status Done();
  // Returns the latched error; arguments may be left.
  Status Check();

 private:
  std::span<const std::string_view> argv_;
  size_t next_ = 1;
  Status error_;
};

}  // namespace cairn
