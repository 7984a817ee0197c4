// SPDX-License-Identifier: BSD-3-Clause
//
// What most files of src/types, and of the folders above it but below src/command, include, compiled once.
#pragma once

#include "base/precompiled.h"
#include "types/keyspace.h"
