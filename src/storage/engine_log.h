// SPDX-License-Identifier: BSD-3-Clause
//
// Writes RocksDB's messages to the server's own log: warnings and errors with their level, the rest as `debug`.
//
// RocksDB gets no log file of its own: that file would be on the disk of the data, and when the disk is full, a
// RocksDB built with assertions (Debian's) aborts the process at the next message.
//
// Thread: any.
#pragma once

#include <rocksdb/env.h>

#include <memory>

namespace cairn {

std::shared_ptr<rocksdb::Logger> MakeEngineLog();

}  // namespace cairn
