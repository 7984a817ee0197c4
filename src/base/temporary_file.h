// SPDX-License-Identifier: BSD-3-Clause
//
// Files that are written under a temporary name and renamed when complete.
#pragma once

#include <sys/types.h>

#include <string>

namespace cairn {

// Creates a file beside `path` under a random name, open for writing. Nobody can guess the name, so a file or link
// prepared by an attacker is not written to. Its permissions are `mode` without the umask's bits. Returns the
// descriptor and sets `name`; -1 with errno on an error. Thread: any.
int CreateBeside(const std::string& path, mode_t mode, std::string& name);

// Deletes the files that CreateBeside made beside `path` and that were never renamed, because their program was killed.
// REQUIRES: no other program writes one. Thread: any.
void DeleteUnfinishedBeside(const std::string& path);

}  // namespace cairn
