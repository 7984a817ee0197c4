// SPDX-License-Identifier: BSD-3-Clause
//
// What most unit tests include, compiled once. A test still includes what it uses.
#pragma once

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "src/command/precompiled.h"
