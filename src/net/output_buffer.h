// SPDX-License-Identifier: BSD-3-Clause
//
// OutputBuffer: the bytes for a client. The first part is sent already. Replies that wait for a tick's commit are in
// the rest, in order and without overlaps.
//
// Thread: the one that owns the connection.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cairn {

class OutputBuffer {
 public:
  // The bytes, to be appended to.
  std::string& bytes() { return bytes_; }
  size_t size() const { return bytes_.size(); }
  size_t capacity() const { return bytes_.capacity(); }
  // Takes over the memory of `other`. REQUIRES: the buffer is empty.
  void Adopt(std::string other) { bytes_ = std::move(other); }

  std::string_view unsent() const { return std::string_view(bytes_).substr(sent_); }
  size_t unsent_size() const { return bytes_.size() - sent_; }
  void NoteSent(size_t size) { sent_ += size; }
  // Drops the sent bytes if they are more than half. Returns the memory when everything is sent.
  std::string DropSent() {
    if (sent_ == bytes_.size()) {
      sent_ = 0;
      return std::exchange(bytes_, std::string());
    }
    if (sent_ > bytes_.size() / 2) {
      bytes_.erase(0, sent_);
      sent_ = 0;
    }
    return {};
  }

  // The reply from `begin` to the end waits for the tick's commit. REQUIRES: nothing is sent meanwhile.
  void AwaitCommit(size_t begin) { uncommitted_.push_back({begin, bytes_.size()}); }
  bool has_uncommitted() const { return !uncommitted_.empty(); }
  void NoteCommitted() { uncommitted_.clear(); }
  // Replaces each waiting reply by `error`, because its change was not committed.
  void Replace(std::string_view error) {
    std::string kept;
    size_t end = 0;
    for (const Range& reply : uncommitted_) {
      kept.append(bytes_, end, reply.begin - end).append(error);
      end = reply.end;
    }
    bytes_ = kept.append(bytes_, end);
    uncommitted_.clear();
  }

 private:
  struct Range {
    size_t begin, end;
  };

  std::string bytes_;
  size_t sent_ = 0;
  std::vector<Range> uncommitted_;
};

}  // namespace cairn
