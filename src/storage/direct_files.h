// SPDX-License-Identifier: BSD-3-Clause
//
// Files whose tables and blob files are read in sequence, and written, past the page cache (O_DIRECT): a copy of the
// whole database would push out what clients read, and the kernel would write it to the device in bursts.
//
// Thread: any.
#pragma once

#include <rocksdb/file_system.h>

#include <memory>

namespace cairn {

// On file systems without O_DIRECT the page cache is used.
std::shared_ptr<rocksdb::FileSystem> MakeDirectFiles(std::shared_ptr<rocksdb::FileSystem> files);

}  // namespace cairn
