// SPDX-License-Identifier: BSD-3-Clause
//
// Status and Result<T>: the one error type of the code base.
//
// A Status is one pointer: null means success, so the success path costs one comparison. An error has a Code for the
// caller's decisions, and a text: the client's error reply ("ERR ...", "WRONGTYPE ...") or the operator's message
// (kCorruption, kIo).
//
// Two codes are control flow and not failures (docs/architecture.md, "Run again instead of wait"): kWouldWait, the
// step would have to wait and must run again where waiting is allowed; kMustBlock, the command waits for a key to
// change and then runs again. Both are static, so returning them is free.
//
// Thread: any; a Status belongs to its holder.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/assert.h"

namespace cairn {

enum class Code : unsigned char {
  kOk,
  kReply,       // the client's mistake; text() is the error reply
  kWouldWait,   // run again on the slow lane
  kMustBlock,   // park the client until one of its keys changes
  kCorruption,  // bytes on disk do not decode
  kIo,          // the disk or the file system failed
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Status&& other) noexcept : rep_(std::exchange(other.rep_, nullptr)) {}
  Status& operator=(Status&& other) noexcept {
    std::swap(rep_, other.rep_);
    return *this;
  }
  ~Status() { Release(); }

  static Status Error(Code code, std::string text) { return Status(new Rep{code, false, std::move(text)}); }
  static Status Reply(std::string_view text) { return Error(Code::kReply, std::string(text)); }
  static Status Corruption(std::string_view text) { return Error(Code::kCorruption, std::string(text)); }
  static Status Io(std::string_view text) { return Error(Code::kIo, std::string(text)); }
  static Status WouldWait();
  static Status MustBlock();

  bool ok() const { return rep_ == nullptr; }
  Code code() const { return rep_ == nullptr ? Code::kOk : rep_->code; }
  bool Is(Code code) const { return this->code() == code; }
  std::string_view text() const { return rep_ == nullptr ? std::string_view() : rep_->text; }

  // For TRY, which handles Status and Result<T> alike.
  Status TakeStatus() && { return std::move(*this); }
  void TakeValue() && {}

 private:
  struct Rep {
    Code code;
    bool is_static;
    std::string text;
  };
  explicit Status(const Rep* rep) : rep_(rep) {}
  void Release() {
    if (rep_ != nullptr && !rep_->is_static) delete rep_;
  }

  const Rep* rep_ = nullptr;
};

inline Status Ok() { return Status(); }

// A value, or the error that prevented it.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}  // NOLINT: implicit on purpose
  Result(Status status) : status_(std::move(status)) { ASSERT(!status_.ok(), "Result from an OK status"); }  // NOLINT

  bool ok() const { return status_.ok(); }
  const Status& status() const { return status_; }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

  Status TakeStatus() && { return std::move(status_); }
  T TakeValue() && { return std::move(*value_); }

 private:
  Status status_;
  std::optional<T> value_;
};

}  // namespace cairn

// Evaluates to the value of `expr` (a Result, or a Status for its effect); on error returns it to the caller.
#define TRY(expr)                                 \
  __extension__({                                 \
    auto try_result_ = (expr);                    \
    if (!try_result_.ok()) [[unlikely]]           \
      return std::move(try_result_).TakeStatus(); \
    std::move(try_result_).TakeValue();           \
  })
