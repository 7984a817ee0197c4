// SPDX-License-Identifier: BSD-3-Clause
//
// Directives that name files the server writes: none of them may be RocksDB's (storage/file_names.h).
//
// Thread: any.
#pragma once

#include "base/result.h"
#include "config/config.h"

namespace cairn {

// At the start, before any of the files is opened. kIo with a sentence that names the directive.
Status CheckFileDirectives(const Config& config);

// The text of CONFIG SET's error about `dbfilename`, a part of a sentence.
Status CheckDbFilename(const Config& config);

}  // namespace cairn
