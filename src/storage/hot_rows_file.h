// SPDX-License-Identifier: BSD-3-Clause
//
// HotRowsFile: the file `key-cache` of the data directory (docs/format.md, section 10). It lists the most used rows of
// the key cache by their tagged row keys, without values, compressed by Zstd. storage/cache_warmup.h writes it and
// reads the rows back.
//
// Thread: any that may wait.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cache/row_names.h"

namespace cairn {

inline constexpr std::string_view kHotRowsFileName = "key-cache";

// The file's bytes.
std::string EncodeHotRows(const HotRows& rows);
// Both lists are sorted. kCorruption that names the field; also if the names take more than `most_bytes` before
// compression.
Result<HotRows> DecodeHotRows(std::string_view bytes, uint64_t most_bytes);

// Replaces the file in `dir`; a crash leaves the old or the new one. kIo if the disk fails.
Status WriteHotRows(const std::string& dir, const HotRows& rows);
// No names if there is no file. kCorruption also for a file, or names, of more than `most_bytes`.
Result<HotRows> ReadHotRows(const std::string& dir, uint64_t most_bytes);

}  // namespace cairn
