// SPDX-License-Identifier: BSD-3-Clause
//
// What the author of a script says of it: the first line of a script or a library,
//
//   #!lua flags=no-writes,allow-stale        a script for EVAL; may be left out
//   #!lua name=mylib                         a library for FUNCTION LOAD
//
// and the flags, which a library gives with each function. allow-oom, no-cluster and allow-cross-slot-keys are known
// and have no effect: nothing here is refused for lack of memory, and there is no cluster.
//
// Thread: any; pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cairn {

enum ScriptFlag : uint32_t {
  kNoWrites = 1 << 0,
  kAllowOom = 1 << 1,
  kAllowStale = 1 << 2,
  kNoCluster = 1 << 3,
  kAllowCrossSlotKeys = 1 << 4,
  kNoShebang = 1 << 5,  // nothing is said, so a script may do what each command in it may
};

// The flag of this name; none for one that does not exist. Names of a script's first line are in lower case, those a
// library gives in any.
std::optional<ScriptFlag> FindScriptFlag(std::string_view name, bool any_case);
// The names of the flags that are set, in Redis's order.
std::vector<std::string_view> ScriptFlagNames(uint32_t flags);

struct ScriptHead {
  uint32_t flags = kNoShebang;
  size_t size = 0;  // of the first line; the line's end stays with the code, which keeps its line numbers
};

// Reads the first line of a script. The error is the client's reply.
Result<ScriptHead> ReadScriptHead(std::string_view body);

struct LibraryHead {
  std::string name;
  size_t size = 0;
};

// Reads the first line of a library. The error is the client's reply.
Result<LibraryHead> ReadLibraryHead(std::string_view code);

// Libraries and functions are named by letters, digits and underscores, at least one.
bool IsFunctionName(std::string_view name);
inline constexpr std::string_view kBadFunctionName =
    "Library names can only contain letters, numbers, or underscores(_) and must be at least one character long";

}  // namespace cairn
