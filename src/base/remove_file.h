// SPDX-License-Identifier: BSD-3-Clause
//
// Removing large files a piece at a time. A file system mounted with `discard` (ext4(5)) hands the disk all that a file
// held in one request, and a read that a client waits for stands behind it (docs/decisions/removal.md).
//
// Thread: any that may wait.
#pragma once

#include <string>

namespace cairn {

// Cuts a file down from its end until a small piece is left, for who removes it then. Nothing is done, and nothing
// said, where that cannot be: no such file, no right to write to it, not a plain file, or one with other names (hard
// links), whose bytes somebody else has.
void CutDownToRemove(const std::string& path);

// Removes a folder with all that is in it, its files by CutDownToRemove. What cannot be removed is left.
void RemoveFolder(const std::string& path);

}  // namespace cairn
