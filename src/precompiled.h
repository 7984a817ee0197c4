// SPDX-License-Identifier: BSD-3-Clause
//
// The standard headers most files use, compiled once. No project header belongs here.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
