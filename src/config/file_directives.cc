// SPDX-License-Identifier: BSD-3-Clause
#include "config/file_directives.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "rdb/rdb_disk.h"
#include "storage/file_names.h"

namespace cairn {
namespace {

using Path = std::filesystem::path;

// Resolves links and ".." as far as the path exists.
Path Resolve(const Path& path) {
  std::error_code error;
  const Path resolved = std::filesystem::weakly_canonical(path, error);
  return error ? path.lexically_normal() : resolved;
}

bool IsOfStore(const Path& path, const Path& dir) {
  const Path resolved = Resolve(path);
  return resolved.parent_path() == dir && IsStoreFileName(resolved.filename().string());
}

Status CheckIsNoPath(std::string_view dbfilename) {
  if (dbfilename.find('/') == dbfilename.npos) return Ok();
  return Status::Reply("dbfilename can't be a path, just a filename");
}

}  // namespace

Status CheckFileDirectives(const Config& config) {
  const Path given_dir = config.Text("dir");
  if (given_dir.empty()) return Status::Io("dir is empty; it must name a directory");
  TRY(CheckIsNoPath(config.Text("dbfilename")));
  const Path dir = Resolve(std::filesystem::absolute(given_dir));
  std::vector<std::pair<std::string, Path>> files;
  for (const char* const name : {"pidfile", "logfile", "unixsocket"}) files.emplace_back(name, config.Text(name));
  for (const char* const name : {"aclfile", "dbfilename"}) files.emplace_back(name, given_dir / config.Text(name));
  for (const ListenSpec& spec : config.Listeners()) files.emplace_back("listen", spec.unix_path);
  for (const auto& [name, path] : files) {
    if (path.empty() || !IsOfStore(std::filesystem::absolute(path), dir)) continue;
    return Status::Io(name + " names a file of the database: " + path.string());
  }
  return Ok();
}

Status CheckDbFilename(const Config& config) {
  const std::string name = config.Text("dbfilename");
  TRY(CheckIsNoPath(name));
  if (IsStoreFileName(name)) return Status::Reply("dbfilename can't be a name that the database gives its own files");
  if (!CheckMayBeReplaced(config.Text("dir") + "/" + name).ok()) {
    return Status::Reply("dbfilename is the name of a file that is no RDB file");
  }
  return Ok();
}

}  // namespace cairn
