// SPDX-License-Identifier: BSD-3-Clause
//
// RequestParser: splits a client's bytes, as they arrive, into requests: RESP arrays of bulk strings, or inline
// commands typed by people (Redis serialization protocol specification).
//
// The parser owns the bytes that it was given. A request's arguments are views into them, valid until the next call of
// Next() or Reserve(). It remembers its position, so a large request that arrives in many pieces is not parsed again
// from its start.
//
// Thread: the connection's current lane.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cairn {

struct RequestLimits {
  int64_t max_bulk_bytes = 512ll << 20;  // proto-max-bulk-len
  bool authenticated = true;             // other clients may send at most 10 arguments of 16 KB
};

class RequestParser {
 public:
  enum class Outcome : unsigned char { kRequest, kIncomplete, kError };

  // Space for at least `size` more bytes; Filled() reports how many were written.
  char* Reserve(size_t size);
  // Replaces the parser's buffer by a borrowed one for the next read; ReturnBuffer returns it. REQUIRES: the pending
  // bytes fit.
  void UseBuffer(std::unique_ptr<char[]> buffer, size_t size);
  // Returns the borrowed buffer; pending bytes move to a new one of their size. Invalidates argv().
  std::unique_ptr<char[]> ReturnBuffer();
  size_t reserved() const { return capacity_ - filled_; }
  void Filled(size_t size) { filled_ += size; }

  // Parses the next request. It may be empty (an empty line), and is then to be skipped.
  Outcome Next(const RequestLimits& limits);
  std::span<const std::string_view> argv() const { return argv_; }
  // All bytes of this request; valid as long as argv().
  std::string_view request_bytes() const { return {buffer_.get() + request_begin_, consumed_ - request_begin_}; }
  // Calls `visit` with each complete request that Next() will return, up to `most` and to the first inline command. It
  // takes none of them, and argv() stays valid.
  void LookAhead(size_t most, const std::function<void(std::span<const std::string_view>)>& visit) const;
  // "Protocol error: ..." after kError; the connection must be closed.
  const std::string& error() const { return error_; }

  // Pending bytes belong to no finished request: the bytes of complete arguments, and unread ones.
  size_t pending_bytes() const { return filled_ - consumed_; }
  size_t argument_bytes() const { return position_ - consumed_; }
  size_t unread_bytes() const { return filled_ - position_; }
  size_t capacity() const { return capacity_; }
  // Memory besides the buffer: the lists of a large request's arguments.
  size_t list_bytes() const {
    const size_t bytes = extents_.capacity() * sizeof(Extent) + argv_.capacity() * sizeof(std::string_view) +
                         inline_args_.capacity() * sizeof(std::string);
    return bytes <= kKeptListBytes ? 0 : bytes;
  }
  // The number of bytes that the argument being read still lacks. Reserve() them at once.
  size_t missing_bytes() const;
  // Frees memory above `kept_bytes`, unless a request is being read. Invalidates argv().
  void Shrink(size_t kept_bytes);

 private:
  static constexpr size_t kKeptListBytes = 1024;
  struct Extent {
    size_t offset;  // from buffer start
    size_t size;
  };
  Outcome NextArray(const RequestLimits& limits);
  Outcome NextInline(const RequestLimits& limits);
  bool ReadLine(std::string_view& line);
  Outcome ReadBulkHead(const RequestLimits& limits);
  Outcome Fail(std::string_view why);
  Outcome Finish();
  void MoveToStart();
  void FreeLists();

  std::unique_ptr<char[]> buffer_;
  size_t capacity_ = 0;
  size_t filled_ = 0;
  size_t consumed_ = 0;       // start of the request being read
  size_t request_begin_ = 0;  // of the last complete request
  size_t position_ = 0;       // parsed up to here
  int64_t args_left_ = -1;    // -1: the request's head is not read yet
  int64_t bulk_bytes_ = -1;   // -1: the argument's head is not read yet
  std::vector<Extent> extents_;
  std::vector<std::string> inline_args_;
  std::vector<std::string_view> argv_;
  std::string error_;
};

}  // namespace cairn
