// SPDX-License-Identifier: BSD-3-Clause
//
// Logs that the start of RocksDB did not replay. Replay ends where a log is torn or damaged. RocksDB then ignores what
// comes behind, but leaves it in its folder, where GetUpdatesSince would find it: a reader of the log would get changes
// that the database does not have, and a RocksDB with assertions (Debian's) would abort the process.
#pragma once

#include "base/result.h"

namespace rocksdb {
class DB;
}

namespace cairn {

// Deletes the logs that were not replayed. All old logs are deleted if one is damaged in the middle (`is_damaged`),
// because the rest of that one may be readable; and if the first record of one cannot be read, because RocksDB reads no
// log then (WalManager::GetSortedWalFiles). kIo: the folder cannot be read or a file cannot be deleted. Cost: reads the
// start of each log. REQUIRES: nothing was written since the database was opened. Thread: the one that opened it.
Status DropUnreplayedLogs(rocksdb::DB& db, bool is_damaged);

}  // namespace cairn
