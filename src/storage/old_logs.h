// SPDX-License-Identifier: BSD-3-Clause
//
// Old logs: the write-ahead logs whose rows are all in tables. RocksDB moves them into the folder `archive` of the
// data directory and is told never to delete them (storage/tuning.cc): by itself it would look every ten minutes only,
// which at 100 MB a second is 60 GB, and would know nothing of a replica that still reads one.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>

#include "base/result.h"

namespace cairn {

class Store;

// The sequence number from which on somebody reads the log (storage/log_reader.h), or nobody does. It is asked after
// the folder was listed, so that a reader who begins at the log's end meanwhile misses nothing.
using FirstNeeded = std::function<uint64_t()>;
inline constexpr uint64_t kNothingNeeded = std::numeric_limits<uint64_t>::max();

// Deletes the old logs that have nothing from the first sequence number needed on. kIo when the folder cannot be read
// or a file not be deleted. Costs a listing of the folder, and of the whole data directory when something is needed.
// Thread: any, one at a time.
Status DropOldLogs(Store& store, const FirstNeeded& first_needed);

}  // namespace cairn
