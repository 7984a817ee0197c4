// SPDX-License-Identifier: BSD-3-Clause
//
// A file that is written beside its place and moved there when it is whole.
#pragma once

#include <sys/types.h>

#include <string>

namespace cairn {

// Creates a file beside `path`, open for writing, under a name that nobody can foresee, so that no file or link that
// somebody has put there is written to. Its permissions are `mode` without the umask's bits. Returns the descriptor and
// sets `name`; -1 with errno when that cannot be done. Thread: any.
int CreateBeside(const std::string& path, mode_t mode, std::string& name);

}  // namespace cairn
