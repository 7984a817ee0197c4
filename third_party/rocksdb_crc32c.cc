// SPDX-License-Identifier: BSD-3-Clause
//
// RocksDB's CRC32C with the processor's CRC instructions. RocksDB decides at compile time whether to use them, and
// Debian builds it for the oldest x86-64, so every byte of the log and of a blob file went through tables. The linker
// redirects RocksDB's calls of `rocksdb::crc32c::Extend` (util/crc32c.h) to the function here (--wrap, ld(1);
// FindRocksDB.cmake).
#include <cstddef>
#include <cstdint>

#include "isal.h"

// `crc` is the checksum of the preceding bytes; the result is that of both. Thread: any; a pure function.
extern "C" uint32_t __wrap__ZN7rocksdb6crc32c6ExtendEjPKcm(uint32_t crc, const char* bytes, size_t size) {
  return isal::Crc32c({bytes, size}, crc);
}
