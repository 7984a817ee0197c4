// SPDX-License-Identifier: BSD-3-Clause
//
// cairn-restore: lists the backups of a directory, verifies one, or restores one into an empty directory.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <gflags/gflags.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>

#include "base/file_mode.h"
#include "server/offline.h"
#include "server/tool_flags.h"
#include "storage/backups.h"

DEFINE_string(backup_dir, "", "the directory of the backups, as in the configuration file");
DEFINE_uint32(id, 0, "the backup; 0 is the newest");
DEFINE_bool(list, false, "print the backups");
DEFINE_bool(verify, false, "read all files of the backup and compare their checksums");

namespace {

using namespace cairn;

constexpr char kProgram[] = "cairn-restore";

// An older backup lacks writes, so it does not replace a damaged newest one unless --id names it.
Result<uint32_t> ChooseBackup() {
  const BackupList backups = TRY(ListBackups(FLAGS_backup_dir));
  uint32_t id = FLAGS_id;
  if (id == 0 && !backups.complete.empty()) id = backups.complete.back().id;
  if (FLAGS_id == 0 && !backups.damaged.empty()) id = std::max(id, backups.damaged.back());
  if (id == 0) return Status::Io("there is no backup in " + FLAGS_backup_dir);
  if (std::ranges::find(backups.damaged, id) != backups.damaged.end()) {
    const Status why = VerifyBackup(FLAGS_backup_dir, id);
    return Status::Io(fmt::format("backup {} is damaged: {}. Choose another one with --id", id, why.text()));
  }
  if (std::ranges::find(backups.complete, id, &BackupEntry::id) != backups.complete.end()) return id;
  return Status::Io(fmt::format("there is no backup {} in {}", id, FLAGS_backup_dir));
}

Status List() {
  std::error_code error;
  if (!std::filesystem::is_directory(FLAGS_backup_dir, error)) {
    return Status::Io(FLAGS_backup_dir + (error ? ": " + error.message() : " is not a directory"));
  }
  const BackupList backups = TRY(ListBackups(FLAGS_backup_dir));
  for (const BackupEntry& backup : backups.complete) {
    fmt::print("{}  {:%Y-%m-%d %H:%M:%S} UTC  {} bytes in {} files\n", backup.id, fmt::gmtime(backup.unix_s),
               backup.bytes, backup.files);
  }
  if (backups.damaged.empty()) return Ok();
  return Status::Io(fmt::format("damaged backups: {}", fmt::join(backups.damaged, ", ")));
}

Status Verify() {
  const uint32_t id = TRY(ChooseBackup());
  TRY(VerifyBackup(FLAGS_backup_dir, id));
  fmt::print("backup {} is whole\n", id);
  return Ok();
}

Status Restore(const std::string& target) {
  const uint32_t id = TRY(ChooseBackup());
  TRY(RestoreBackup(FLAGS_backup_dir, id, target));
  fmt::print("backup {} restored to {}\n", id, target);
  return Ok();
}

}  // namespace

int main(int argc, char** argv) {
  ParseToolFlags("--backup-dir DIR (--list | [--id N] (--verify | TARGET))\n\nRestores a backup of Cairn.", 2, argc,
                 argv);
  const int wanted = FLAGS_list || FLAGS_verify ? 1 : 2;
  if (argc != wanted || FLAGS_backup_dir.empty() || (FLAGS_list && FLAGS_verify)) {
    ShowUsage(kProgram);
    return 2;
  }
  HideFilesFromOthers();
  const Status done = FLAGS_list ? List() : FLAGS_verify ? Verify() : Restore(argv[1]);
  return done.ok() ? 0 : RefuseOffline(kProgram, done);
}
