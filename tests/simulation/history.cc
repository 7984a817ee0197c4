// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/history.h"

namespace cairn::simulation {

std::string History::ContinueFrom(const Keys& actual, int64_t now_ms) {
  std::string differences;
  for (size_t i = states_.size(); i > 0; --i) {
    Model model(states_[i - 1]);
    model.DropExpired(now_ms);
    const std::string difference = FindDifference(model.keys(), actual);
    if (difference.empty()) {
      states_ = {states_[i - 1]};
      return {};
    }
    differences += "\nafter " + std::to_string(i - 1) + " of " + std::to_string(states_.size() - 1) +
                   " commits since the last sync: " + difference;
  }
  return "the state is that after none of the commits" + differences;
}

}  // namespace cairn::simulation
