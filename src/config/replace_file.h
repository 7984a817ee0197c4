// SPDX-License-Identifier: BSD-3-Clause
//
// Replacing a file in one step: readers see the old text or the new one, also after a power loss.
//
// Thread: any.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/result.h"

namespace cairn {

// Writes `text` beside the file, syncs it and renames it into its place; permissions are kept, those of a new file are
// 0600. The error is that of the file system.
Status ReplaceFile(const std::filesystem::path& path, std::string_view text);

}  // namespace cairn
