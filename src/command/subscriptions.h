// SPDX-License-Identifier: BSD-3-Clause
//
// Subscriptions: the channels, patterns and shard channels of one client.
//
// A command changes them at once but may run again or fail, so the changes of a request are kept. Rewind reverts them,
// or the worker settles them and registers them for delivery (client/pubsub.h).
//
// Thread: the worker that runs the session's commands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cairn {

enum class ChannelKind : uint8_t { kChannel, kPattern, kShard };
inline constexpr size_t kChannelKinds = 3;

class Subscriptions {
 public:
  using Names = std::set<std::string, std::less<>>;
  struct Change {
    ChannelKind kind;
    bool added;
    std::string name;
  };

  const Names& names(ChannelKind kind) const { return names_[static_cast<size_t>(kind)]; }
  size_t count(ChannelKind kind) const { return names(kind).size(); }
  bool empty() const { return names_[0].empty() && names_[1].empty() && names_[2].empty(); }

  // Returns false if nothing changed.
  bool Add(ChannelKind kind, std::string_view name) {
    if (!Of(kind).emplace(name).second) return false;
    changes_.push_back({kind, true, std::string(name)});
    return true;
  }
  bool Remove(ChannelKind kind, std::string_view name) {
    const auto found = Of(kind).find(name);
    if (found == Of(kind).end()) return false;
    changes_.push_back({kind, false, *found});
    Of(kind).erase(found);
    return true;
  }
  void RemoveAll() {
    for (const ChannelKind kind : {ChannelKind::kChannel, ChannelKind::kPattern, ChannelKind::kShard}) {
      while (!names(kind).empty()) Remove(kind, std::string(*names(kind).begin()));
    }
  }

  // Confirmations are sent even if CLIENT REPLY suppresses replies; then they are kept here too.
  void NoteConfirmation(std::string_view resp) { confirmations_.append(resp); }
  const std::string& confirmations() const { return confirmations_; }

  // ---- since the last call of Settled
  bool changed() const { return !changes_.empty(); }
  const std::vector<Change>& changes() const { return changes_; }
  void Settled() {
    changes_.clear();
    confirmations_.clear();
  }
  // Reverts the changes.
  void Rewind() {
    for (; !changes_.empty(); changes_.pop_back()) {
      Change& change = changes_.back();
      if (change.added) {
        Of(change.kind).erase(change.name);
      } else {
        Of(change.kind).insert(std::move(change.name));
      }
    }
    confirmations_.clear();
  }

 private:
  Names& Of(ChannelKind kind) { return names_[static_cast<size_t>(kind)]; }

  Names names_[kChannelKinds];
  std::vector<Change> changes_;
  std::string confirmations_;
};

}  // namespace cairn
