// SPDX-License-Identifier: BSD-3-Clause
#include "config/database_options.h"

#include <fmt/format.h>

#include <map>

#include "base/number.h"
#include "base/words.h"

namespace cairn {
namespace {

constexpr int64_t kMostDatabases = 1 << 20;
// In the order of AppendFsync.
constexpr std::string_view kDurabilities[] = {"everysec", "always", "none"};

using ByDatabase = std::map<int64_t, DatabaseOptions>;

// Reads `words`, one database's line, into `all`. Options that it does not name stay.
Status AddLine(std::span<const std::string> words, ByDatabase& all) {
  const auto number = words.empty() ? std::nullopt : ParseInt64(words[0]);
  if (!number || *number < 0 || *number >= kMostDatabases) return Status::Reply("the first word must be a database");
  if (words.size() % 2 != 1) return Status::Reply("an option has no value");
  DatabaseOptions& options = all[*number];
  for (size_t i = 1; i < words.size(); i += 2) {
    const std::string_view value = words[i + 1];
    if (EqualsIgnoreCase(words[i], "storage-mode")) {
      const auto mode = StorageModeNamed(value);
      if (!mode) return Status::Reply("storage-mode must be one of the following: ssd, hdd, memory");
      options.mode = *mode;
    } else if (EqualsIgnoreCase(words[i], "durability")) {
      const auto* const found = std::find(std::begin(kDurabilities), std::end(kDurabilities), value);
      if (found == std::end(kDurabilities)) {
        return Status::Reply("durability must be one of the following: always, everysec, none");
      }
      options.durability = static_cast<AppendFsync>(found - std::begin(kDurabilities));
    } else {
      return Status::Reply(fmt::format("unknown option '{}' of a database", words[i]));
    }
  }
  return Ok();
}

std::vector<std::string> Lines(const ByDatabase& all) {
  std::vector<std::string> lines;
  for (const auto& [number, options] : all) {
    if (options == DatabaseOptions()) continue;
    std::string line = std::to_string(number);
    if (options.mode != StorageMode::kSsd) line.append(" storage-mode ").append(NameOf(options.mode));
    if (options.durability) line.append(" durability ").append(DurabilityName(*options.durability));
    lines.push_back(std::move(line));
  }
  return lines;
}

Status AddKept(std::span<const std::string> kept, ByDatabase& all) {
  for (const std::string& line : kept) TRY(AddLine(*SplitWords(line), all));
  return Ok();
}

Result<std::vector<std::string>> Parse(std::span<const std::string> words, std::span<const std::string> current) {
  if (words.size() == 1 && words[0].empty()) return std::vector<std::string>();  // no options
  ByDatabase all;
  TRY(AddKept(current, all));
  TRY(AddLine(words, all));
  return Lines(all);
}

std::vector<std::string> WholeLines(std::span<const std::string> kept) { return {kept.begin(), kept.end()}; }

std::string Text(std::span<const std::string> kept) {
  std::string text;
  for (const std::string& line : kept) text.append(text.empty() ? "" : "\n").append(line);
  return text;
}

}  // namespace

const SpecialSyntax kDatabaseSyntax = {.parse = Parse, .lines = WholeLines, .text = Text};

std::string_view DurabilityName(AppendFsync durability) { return kDurabilities[static_cast<int>(durability)]; }

Result<std::vector<DatabaseOptions>> DatabaseOptionsOf(std::span<const std::string> kept, int databases) {
  ByDatabase all;
  TRY(AddKept(kept, all));
  std::vector<DatabaseOptions> options(static_cast<size_t>(databases));
  for (const auto& [number, some] : all) {
    if (number >= databases) return Status::Reply(fmt::format("database {} is beyond `databases`", number));
    options[static_cast<size_t>(number)] = some;
  }
  return options;
}

}  // namespace cairn
