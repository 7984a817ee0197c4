// SPDX-License-Identifier: BSD-3-Clause
//
// Notifications: messages for channels and names of changed keys. They are delivered in this order, once the
// transaction is committed. Storage does not look into them. It drops those of commands that fail.
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

enum class NotificationKind : unsigned char {
  kMessage,
  kShardMessage,
  kKeyChanged,
  kKeyRead,  // with all that was announced before, by a client that keeps a copy
  kAllChanged,
  kKeyExpires,    // the key row is the channel, the Unix time in ms the source
  kFieldsExpire,  // of a hash, likewise: when the first of them does
};

struct Notification {
  NotificationKind kind;
  std::string channel;  // of a message; else the key
  std::string message;
  uint64_t source = 0;  // the client that changed or read the key; 0: nobody
};

class Notifications {
 public:
  void Add(Notification notification) { all_.push_back(std::move(notification)); }
  bool empty() const { return all_.empty(); }
  size_t size() const { return all_.size(); }
  // Removes all and returns them, after the commit or when the transaction was discarded.
  std::vector<Notification> Take() {
    before_command_ = 0;
    return std::exchange(all_, {});
  }

  // ---- the current command
  void BeginCommand() { before_command_ = all_.size(); }
  // Whether the command has announced something.
  bool has_new() const { return all_.size() > before_command_; }
  void DropCommand() { RollbackTo(before_command_); }
  // Drops all but the first `size`.
  void RollbackTo(size_t size) { all_.resize(std::min(all_.size(), size)); }

 private:
  std::vector<Notification> all_;
  size_t before_command_ = 0;
};

}  // namespace cairn
