// SPDX-License-Identifier: BSD-3-Clause
//
// The command families of this folder.
#pragma once

#include <span>

#include "command/table.h"

namespace cairn {

std::span<const CommandRow> EvalCommands();
std::span<const CommandRow> ScriptCommands();
std::span<const CommandRow> FunctionCommands();

}  // namespace cairn
