// SPDX-License-Identifier: BSD-3-Clause
//
// Amplification: the bytes that RocksDB wrote and read for the bytes that it was given and asked for, since the start:
// as a total, by space and by level. Databases share the column families, so RocksDB does not know these numbers by
// database; it knows the size of a database's key rows.
//
// Thread: any that may wait.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "encoding/row_key.h"

namespace cairn {

class Store;

// Bytes written since the start.
struct WrittenBytes {
  uint64_t rows = 0;         // rows and their keys, as commits hand them to RocksDB
  uint64_t log = 0;          // write-ahead log
  uint64_t flushes = 0;      // tables and blob files, by flushes
  uint64_t compactions = 0;  // the same, by compactions
  // Bytes written for each byte of a row; 0 if there was none.
  double amplification() const {
    return rows == 0 ? 0 : static_cast<double>(log + flushes + compactions) / static_cast<double>(rows);
  }
};
WrittenBytes WrittenBytesOf(Store& store);

// Blocks that point reads had to read from files, for each of them, since the start.
double BlocksPerRead(Store& store);

// The work of compactions (and, in level 0, of flushes) that wrote a level, since the start.
struct LevelWork {
  uint64_t files = 0;
  uint64_t bytes = 0;          // of its tables now
  uint64_t read_bytes = 0;     // from this level and the one above, and from blob files
  uint64_t written_bytes = 0;  // to this level, and to blob files
  uint64_t moved_bytes = 0;    // moved into it without a copy
  uint64_t compactions = 0;
  double write_amplification = 0;  // bytes written for each byte that came from above
};

// Starts with level 0; without empty levels at the end.
std::vector<LevelWork> WorkOfLevels(Store& store, Space space);
// "keys", "elements", ...: the name of the column family, but "meta" for `default`.
std::string_view NameOf(Space space);

// An estimate of the bytes in tables and memtables of a database's key rows: packed values and strings, without spread
// collections and blob files.
uint64_t KeyRowBytes(Store& store, int db);

}  // namespace cairn
