// SPDX-License-Identifier: BSD-3-Clause
//
// The headers most unit tests use, compiled once. Besides src/precompiled.h no project header belongs here.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <thread>

#include "src/precompiled.h"
