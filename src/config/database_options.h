// SPDX-License-Identifier: BSD-3-Clause
//
// The directive `database`: options of one database.
//
// Thread: any; pure functions.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/directive.h"
#include "config/settings.h"
#include "storage/store_options.h"

namespace cairn {

struct DatabaseOptions {
  StorageMode mode = StorageMode::kSsd;
  std::optional<AppendFsync> durability;  // none: that of `appendfsync`

  bool operator==(const DatabaseOptions&) const = default;
};

// database <number> [storage-mode <ssd | hdd | memory>] [durability <always | everysec | none>]; each kept word is the
// whole line of one database.
extern const SpecialSyntax kDatabaseSyntax;

// The options of the databases 0 to `databases` - 1. An error if a line is about a database beyond them.
Result<std::vector<DatabaseOptions>> DatabaseOptionsOf(std::span<const std::string> kept, int databases);

// "always", "everysec" or "none".
std::string_view DurabilityName(AppendFsync durability);

}  // namespace cairn
