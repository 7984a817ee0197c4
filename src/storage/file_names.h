// SPDX-License-Identifier: BSD-3-Clause
//
// Names in the data directory that belong to RocksDB. Any other file under such a name would destroy the database, at
// once or when RocksDB reaches the number in the name.
//
// Thread: any; pure.
#pragma once

#include <string_view>

namespace cairn {

// Whether RocksDB may give a file or folder this name: CURRENT, MANIFEST-000012, 000034.log, ...
bool IsStoreFileName(std::string_view name);

}  // namespace cairn
