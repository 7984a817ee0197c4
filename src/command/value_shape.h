// SPDX-License-Identifier: BSD-3-Clause
//
// How a value is kept, in the words clients and test suites know from Redis: what OBJECT and DEBUG
// OBJECT say.
//
// Thread: any; pure functions of the entry.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "types/keyspace.h"

namespace cairn {

// Redis's name for the representation of a value of this type and size. REQUIRES: entry.exists()
std::string_view EncodingName(const KeyEntry& entry);

// How many references Redis would count: small integers are shared there. REQUIRES: entry.exists()
Result<int64_t> ReferenceCount(const KeyEntry& entry);

}  // namespace cairn
