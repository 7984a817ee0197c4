// SPDX-License-Identifier: BSD-3-Clause
//
// Checks directives that name files which the server writes: none may be a file of RocksDB (storage/file_names.h).
// `dbfilename` may not be a path, and `dir` must have a name.
//
// Thread: any.
#pragma once

#include "base/result.h"
#include "config/config.h"

namespace cairn {

// Call it at the start, before any of the files is opened. kIo with a sentence that names the directive.
Status CheckFileDirectives(const Config& config);

// Returns the text of CONFIG SET's error about `dbfilename`, a part of a sentence.
Status CheckDbFilename(const Config& config);

}  // namespace cairn
