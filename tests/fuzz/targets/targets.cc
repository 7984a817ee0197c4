// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/targets/target.h"

namespace cairn {

std::span<const FuzzTarget> FuzzTargets() {
  static const FuzzTarget kTargets[] = {kAclTarget,      kBusTarget,   kConfigTarget, kDumpTarget,
                                        kEncodingTarget, kFilesTarget, kHttpTarget,   kJsonTarget,
                                        kLuaTarget,      kRdbTarget,   kRespTarget};
  return kTargets;
}

}  // namespace cairn
