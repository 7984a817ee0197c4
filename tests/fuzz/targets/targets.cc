// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/targets/target.h"

namespace cairn {

std::span<const FuzzTarget> FuzzTargets() {
  static const FuzzTarget kTargets[] = {kAclTarget,      kBusTarget,    kClientsTarget, kConfigTarget, kDumpTarget,
                                        kEncodingTarget, kFilesTarget,  kHttpTarget,    kJsonTarget,   kLuaTarget,
                                        kMetaTarget,     kRdbTarget,    kRecordsTarget, kRespTarget,   kServersTarget,
                                        kStoredTarget,   kStreamsTarget};
  return kTargets;
}

}  // namespace cairn
