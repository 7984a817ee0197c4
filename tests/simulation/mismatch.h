// SPDX-License-Identifier: BSD-3-Clause
//
// Mismatch: an exception. The simulation throws it when a reply or the data of Cairn differ from the model's.
#pragma once

#include <string>

namespace cairn::simulation {

struct Mismatch {
  std::string text;
};

}  // namespace cairn::simulation
