// SPDX-License-Identifier: BSD-3-Clause
//
// Announcements: what others are to be told once a transaction is committed, in this order: messages for channels, keys
// that changed. They mean nothing to storage, which only sees to it that no more is told than has happened.
//
// Thread: its transaction's.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace cairn {

enum class AnnouncementKind : unsigned char {
  kMessage,
  kShardMessage,
  kKeyChanged,
  kKeyRead,  // with all that was announced before, by a client that keeps a copy
  kAllChanged,
  kKeyExpires,  // the key row is the channel, the Unix time in ms the source
  kFieldsExpire,  // of a hash, likewise: when the first of them does
};

struct Announcement {
  AnnouncementKind kind;
  std::string channel;  // of a message; else the key
  std::string message;
  uint64_t source = 0;  // the client that changed or read the key; 0: nobody
};

class Announcements {
 public:
  void Add(Announcement announcement) { all_.push_back(std::move(announcement)); }
  bool empty() const { return all_.empty(); }
  size_t size() const { return all_.size(); }
  // All of them, once they are committed or given up.
  std::vector<Announcement> Take() {
    before_command_ = 0;
    return std::exchange(all_, {});
  }

  // ---- the command under way
  void BeginCommand() { before_command_ = all_.size(); }
  bool has_commands() const { return all_.size() > before_command_; }
  void DropCommands() { RollbackTo(before_command_); }
  // Drops all but the first `size`.
  void RollbackTo(size_t size) { all_.resize(std::min(all_.size(), size)); }

 private:
  std::vector<Announcement> all_;
  size_t before_command_ = 0;
};

}  // namespace cairn
