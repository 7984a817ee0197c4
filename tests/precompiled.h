// SPDX-License-Identifier: BSD-3-Clause
//
// The headers most unit tests use, compiled once. No project header belongs here but that of the product.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <thread>

#include "src/precompiled.h"
