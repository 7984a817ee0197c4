// SPDX-License-Identifier: BSD-3-Clause
//
// RocksDB's messages, in the server's own log: warnings and errors as they are, the rest at the level `debug`.
//
// RocksDB's own log file is done without for a reason: it lies on the disk of the data, and once that is full, a
// RocksDB built with assertions (Debian's) ends the process at the next message.
//
// Thread: any.
#pragma once

#include <rocksdb/env.h>

#include <memory>

namespace cairn {

std::shared_ptr<rocksdb::Logger> MakeEngineLog();

}  // namespace cairn
