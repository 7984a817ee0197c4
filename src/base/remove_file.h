// SPDX-License-Identifier: BSD-3-Clause
//
// Removes large files in steps. A file system mounted with `discard` (ext4(5)) sends the disk all freed space of a
// file in one request, and a client's read waits behind it (docs/decisions/removal.md).
//
// Thread: any that may wait.
#pragma once

#include <string>

namespace cairn {

// Truncates a file step by step until a small piece is left, which the caller then removes. Silently does nothing if
// the file does not exist, is not writable, is not a regular file, or has other hard links, which share its bytes.
void CutDownToRemove(const std::string& path);

// Removes a folder with its content, files by CutDownToRemove. Skips what cannot be removed.
void RemoveFolder(const std::string& path);

}  // namespace cairn
