// SPDX-License-Identifier: BSD-3-Clause
//
// RequestParser: a client's bytes, as they arrive, into requests: RESP arrays of bulk strings, or inline
// commands as people type them (Redis serialization protocol specification).
//
// The parser owns the bytes it has been fed. A request's arguments are views into them, valid until the next
// call of Next() or Reserve(). It remembers how far it came, so a large request that arrives in many pieces is not
// read again from its start.
//
// Thread: that of the connection's current lane.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cairn {

struct RequestLimits {
  int64_t max_bulk_bytes = 512ll << 20;  // proto-max-bulk-len
  bool authenticated = true;             // others may send 10 arguments of 16 KB at the most
};

class RequestParser {
 public:
  enum class Outcome : unsigned char { kRequest, kIncomplete, kError };

  // Space for at least `size` more bytes; Filled() says how many were written into it.
  char* Reserve(size_t size);
  // For what is read next: a buffer that the parser is lent, and that ReturnBuffer gives back, takes the place of its
  // own. REQUIRES: what is pending fits.
  void UseBuffer(std::unique_ptr<char[]> buffer, size_t size);
  // Gives the buffer back; what is pending is kept in one of its size. Invalidates argv().
  std::unique_ptr<char[]> ReturnBuffer();
  size_t reserved() const { return capacity_ - filled_; }
  void Filled(size_t size) { filled_ += size; }

  // The next request, possibly empty (an empty line; to be skipped).
  Outcome Next(const RequestLimits& limits);
  std::span<const std::string_view> argv() const { return argv_; }
  // All bytes of that request; valid as long as argv().
  std::string_view request_bytes() const { return {buffer_.get() + request_begin_, consumed_ - request_begin_}; }
  // "Protocol error: ..." after kError; the connection cannot go on.
  const std::string& error() const { return error_; }

  // Bytes fed and not consumed by a finished request: those of arguments that are complete, and those yet to be read.
  size_t pending_bytes() const { return filled_ - consumed_; }
  size_t argument_bytes() const { return position_ - consumed_; }
  size_t unread_bytes() const { return filled_ - position_; }
  size_t capacity() const { return capacity_; }
  // Besides the buffer: what the arguments of a large request are noted in.
  size_t list_bytes() const {
    const size_t bytes = extents_.capacity() * sizeof(Extent) + argv_.capacity() * sizeof(std::string_view) +
                         inline_args_.capacity() * sizeof(std::string);
    return bytes <= kKeptListBytes ? 0 : bytes;
  }
  // How many bytes the argument being read still lacks: worth reserving at once.
  size_t missing_bytes() const;
  // Gives memory back beyond `kept_bytes`, unless a request is being read. Invalidates argv().
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
  size_t request_begin_ = 0;  // of the last one that was read
  size_t position_ = 0;       // how far it has been read
  int64_t args_left_ = -1;    // -1: the request's head is not read yet
  int64_t bulk_bytes_ = -1;   // -1: the argument's head is not read yet
  std::vector<Extent> extents_;
  std::vector<std::string> inline_args_;
  std::vector<std::string_view> argv_;
  std::string error_;
};

}  // namespace cairn
