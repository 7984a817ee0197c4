// SPDX-License-Identifier: BSD-3-Clause
//
// Names in the data directory that belong to RocksDB, to the file of hot rows (storage/hot_rows_file.h) or to the list
// of synced files (storage/synced_files.h). Any other file under a name of RocksDB's would destroy the database, at
// once or when RocksDB reaches the number in the name.
//
// Thread: any; pure.
#pragma once

#include <string>
#include <string_view>

namespace cairn {

// Whether the store may give a file or folder this name: CURRENT, MANIFEST-000012, 000034.log, ...
bool IsStoreFileName(std::string_view name);

// The path of a directory without slashes at its end, so that a name can be appended; the root keeps its one.
std::string TrimSlashes(std::string dir);

}  // namespace cairn
