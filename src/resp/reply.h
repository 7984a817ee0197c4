// SPDX-License-Identifier: BSD-3-Clause
//
// Reply: appends values in RESP2 or RESP3 to a buffer (Redis serialization protocol specification). A type that RESP2
// lacks is written in Redis's RESP2 form: a map as a flat array, a set as an array, a double as a bulk string, a
// boolean as 0 or 1.
//
// An aggregate is its length followed by its elements. If the length is known only at the end, Later() reserves the
// place and Finish...() fills it in.
//
// A large reply asks its ReplyRoom each time it grows. If the room refuses, the reply is cut: nothing more is written,
// and the client must be disconnected, because half a reply must not be sent.
//
// Thread: that of the buffer's owner. Not here: error texts (resp/errors.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace cairn {

// Limits the size of a client's reply buffer.
class ReplyRoom {
 public:
  virtual ~ReplyRoom() = default;
  // The buffer is about to hold up to `bytes`. False: it must not, and the client will be disconnected.
  virtual bool MayHold(uint64_t bytes) = 0;
};

class Reply {
 public:
  // Without a room the reply has no size limit.
  Reply(std::string& out, int protocol, ReplyRoom* room = nullptr)
      : out_(out), start_(out.size()), protocol_(protocol), room_(room),
        granted_(room == nullptr ? SIZE_MAX : std::max(kFreeBytes, out.capacity())) {}

  // A part of `whole`, in a buffer of its own; `whole` takes it with Append. A cut of the part cuts `whole` at once,
  // because a command stops when its whole reply is cut (cut_flag).
  Reply(std::string& out, Reply& whole) : Reply(out, whole.protocol_, whole.room_) { whole_ = &whole; }

  int protocol() const { return protocol_; }  // 2 or 3
  void set_protocol(int protocol) { protocol_ = protocol; }

  void Ok() { Raw("+OK\r\n"); }
  void Simple(std::string_view text);  // REQUIRES: no CR or LF in text
  void Error(std::string_view text);   // with its prefix, without '-'; CR and LF become spaces
  void Integer(int64_t value);
  void Bulk(std::string_view bytes);
  void BulkInteger(int64_t value);                                // the digits as a bulk string
  void Null();                                                    // RESP2: null bulk string
  void NullArray();                                               // RESP2: null array
  void Double(double value);                                      // RESP2: bulk string
  void Bool(bool value);                                          // RESP2: 1 or 0
  void BigNumber(std::string_view digits);                        // RESP2: bulk string
  void Verbatim(std::string_view format, std::string_view text);  // format: three characters, "txt"

  void Array(size_t count) { Aggregate('*', count); }
  void Map(size_t pairs);
  void Set(size_t count);
  void Push(size_t count);

  size_t Later() const { return out_.size(); }
  void FinishArray(size_t mark, size_t count) { Insert(mark, '*', count); }
  void FinishMap(size_t mark, size_t pairs);
  void FinishSet(size_t mark, size_t count);

  // Drops everything written after the first `size` bytes since construction. REQUIRES: size <= size()
  void Rewind(size_t size = 0) { out_.resize(start_ + size); }
  // Bytes written since construction.
  size_t size() const { return out_.size() - start_; }
  std::string_view written() const { return std::string_view(out_).substr(start_); }
  // Appends bytes that are RESP already.
  void Raw(std::string_view resp) {
    if (Fits(resp.size())) out_.append(resp);
  }
  // Appends the bytes of a part.
  void Append(const Reply& part) { Raw(part.written()); }

  // Whether `size` more bytes may be written; false cuts the reply.
  bool Fits(size_t size) { return out_.size() + size <= granted_ || Ask(size); }
  // Whether the room has refused more bytes. Commands with long replies should stop.
  bool is_cut() const { return is_cut_; }
  // is_cut() for code without access to the reply (Transaction::StopAt); valid as long as the reply.
  const bool* cut_flag() const { return &is_cut_; }

 private:
  static constexpr size_t kFreeBytes = 64 * 1024;  // allowed without asking

  bool Ask(size_t size);
  void Cut() {
    is_cut_ = true;
    granted_ = 0;
    if (whole_ != nullptr) whole_->Cut();
  }
  void Aggregate(char type, size_t count);
  void Insert(size_t mark, char type, size_t count);

  std::string& out_;
  size_t start_;
  int protocol_;
  ReplyRoom* room_;
  Reply* whole_ = nullptr;  // null: it is not a part
  size_t granted_;          // the size of out_ that is allowed without asking
  bool is_cut_ = false;
};

}  // namespace cairn
