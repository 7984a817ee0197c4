// SPDX-License-Identifier: BSD-3-Clause
//
// cairn-check: verifies a data directory that no server has open, and names what is damaged. --salvage copies the rest
// into a new directory. The directory itself is never written to.
#include <fmt/format.h>
#include <gflags/gflags.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/file_mode.h"
#include "base/remove_file.h"
#include "check/findings.h"
#include "check/row_check.h"
#include "check/salvage.h"
#include "server/progress_bar.h"
#include "server/tool_flags.h"
#include "storage/file_names.h"
#include "storage/offline_database.h"
#include "storage/synced_files.h"

DEFINE_string(salvage, "", "the new directory for what can be read");
DEFINE_uint64(most, 100, "the most sentences to print of each kind of damage");

namespace {

using namespace cairn;

constexpr char kProgram[] = "cairn-check";
constexpr int kClean = 0;
constexpr int kDamaged = 1;
constexpr int kCouldNotLook = 2;

// Returns the tables that cannot be opened.
std::vector<uint64_t> CheckFiles(const OfflineDatabase& database, Findings& findings) {
  ProgressBar bar("reading tables", database.table_bytes(), "B");
  uint64_t checked = 0;
  const std::vector<DamagedTable> tables = database.CheckTables([&](uint64_t bytes) { bar.Show(checked = bytes, ""); });
  bar.Finish(checked, "");
  std::vector<uint64_t> unopened;
  for (const DamagedTable& table : tables) {
    findings.Damage("damaged tables", table.sentence);
    if (!table.opens) unopened.push_back(table.number);
  }
  for (const std::string& sentence : database.CheckBlobFiles()) findings.Damage("damaged blob files", sentence);
  for (const std::string& sentence : database.log_damage()) {
    findings.Damage("damaged pieces of logs", "The log is damaged in the middle: " + sentence + ".");
  }
  if (const Status whole = CheckSyncedFiles(database.dir()); !whole.ok()) {
    findings.Damage("missing or cut logs and manifests", std::string(whole.text()) + ".");
  }
  return unopened;
}

int Verify(const std::string& dir, Findings& findings) {
  if (const Status options = CheckOptionsFile(dir); !options.ok()) {
    findings.Damage("damaged OPTIONS files",
                    fmt::format("OPTIONS is damaged or missing, which a start mends: {}.", options.text()));
  }
  const auto database = OfflineDatabase::Open(dir);
  if (!database.ok()) {
    findings.Damage("unreadable manifests",
                    fmt::format("CURRENT or MANIFEST is damaged or missing: {}.", database.status().text()));
    Findings::Note("Tables and rows were not checked. --salvage makes a new manifest from the tables.");
  } else if (CheckFiles(**database, findings); findings.total() > 0) {
    Findings::Note("Rows are checked all the same; damage that follows from the above is named again.");
  } else if ((*database)->LogIsTorn()) {
    Findings::Note("The last record of the log is incomplete, as after kill -9 or a power loss. That is no damage.");
  }
  if (database.ok()) {
    ProgressBar bar("checking rows", 0, "rows");
    uint64_t checked = 0;
    RowCheck(**database, findings, [&](uint64_t rows) { bar.Show(checked = rows, ""); }).Run();
    bar.Finish(checked, "");
  }
  if (findings.Summarize() == 0) {
    std::printf("%s is whole.\n", dir.c_str());
    return kClean;
  }
  std::printf("%s is damaged. cairn-check --salvage=TO %s copies what can be read to the new directory TO.\n",
              dir.c_str(), dir.c_str());
  return kDamaged;
}

// A folder of this run, removed at its end. Thread: main.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  ~TemporaryFolder() {
    if (is_ours_) RemoveFolder(path_);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  // Refuses a folder that exists.
  Status Create() {
    std::error_code error;
    is_ours_ = std::filesystem::create_directory(path_, error);
    if (is_ours_) return Ok();
    return Status::Io(path_ + (error ? ": " + error.message() : " exists; remove it or choose another directory"));
  }
  const std::string& path() const { return path_; }

 private:
  const std::string path_;
  bool is_ours_ = false;
};

// Refuses a target that is not empty, or that is in the damaged directory, before anything is read.
Status CheckTarget(const std::string& dir, const std::string& to) {
  std::error_code error;
  if (std::filesystem::exists(to, error) && !std::filesystem::is_empty(to, error)) {
    return Status::Io(to + " is not empty");
  }
  const std::filesystem::path from = std::filesystem::weakly_canonical(dir, error);
  const std::filesystem::path target = std::filesystem::weakly_canonical(to, error);
  const auto differ = std::mismatch(from.begin(), from.end(), target.begin(), target.end());
  if (differ.first == from.end()) return Status::Io(to + " is in " + dir + ", which is not changed");
  return Ok();
}

Result<uint64_t> Copy(const std::string& dir, const std::string& to, Findings& findings) {
  TRY(CheckTarget(dir, to));
  TemporaryFolder copy(to + ".reading");  // only for damage that prevents reading in place
  auto database = OfflineDatabase::Open(dir);
  std::vector<uint64_t> unopened;
  if (database.ok()) unopened = CheckFiles(**database, findings);
  if (!database.ok() || !unopened.empty() || !CheckSyncedManifest(dir).ok()) {
    if (!database.ok()) findings.Damage("unreadable manifests", std::string(database.status().text()) + ".");
    TRY(copy.Create());
    TRY(MakeReadableCopy(dir, copy.path(), unopened));
    database = OfflineDatabase::Open(copy.path());
    if (!database.ok()) return Status::Io(database.status().text());
  }
  ProgressBar bar("copying", 0, "keys");
  Result<uint64_t> keys = Salvage(**database, findings, [&bar](uint64_t done) { bar.Show(done, ""); }).CopyTo(to);
  if (keys.ok()) {
    bar.Finish(*keys, "");
    TRY(GiveFilesAsRoot(to, dir));
  }
  database = Status::Io("closed");  // before its folder is removed
  return keys;
}

int SalvageTo(const std::string& dir, const std::string& to, Findings& findings) {
  const Result<uint64_t> keys = Copy(dir, to, findings);
  if (!keys.ok()) {
    std::fprintf(stderr, "%s: %s\n", kProgram, std::string(keys.status().text()).c_str());
    std::fflush(nullptr);
    std::_Exit(kCouldNotLook);  // the target may be open (storage/row_loader.h)
  }
  const bool is_damaged = findings.Summarize() > 0;
  std::printf("%llu keys were copied to %s. %s is unchanged.\n", static_cast<unsigned long long>(*keys), to.c_str(),
              dir.c_str());
  return is_damaged ? kDamaged : kClean;
}

}  // namespace

int main(int argc, char** argv) {
  ParseToolFlags(
      "[--salvage TO] DIR\n\nVerifies a data directory of Cairn that no server has open. The exit "
      "status is 0 if it is whole, 1 if it is damaged, 2 if it could not be looked at.",
      kCouldNotLook, argc, argv);
  if (argc != 2) {
    ShowUsage(kProgram);
    return kCouldNotLook;
  }
  HideFilesFromOthers();
  const std::string dir = argv[1];
  const Result<DirectoryLock> lock = DirectoryLock::Take(dir);
  if (!lock.ok()) {
    std::fprintf(stderr, "%s: %s\n", kProgram, std::string(lock.status().text()).c_str());
    return kCouldNotLook;
  }
  Findings findings(FLAGS_most);
  return FLAGS_salvage.empty() ? Verify(dir, findings) : SalvageTo(dir, TrimSlashes(FLAGS_salvage), findings);
}
