// SPDX-License-Identifier: BSD-3-Clause
//
// What most files of src/command and of the folders above it include, compiled once.
#pragma once

#include <fmt/format.h>

#include "command/args.h"
#include "command/context.h"
#include "types/precompiled.h"
