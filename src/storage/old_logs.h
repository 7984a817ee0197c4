// SPDX-License-Identifier: BSD-3-Clause
//
// Old logs: write-ahead logs whose rows are all in tables. RocksDB moves them into the folder `archive` of the data
// directory and is configured never to delete them (storage/tuning.cc): it would check only every ten minutes, which
// at 100 MB a second is 60 GB, and it does not know of a replica that still reads one.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>

#include "base/result.h"

namespace cairn {

class Store;

// Returns the first sequence number that any reader of the log needs (storage/log_reader.h), or kNothingNeeded. It is
// called after the folder was listed, so a reader that starts at the log's end meanwhile loses nothing.
using FirstNeeded = std::function<uint64_t()>;
inline constexpr uint64_t kNothingNeeded = std::numeric_limits<uint64_t>::max();

// Deletes the old logs whose sequence numbers are all below the first needed one. kIo if the folder cannot be read or
// a file cannot be deleted. Cost: a listing of the folder, and of the whole data directory if a log is needed. Thread:
// any, one at a time.
Status DropOldLogs(Store& store, const FirstNeeded& first_needed);

}  // namespace cairn
