// SPDX-License-Identifier: BSD-3-Clause
//
// Access rights of the files that the process creates.
#pragma once

namespace cairn {

// Makes new files and folders, also RocksDB's, readable only for the user and at most its group, and writable only for
// the user. Other bits of the umask stay set. Called before other threads start.
void HideFilesFromOthers();

}  // namespace cairn
