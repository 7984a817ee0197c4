// SPDX-License-Identifier: BSD-3-Clause
//
// Notifications: messages for channels and names of changed keys. They are delivered in order after the transaction's
// commit. Storage does not look into them; it drops the notifications of commands that fail.
//
// Thread: that of its transaction.
#pragma once

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
  kKeyRead,  // by a client that keeps a copy and had none before; ordered after all earlier notifications
  kAllChanged,
  kKeyExpires,    // the key row is in `channel`, the Unix time in ms in `source`
  kFieldsExpire,  // the same for a hash: the time of the first field to expire
};

struct Notification {
  NotificationKind kind;
  std::string channel;  // the channel of a message; for other kinds the key
  std::string message;
  uint64_t source = 0;  // the client that changed or read the key; 0: none
};

class Notifications {
 public:
  void Add(Notification notification) {
    bytes_ += BytesOf(notification);
    all_.push_back(std::move(notification));
  }
  bool empty() const { return all_.empty(); }
  size_t size() const { return all_.size(); }
  size_t bytes() const { return bytes_; }
  // Returns and removes all: after the commit, or when the transaction was dropped.
  std::vector<Notification> Take() {
    before_command_ = bytes_ = 0;
    return std::exchange(all_, {});
  }

  // ---- the current command
  void BeginCommand() { before_command_ = all_.size(); }
  // Whether the command has added a notification.
  bool has_new() const { return all_.size() > before_command_; }
  void DropCommand() { RollbackTo(before_command_); }
  // Drops all but the first `size`.
  void RollbackTo(size_t size) {
    for (; all_.size() > size; all_.pop_back()) bytes_ -= BytesOf(all_.back());
  }

 private:
  static size_t BytesOf(const Notification& notification) {
    return sizeof notification + notification.channel.size() + notification.message.size();
  }

  std::vector<Notification> all_;
  size_t bytes_ = 0;
  size_t before_command_ = 0;
};

}  // namespace cairn
