// SPDX-License-Identifier: BSD-3-Clause
//
// Applies the directives `database` and `appendfsync` to the store.
//
// Thread: one at a time: that of the start, or that of CONFIG SET.
#pragma once

#include <vector>

#include "base/result.h"
#include "config/config.h"
#include "storage/store.h"

namespace cairn {

// The storage modes of the databases, for opening a store.
Result<std::vector<StorageMode>> ConfiguredModes(const Config& config);

// Follows the directives now and when they change. Both objects must outlive the last CONFIG SET, whose error may be
// that a database whose storage mode would change has keys.
Status FollowDatabaseSettings(Config& config, Store& store);

}  // namespace cairn
