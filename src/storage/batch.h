// SPDX-License-Identifier: BSD-3-Clause
//
// Every write into a WriteBatch goes through these functions. RocksDB stores lengths in 32 bits: Put refuses a key or
// a value that does not fit and returns a Status that is easily ignored; Delete and PutLogData truncate the length
// without an error; a memtable adds key and value without a check. These functions check all of it, and a
// cairn::Status cannot be ignored.
//
// Thread: any; pure functions.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace rocksdb {
class ColumnFamilyHandle;
class WriteBatch;
}  // namespace rocksdb

namespace cairn {

// The limit for a row's key and value together, and for a batch's log data. It is 4 GiB less the overhead that RocksDB
// adds to a row (lengths, a sequence number) and FinishCommand adds to the replicated commands.
inline constexpr uint64_t kMostRowBytes = (uint64_t{4} << 30) - (1 << 20);
inline constexpr uint64_t kMostLogDataBytes = kMostRowBytes;

// The client's errors for writes above these limits.
inline constexpr std::string_view kRowTooLarge = "ERR the value is too large to be stored, the most is 4 GB";
inline constexpr std::string_view kReplicatedTooLarge =
    "ERR the changes of one command or transaction are too large to be replicated, the most is 4 GB";

// Returns kIo with a message for the operator if the write is too large; the batch is then unchanged.
Status PutRow(rocksdb::WriteBatch& batch, rocksdb::ColumnFamilyHandle* family, std::string_view row,
              std::string_view value);
Status DeleteRow(rocksdb::WriteBatch& batch, rocksdb::ColumnFamilyHandle* family, std::string_view row);
// All rows in [lower, upper).
Status DeleteRows(rocksdb::WriteBatch& batch, rocksdb::ColumnFamilyHandle* family, std::string_view lower,
                  std::string_view upper);
Status PutLogData(rocksdb::WriteBatch& batch, std::string_view bytes);

// The sequence number of the batch's first row. REQUIRES: the batch was written.
uint64_t SequenceOf(const rocksdb::WriteBatch& batch);

}  // namespace cairn
