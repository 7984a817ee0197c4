// SPDX-License-Identifier: BSD-3-Clause
//
// The declarations of a script's author: the first line of a script or a library,
//
//   #!lua flags=no-writes,allow-stale        a script for EVAL; may be left out
//   #!lua name=mylib                         a library for FUNCTION LOAD
//
// and the flags, which a library gives with each function. no-cluster and allow-cross-slot-keys matter on a node of a
// cluster.
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
  kNoShebang = 1 << 5,  // no first line: each command is checked by itself
};

// Returns the flag of this name; nullopt if there is none. Names in a script's first line must be in lower case; the
// case of names in a library does not matter.
std::optional<ScriptFlag> FindScriptFlag(std::string_view name, bool any_case);
// The names of the flags that are set, in Redis's order.
std::vector<std::string_view> ScriptFlagNames(uint32_t flags);

struct ScriptHead {
  uint32_t flags = kNoShebang;
  size_t size = 0;  // of the first line; its newline stays in the code, so line numbers do not change
};

// Reads the first line of a script. The error is the client's reply.
Result<ScriptHead> ReadScriptHead(std::string_view body);

struct LibraryHead {
  std::string name;
  size_t size = 0;
};

// Reads the first line of a library. The error is the client's reply.
Result<LibraryHead> ReadLibraryHead(std::string_view code);

// Names of libraries and functions consist of letters, digits and underscores, at least one.
bool IsFunctionName(std::string_view name);
inline constexpr std::string_view kBadFunctionName =
    "Library names can only contain letters, numbers, or underscores(_) and must be at least one character long";

}  // namespace cairn
