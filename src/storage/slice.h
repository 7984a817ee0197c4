// SPDX-License-Identifier: BSD-3-Clause
//
// Converts to RocksDB's type for bytes. Thread: any.
#pragma once

#include <rocksdb/slice.h>

#include <string_view>

namespace cairn {

inline rocksdb::Slice ToSlice(std::string_view bytes) { return {bytes.data(), bytes.size()}; }

}  // namespace cairn
