// SPDX-License-Identifier: BSD-3-Clause
//
// SyncedFiles: the file `synced-files` of the data directory (docs/format.md, section 12). It lists the manifest and
// the logs that were synced, each with its size then, so that a start notices if one of them is missing or shorter.
//
// RocksDB would not notice. It takes a file that ends early for one whose end a power loss has torn, and does not know
// which logs there were. Its option track_and_verify_wals_in_manifest does not help: in RocksDB 7.8 a start may report
// a log as missing that was deleted before the manifest was replaced.
//
// The list never demands too much:
//   - It is written without a sync, after each sync of the manifest and after the first one of a log. After a power
//     loss it may be older, and an older list demands less.
//   - Before a listed log is removed or moved away, the list without it and older logs is written and synced.
//   - It is valid while CURRENT names its manifest. Each start begins a new manifest. So a list is not valid if a
//     program that does not know it has opened the directory since, or a repair.
//
// A log is listed when its name is on disk too: the directory is synced first.
//
// Cost: a small file is written per change of the manifest, and synced when logs are removed, once if the newest goes
// first.
// An error of the list refuses only the removal of a log. A list that was not written at all is an older one, or none,
// so the next start may not notice damage, but it refuses nothing that is whole.
//
// Thread: any.
#pragma once

#include <rocksdb/file_system.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cairn {

inline constexpr std::string_view kSyncedFilesName = "synced-files";

// Files that write the list of the directory `dir`. An error of the list alone refuses only the removal of a log.
std::shared_ptr<rocksdb::FileSystem> MakeSyncedFiles(std::shared_ptr<rocksdb::FileSystem> files, std::string dir);

// kCorruption that names a listed file which is missing or too short. Ok without a valid list. kIo if the list or
// CURRENT cannot be read, for example because it is a directory. REQUIRES: no engine has the directory open.
Status CheckSyncedFiles(const std::string& dir);
// The same for the manifest alone.
Status CheckSyncedManifest(const std::string& dir);

}  // namespace cairn
