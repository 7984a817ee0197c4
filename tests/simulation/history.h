// SPDX-License-Identifier: BSD-3-Clause
//
// History: the states of the model after each commit since the last sync. After a crash the store must be in one of
// them: what was synced is there, and of the rest a prefix of the commits.
//
// Thread: one.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "simulation/model.h"

namespace cairn::simulation {

// The keys that a tick has changed; none: deleted.
using Changes = std::map<KeyName, std::optional<Entry>>;

inline void Apply(const Changes& changes, Keys& keys) {
  for (const auto& [name, entry] : changes) {
    if (entry) {
      keys[name] = *entry;
    } else {
      keys.erase(name);
    }
  }
}

class History {
 public:
  History() : states_(1) {}

  const Keys& newest() const { return states_.back(); }
  void Commit(const Changes& changes) {
    states_.push_back(states_.back());
    Apply(changes, states_.back());
  }
  void NoteSynced() { states_.erase(states_.begin(), states_.end() - 1); }
  // The number of commits since the last sync.
  size_t unsynced() const { return states_.size() - 1; }

  // Finds `actual` among the states and continues from it. If it is none of them, returns the first
  // difference from each.
  std::string ContinueFrom(const Keys& actual, int64_t now_ms);

 private:
  std::vector<Keys> states_;
};

}  // namespace cairn::simulation
