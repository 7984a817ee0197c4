// SPDX-License-Identifier: BSD-3-Clause
#include "storage/file_names.h"

#include <algorithm>
#include <iterator>

#include "storage/hot_rows_file.h"
#include "storage/synced_files.h"

namespace cairn {
namespace {

constexpr std::string_view kNames[] = {"CURRENT", "IDENTITY", "LOCK", "LOG", "archive", "lost", kHotRowsFileName};
constexpr std::string_view kBeginnings[] = {"MANIFEST-", "OPTIONS-", "LOG.old", "METADB-", kSyncedFilesName};
constexpr std::string_view kEndings[] = {".sst", ".ldb", ".blob", ".log", ".dbtmp"};  // after a number

bool IsNumber(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

std::string TrimSlashes(std::string dir) {
  while (dir.size() > 1 && dir.ends_with('/')) dir.pop_back();
  return dir;
}

bool IsStoreFileName(std::string_view name) {
  if (std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames)) return true;
  for (const std::string_view beginning : kBeginnings) {
    if (name.starts_with(beginning)) return true;
  }
  const size_t dot = name.find('.');
  return dot != name.npos && IsNumber(name.substr(0, dot)) &&
         std::find(std::begin(kEndings), std::end(kEndings), name.substr(dot)) != std::end(kEndings);
}

}  // namespace cairn
