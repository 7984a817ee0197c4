// SPDX-License-Identifier: BSD-3-Clause
#include "server/offline.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/file_limit.h"
#include "base/file_mode.h"
#include "base/number.h"
#include "stats/process_memory.h"

namespace cairn {
namespace {

constexpr uint64_t kOtherFiles = 128;  // open files other than tables

// root would leave files that the directory's owner, the server, cannot open.
Status CheckOwner(const std::string& dir) {
  struct stat about {};
  if (geteuid() != 0 || stat(dir.c_str(), &about) != 0 || about.st_uid == 0) return Ok();
  const passwd* const user = getpwuid(about.st_uid);
  const std::string name = user == nullptr ? "#" + std::to_string(about.st_uid) : user->pw_name;
  return Status::Io(dir + " belongs to the user " + name + ": run this program as that user (sudo -u '" + name + "')");
}

}  // namespace

Result<std::unique_ptr<Store>> OpenOffline(const OfflineOptions& options, OfflineUse use) {
  uint64_t budget = DefaultMemoryBudget();
  if (!options.memory_budget.empty()) {
    const auto given = ParseMemory(options.memory_budget);
    if (!given) return Status::Io("memory-budget: '" + options.memory_budget + "' is not a number of bytes");
    if (*given > 0) budget = *given;
  }
  const bool creates = use == OfflineUse::kImport;
  TRY(CheckOwner(options.dir));
  if (creates && mkdir(options.dir.c_str(), 0750) != 0 && errno != EEXIST) {
    return Status::Io("cannot create the directory " + options.dir + ": " + std::strerror(errno));
  }
  std::error_code error;
  if (!creates && !std::filesystem::exists(options.dir + "/CURRENT", error)) {
    return Status::Io(options.dir + (error ? ": " + error.message() : " is not a data directory"));
  }
  StoreOptions store;
  store.dir = options.dir;
  store.databases = options.databases;
  store.imports = creates;
  store.budget = Budget::Of(budget);
  ArrangeMemory(budget);
  HideFilesFromOthers();
  const uint64_t limit = RaiseFileLimit(0);
  store.most_open_tables = limit - std::min(limit / 2, kOtherFiles);
  return Store::Open(store);
}

int RefuseOffline(const char* program, const Status& status) {
  std::fprintf(stderr, "%s: %s\n", program, std::string(status.text()).c_str());
  return 1;
}

}  // namespace cairn
