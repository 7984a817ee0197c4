// SPDX-License-Identifier: BSD-3-Clause
//
// BACKUP: physical, incremental backups into `backup-dir` (storage/backups.h).
#include <filesystem>
#include <string>
#include <vector>

#include "base/number.h"
#include "command/args.h"
#include "command/context.h"
#include "command/help.h"
#include "command/parts.h"
#include "config/config.h"
#include "server/families.h"
#include "storage/backups.h"

namespace cairn {
namespace {

Result<std::string> Folder(const BackupParts& parts) {
  const std::string dir = parts.config.Text("backup-dir");
  if (dir.empty()) return Status::Reply("ERR backup-dir is not set");
  return (std::filesystem::path(parts.config.Text("dir")) / dir).string();
}

// BACKUP START
Status BackupStart(const BackupParts& parts, CommandContext&, Args&, Reply& reply) {
  const std::string dir = TRY(Folder(parts));
  TRY(parts.backups.Start(dir, static_cast<uint64_t>(parts.config.Number("backup-rate-limit"))));
  reply.Simple("Backup started");
  return Ok();
}

// BACKUP STATUS
Status BackupStatus(const BackupParts& parts, CommandContext&, Args&, Reply& reply) {
  const BackupProgress progress = parts.backups.Progress();
  const auto number = [&reply](std::string_view name, int64_t value) {
    reply.Bulk(name);
    reply.Integer(value);
  };
  constexpr size_t kFields = 7;
  reply.Map(kFields);
  reply.Bulk("state");
  reply.Bulk(progress.is_running ? "running" : "idle");
  reply.Bulk("result");
  reply.Bulk(progress.result);
  number("id", progress.id);
  number("started-unix-time", progress.started_ms / 1000);
  number("ended-unix-time", progress.ended_ms / 1000);
  number("bytes-copied", static_cast<int64_t>(progress.copied_bytes));
  number("bytes-total", static_cast<int64_t>(progress.total_bytes));
  return Ok();
}

// BACKUP LIST
Status BackupList(const BackupParts& parts, CommandContext&, Args&, Reply& reply) {
  const std::string dir = TRY(Folder(parts));
  const std::vector<BackupEntry> backups = TRY(ListBackups(dir)).complete;
  reply.Array(backups.size());
  for (const BackupEntry& backup : backups) {
    constexpr size_t kFields = 4;
    reply.Map(kFields);
    reply.Bulk("id");
    reply.Integer(backup.id);
    reply.Bulk("unix-time");
    reply.Integer(backup.unix_s);
    reply.Bulk("bytes");
    reply.Integer(static_cast<int64_t>(backup.bytes));
    reply.Bulk("files");
    reply.Integer(backup.files);
  }
  return Ok();
}

// BACKUP DELETE id
Status BackupDelete(const BackupParts& parts, CommandContext&, Args& args, Reply& reply) {
  args.Skip(1);
  const auto id = ParseInt64(args.Bytes());
  if (!id || *id <= 0 || *id > UINT32_MAX) return Status::Reply("ERR Invalid backup id");
  const std::string dir = TRY(Folder(parts));
  TRY(parts.backups.Delete(dir, static_cast<uint32_t>(*id)));
  reply.Ok();
  return Ok();
}

// BACKUP ABORT
Status BackupAbort(const BackupParts& parts, CommandContext&, Args&, Reply& reply) {
  if (!parts.backups.Abort()) return Status::Reply("ERR No backup in progress");
  reply.Ok();
  return Ok();
}

constexpr std::string_view kHelp[] = {
    "ABORT",       "    End the running backup and delete its files.",
    "DELETE <id>", "    Delete a backup; files that other backups share stay.",
    "LIST",        "    Show the complete backups in backup-dir.",
    "START",       "    Start a backup into backup-dir; only files that no backup has are copied.",
    "STATUS",      "    Show the progress or the result of the last backup.",
};

constexpr uint32_t kFlags = kAdmin | kNoScript;
constexpr auto kGroup = Group::kServer;

// clang-format off
constexpr CommandRow kSubcommandRows[] = {
    {.name = "abort", .arity = 2, .flags = kFlags, .run = With<BackupAbort>, .group = kGroup, .since = "7.2.0",
     .summary = "Ends the running backup.", .complexity = "O(1)"},
    {.name = "delete", .arity = 3, .flags = kFlags | kNoMulti | kSlowLane, .run = With<BackupDelete>, .group = kGroup,
     .since = "7.2.0", .summary = "Deletes a backup.", .complexity = "O(N) with N the files of all backups",
     .syntax = "id"},
    {.name = "list", .arity = 2, .flags = kFlags | kNoMulti | kSlowLane, .run = With<BackupList>, .group = kGroup,
     .since = "7.2.0", .summary = "Returns the complete backups.",
     .complexity = "O(N) with N the files of all backups"},
    {.name = "start", .arity = 2, .flags = kFlags | kNoMulti | kSlowLane, .run = With<BackupStart>, .group = kGroup,
     .since = "7.2.0", .summary = "Starts an incremental backup in the background.",
     .complexity = "O(N) with N the bytes that no backup has"},
    {.name = "status", .arity = 2, .flags = kFlags, .run = With<BackupStatus>, .group = kGroup, .since = "7.2.0",
     .summary = "Returns the progress or the result of the last backup.", .complexity = "O(1)"},
    {.name = "help", .arity = 2, .flags = kLoading | kStale, .run = Help<kHelp>, .group = kGroup, .since = "7.2.0",
     .summary = "Describes the subcommands.", .complexity = "O(1)"},
};

constexpr CommandRow kRows[] = {
    {.name = "backup", .arity = -2, .flags = kSubcommands, .group = kGroup, .since = "7.2.0",
     .summary = "Commands about backups.", .complexity = "Depends on the subcommand.", .subcommands = kSubcommandRows},
};
// clang-format on

}  // namespace

std::span<const CommandRow> BackupCommands() { return kRows; }

}  // namespace cairn
