// SPDX-License-Identifier: BSD-3-Clause
//
// RocksDB's CRC32C by the processor's own instructions. Debian builds RocksDB for the oldest x86-64, and whether to use
// them is decided when it is compiled, so every byte of the log and of a blob file went through tables. The linker
// gives RocksDB's calls of `rocksdb::crc32c::Extend` (util/crc32c.h) to the function here (--wrap, ld(1);
// FindRocksDB.cmake).
#include <cstddef>
#include <cstdint>

#include "isal.h"

// `crc` is the checksum of what came before, and the result that of both. Thread: any; a pure function.
extern "C" uint32_t __wrap__ZN7rocksdb6crc32c6ExtendEjPKcm(uint32_t crc, const char* bytes, size_t size) {
  return isal::Crc32c({bytes, size}, crc);
}
