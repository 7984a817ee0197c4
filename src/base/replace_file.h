// SPDX-License-Identifier: BSD-3-Clause
//
// Replaces a file atomically: readers see the old text or the new one, also after a power loss.
//
// Thread: any.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/result.h"

namespace cairn {

// Writes `text` to a file in the same folder, syncs it and renames it. Permissions are kept; a new file gets 0600. The
// error is that of the file system.
Status ReplaceFile(const std::filesystem::path& path, std::string_view text);

// Syncs a folder: then the files in it keep their names after a power loss. The error is that of the file system.
Status SyncFolder(const std::filesystem::path& folder);

}  // namespace cairn
