// SPDX-License-Identifier: BSD-3-Clause
#include "replication/memory_database_saves.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "base/clock.h"
#include "base/log.h"
#include "config/config.h"
#include "rdb/rdb_disk.h"
#include "replication/rdb_file_reader.h"
#include "storage/store.h"

namespace cairn {

MemoryDatabaseSaves::Version MemoryDatabaseSaves::Present() const {
  return {store_.engines().MemorySequence(), store_.databases().epoch()};
}

void MemoryDatabaseSaves::NoteSaved(const Version& version) {
  const MutexLock lock(mutex_);
  saved_ = version;
}

int64_t MemoryDatabaseSaves::IntervalMs() const { return config_.settings().memory_databases_save_s * 1000; }

Status MemoryDatabaseSaves::Load() {
  TRY(LoadFile());
  looked_ms_ = MonotonicMs();
  is_loaded_ = true;
  return Ok();
}

Status MemoryDatabaseSaves::LoadFile() {
  saves_.DeleteUnfinished();
  const std::string path = saves_.Path();
  if (store_.engines().memory() == nullptr || !std::filesystem::exists(path)) return Ok();
  if (IntervalMs() == 0) {
    Log(LogSeverity::kNotice, "{} is not loaded, because memory-databases-save is 0", path);
    return Ok();
  }
  RdbInputFile file;
  TRY(file.Open(path));
  const auto txn = std::make_unique<Transaction>(store_);
  RdbTarget target;
  target.databases = store_.databases().size();
  target.checksum = config_.Flag("rdbchecksum");
  target.keyspace = [&](int db) { return Keyspace(*txn, db, config_.limits()); };
  target.wants = [&](int db) { return ModeOfKeyspace(store_.databases()[db].keyspace.load()) == StorageMode::kMemory; };
  RdbFileReader reader(*txn, std::move(target), file.source());
  const Status loaded = reader.Load();
  if (!loaded.ok()) {
    return Status::Io(
        fmt::format("{}: {}. To start with empty databases in memory, move the file away.", path, loaded.text()));
  }
  for (const std::string& warning : reader.warnings()) Log(LogSeverity::kWarning, "{}: {}", path, warning);
  Log(LogSeverity::kNotice, "Databases in memory loaded from {}: {} keys, {} expired keys skipped", path, reader.keys(),
      reader.expired());
  NoteSaved(Present());
  return Ok();
}

void MemoryDatabaseSaves::Watch() {
  if (!is_loaded_) return;
  const int64_t now_ms = MonotonicMs();
  if (now_ms - looked_ms_ < IntervalMs()) return;
  looked_ms_ = now_ms;
  if (!HasUnsaved()) return;
  const Version present = Present();
  if (saves_.StartInBackground().ok()) NoteSaved(present);
}

bool MemoryDatabaseSaves::HasUnsaved() const {
  if (!is_loaded_ || IntervalMs() == 0 || store_.engines().memory() == nullptr) return false;
  if (!state().last_ok || saves_.in_background()) return true;
  const MutexLock lock(mutex_);
  return Present() != saved_;
}

Status MemoryDatabaseSaves::SaveAtEnd() {
  if (!HasUnsaved()) return Ok();
  const Version present = Present();
  TRY(saves_.SaveAtEnd());
  NoteSaved(present);  // only now: another SHUTDOWN must not end the server before
  return Ok();
}

}  // namespace cairn
