// SPDX-License-Identifier: BSD-3-Clause
//
// The families of commands of this folder.
#pragma once

#include <span>

#include "command/table.h"

namespace cairn {

std::span<const CommandRow> DumpCommands();

}  // namespace cairn
