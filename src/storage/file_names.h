// SPDX-License-Identifier: BSD-3-Clause
//
// Names in the data directory that are RocksDB's. A file of another use under one of them would destroy the database,
// now or when RocksDB comes to the number in it.
//
// Thread: any; pure.
#pragma once

#include <string_view>

namespace cairn {

// Whether RocksDB has files or folders of that kind of name: CURRENT, MANIFEST-000012, 000034.log, ...
bool IsStoreFileName(std::string_view name);

}  // namespace cairn
