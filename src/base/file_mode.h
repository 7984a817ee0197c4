// SPDX-License-Identifier: BSD-3-Clause
//
// Who may read the files that the process creates.
#pragma once

namespace cairn {

// Files and folders made from now on, RocksDB's among them, are for the user and at most its group to read, and for the
// user alone to write; what the umask takes away besides stays away. Called before there are threads.
void HideFilesFromOthers();

}  // namespace cairn
