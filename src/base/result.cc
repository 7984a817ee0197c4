// SPDX-License-Identifier: BSD-3-Clause
#include "base/result.h"

namespace cairn {

Status Status::WouldWait() {
  static const Rep rep{Code::kWouldWait, true, "would wait"};
  return Status(&rep);
}

Status Status::MustBlock() {
  static const Rep rep{Code::kMustBlock, true, "must block"};
  return Status(&rep);
}

}  // namespace cairn
