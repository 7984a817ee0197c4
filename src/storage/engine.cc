// SPDX-License-Identifier: BSD-3-Clause
#include "storage/engine.h"

#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/rate_limiter.h>
#include <rocksdb/statistics.h>
#include <rocksdb/write_buffer_manager.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/number.h"
#include "storage/compaction_pace.h"
#include "storage/concatenated_rows.h"
#include "storage/disk_reserve.h"
#include "storage/disk_room.h"
#include "storage/engine_log.h"
#include "storage/file_names.h"
#include "storage/flush_nudge.h"
#include "storage/format.h"
#include "storage/log_files.h"
#include "storage/manifest_failure.h"
#include "storage/open_tables.h"
#include "storage/ready_reads.h"
#include "storage/reserved_files.h"
#include "storage/retryable_files.h"
#include "storage/slice.h"
#include "storage/synced_files.h"
#include "storage/tuning.h"
#include "storage/unreplayed_logs.h"

namespace cairn {
namespace {

// The path in an environment of its own (rocksdb::NewMemEnv).
constexpr char kDirInMemory[] = "/cairn-memory";
constexpr int kTablesOfCheck = 64;  // open at once while a database that may be another program's is looked at

// The options of the engine in memory. What bounds files or the disk does not apply.
StoreOptions InMemory(StoreOptions options) {
  options.dir = kDirInMemory;
  options.in_memory = true;
  options.compaction_bytes_per_second = 0;
  options.keeps_logs = false;
  options.blobs.min_bytes = 0;
  options.direct_io = false;
  options.bottom_zstd = false;
  options.imports = false;
  return options;
}

// None in a new directory.
std::vector<std::string> ListFamilies(const rocksdb::DBOptions& options, const std::string& dir) {
  std::vector<std::string> names;
  return rocksdb::DB::ListColumnFamilies(options, dir, &names).ok() ? names : std::vector<std::string>();
}

bool Contains(const std::vector<std::string>& families, Space space, StorageMode mode) {
  return std::find(families.begin(), families.end(), FamilyName(space, mode)) != families.end();
}

// Whether a family is missing that every database of Cairn has.
bool LacksFamilies(const std::vector<std::string>& families) {
  for (int i = 0; i < kSpaceCount; ++i) {
    if (!Contains(families, static_cast<Space>(i), StorageMode::kSsd)) return true;
  }
  return false;
}

// Whether these are RocksDB's words for a LOCK file that another process has locked, or this one.
bool IsLocked(std::string_view why) {
  return why.find("While lock file") != why.npos || why.find("lock hold by current process") != why.npos;
}

Status CannotOpen(const std::string& dir, std::string_view why) {
  if (IsLocked(why)) {
    return Status::Io("cannot open the data in " + dir + ": a server has it open (its LOCK file is locked)");
  }
  return Status::Io("cannot open the data in " + dir + ": " + std::string(why) +
                    "; cairn-check tells what is damaged and salvages the rest");
}

// Refuses the database of another program: it has rows, but not Cairn's row of the format. That program could not open
// it any more with Cairn's families. Ok if it cannot be opened, which the opening for writes reports.
Status CheckIsOurs(const rocksdb::DBOptions& options, const std::string& dir) {
  rocksdb::DBOptions reads;
  reads.env = options.env;
  reads.max_open_files = kTablesOfCheck;
  std::vector<rocksdb::ColumnFamilyHandle*> families;
  rocksdb::DB* opened = nullptr;
  const rocksdb::ColumnFamilyDescriptor meta(FamilyName(Space::kMeta), rocksdb::ColumnFamilyOptions());
  if (!rocksdb::DB::OpenForReadOnly(reads, dir, {meta}, &families, &opened).ok()) return Ok();
  const std::unique_ptr<rocksdb::DB> db(opened);
  const std::unique_ptr<rocksdb::ColumnFamilyHandle> family(families[0]);
  const std::unique_ptr<rocksdb::Iterator> rows(db->NewIterator(rocksdb::ReadOptions(), family.get()));
  rows->SeekToFirst();
  if (!rows->Valid() && rows->status().ok()) return Ok();  // an interrupted first start
  std::string format;
  const RowKey row = MakeMetaRow(kFormatRow);
  const rocksdb::Status found = db->Get(rocksdb::ReadOptions(), family.get(), ToSlice(row.row()), &format);
  return found.ok() || found.IsNotFound() ? CheckFormat(format) : Ok();
}

// Without CURRENT, RocksDB makes a new database and deletes the files of the old one.
Status CheckCurrent(const std::string& dir) {
  std::error_code error;
  if (std::filesystem::exists(dir + "/CURRENT", error)) return Ok();
  for (const auto& entry : std::filesystem::directory_iterator(dir, error)) {
    const std::filesystem::path name = entry.path().filename();
    if (!IsStoreFileName(name.string())) continue;
    for (const char* extension : {".sst", ".blob", ".log"}) {
      if (name.extension() == extension) return CannotOpen(dir, "CURRENT is missing, and " + name.string() + " exists");
    }
  }
  return Ok();
}

}  // namespace

Status FromRocksDb(const rocksdb::Status& status) {
  if (status.ok()) return Ok();
  if (status.IsIncomplete()) return Status::WouldWait();
  if (status.IsCorruption()) return Status::Corruption(status.ToString());
  return Status::Io(status.ToString());
}

Engine::Engine(const StoreOptions& options)
    : options_(FitToDisk(options)), disk_reserve_(std::make_unique<DiskReserve>(options.dir)),
      open_tables_(std::make_shared<OpenTables>(options.most_open_tables)), blob_files_(*this, options.blobs),
      manifest_failure_(std::make_shared<ManifestFailure>()),
      parts_(std::make_unique<SharedParts>(MakeSharedParts(options_))) {
  log_files_ = std::make_shared<LogFiles>(MakeReservedFiles(MakeTableFiles(open_tables_), *disk_reserve_));
  env_ = rocksdb::NewCompositeEnv(MakeRetryableFiles(MakeSyncedFiles(log_files_, options_.dir), manifest_failure_));
}

Engine::Engine(const Engine& disk)
    : options_(InMemory(disk.options_)), disk_reserve_(std::make_unique<DiskReserve>(options_.dir)),
      open_tables_(std::make_shared<OpenTables>(0)), blob_files_(*this, options_.blobs),
      manifest_failure_(std::make_shared<ManifestFailure>()),
      parts_(std::make_unique<SharedParts>(MakeSharedParts(options_))),
      env_(rocksdb::NewMemEnv(rocksdb::Env::Default())) {
  parts_->block_cache = disk.parts_->block_cache;
  parts_->write_buffers = disk.parts_->write_buffers;
}

Engine::~Engine() = default;

rocksdb::DBOptions Engine::DatabaseOptions(std::vector<std::shared_ptr<rocksdb::EventListener>> listeners) {
  compaction_pace_ = std::make_unique<CompactionPace>(parts_->rate_limiter, options_.compaction_bytes_per_second);
  rocksdb::DBOptions options = TuneDatabase(options_, *parts_);
  options.max_open_files = options_.in_memory ? -1 : open_tables_->MaxOpenFilesFor(options_.dir);
  options.env = env_.get();
  if (options_.in_memory) options.rate_limiter = nullptr;  // NewMemEnv's files cannot use it
  options.listeners = std::move(listeners);
  options.listeners.push_back(write_stalls_.MakeListener());
  return options;
}

rocksdb::ColumnFamilyOptions Engine::FamilyOptions(Space space, StorageMode mode) const {
  rocksdb::ColumnFamilyOptions family = TuneFamily(space, mode, options_, *parts_);
  family.compaction_filter_factory = filter_of_(space);
  return family;
}

Status Engine::Open(const FilterOf& filter_of, std::vector<std::shared_ptr<rocksdb::EventListener>> listeners) {
  filter_of_ = filter_of;
  rocksdb::DBOptions db_options = DatabaseOptions(std::move(listeners));
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  for (int i = 0; i < kSpaceCount; ++i) {
    const auto space = static_cast<Space>(i);
    descriptors.emplace_back(FamilyName(space), FamilyOptions(space, StorageMode::kSsd));
  }
  const std::vector<std::string> families = ListFamilies(db_options, options_.dir);
  if (Contains(families, kHddSpaces[0], StorageMode::kHdd)) {
    for (const Space space : kHddSpaces) {
      descriptors.emplace_back(FamilyName(space, StorageMode::kHdd), FamilyOptions(space, StorageMode::kHdd));
    }
  }
  if (options_.in_memory) {
    TRY(FromRocksDb(env_->CreateDirIfMissing(options_.dir)));
  } else {
    TRY(CheckCurrent(options_.dir));
    if (!families.empty() && LacksFamilies(families)) TRY(CheckIsOurs(db_options, options_.dir));
    if (const Status whole = CheckSyncedFiles(options_.dir); !whole.ok()) return CannotOpen(options_.dir, whole.text());
  }
  std::vector<rocksdb::ColumnFamilyHandle*> opened_families;
  rocksdb::DB* db = nullptr;
  rocksdb::Status opened = rocksdb::DB::Open(db_options, options_.dir, descriptors, &opened_families, &db);
  if (opened.IsIOError() && !IsLocked(opened.ToString())) {
    // A full disk has no room to flush the rows that the log holds, but it may have a few KB for a new manifest.
    db_options.avoid_flush_during_recovery = true;
    opened = SyncLogs(*env_, options_.dir);
    if (opened.ok()) opened = rocksdb::DB::Open(db_options, options_.dir, descriptors, &opened_families, &db);
  }
  if (!opened.ok()) {
    return CannotOpen(options_.dir, opened.ToString());
  }
  db_.reset(db);
  manifest_failure_->SetDatabase(db);
  for (size_t i = 0; i < opened_families.size(); ++i) {
    const bool is_hdd = i >= kSpaceCount;
    families_[is_hdd ? kSpaceCount + static_cast<size_t>(kHddSpaces[i - kSpaceCount]) : i] = opened_families[i];
  }
  return options_.in_memory ? Ok() : DropUnreplayedLogs(*db_, HasSeenDamage(*db_options.info_log));
}

Status Engine::StartCompactions() {
  for (rocksdb::ColumnFamilyHandle* family : families()) {
    TRY(FromRocksDb(db_->SetOptions(family, LoadedOptions(options_))));
  }
  return Ok();
}

Status Engine::AddHddFamilies() {
  for (const Space space : kHddSpaces) {
    std::atomic<rocksdb::ColumnFamilyHandle*>& place = families_[kSpaceCount + static_cast<int>(space)];
    if (place != nullptr) continue;
    rocksdb::ColumnFamilyHandle* family = nullptr;
    TRY(FromRocksDb(db_->CreateColumnFamily(FamilyOptions(space, StorageMode::kHdd),
                                            FamilyName(space, StorageMode::kHdd), &family)));
    TRY(FromRocksDb(db_->SetOptions(family, LoadedOptions(options_))));
    place = family;
  }
  return Ok();
}

void Engine::Close() {
  manifest_failure_->SetDatabase(nullptr);
  rocksdb::CancelAllBackgroundWork(db_.get(), !options_.in_memory);
  for (rocksdb::ColumnFamilyHandle* family : families()) db_->DestroyColumnFamilyHandle(family);
  db_->Close();
  db_.reset();
}

std::vector<rocksdb::ColumnFamilyHandle*> Engine::families() const {
  std::vector<rocksdb::ColumnFamilyHandle*> families;
  for (rocksdb::ColumnFamilyHandle* family : families_) {
    if (family != nullptr) families.push_back(family);
  }
  return families;
}

std::unique_ptr<rocksdb::Iterator> Engine::NewIterator(const rocksdb::ReadOptions& options, Space space) const {
  std::unique_ptr<rocksdb::Iterator> rows(db_->NewIterator(options, family(space)));
  if (family(space, StorageMode::kHdd) == family(space)) return rows;
  std::unique_ptr<rocksdb::Iterator> hdd(db_->NewIterator(options, family(space, StorageMode::kHdd)));
  return Concatenate(std::move(rows), std::move(hdd));
}

void Engine::Watch() {
  WatchOpenTables(0);
  manifest_failure_->Watch();
  PaceCompactions();
  blob_files_.Watch();
}

void Engine::PaceCompactions() {
  if (options_.imports) return;
  static const std::string kLevel0Files = "rocksdb.num-files-at-level0";
  CompactionDebt debt;
  for (rocksdb::ColumnFamilyHandle* family : families()) {
    uint64_t files = 0;
    uint64_t memtables = 0;
    db_->GetIntProperty(family, rocksdb::DB::Properties::kNumImmutableMemTable, &memtables);
    std::string text;
    if (db_->GetProperty(family, kLevel0Files, &text)) files = ParseUint64(text).value_or(0);
    debt.level0_files = std::max(debt.level0_files, files);
    debt.memtables = std::max(debt.memtables, memtables);
  }
  compaction_pace_->Follow(debt);
}

void Engine::SetMemory(const Budget& budget) {
  parts_->block_cache->SetCapacity(budget.block_cache);
  parts_->write_buffers->SetBufferSize(std::min(budget.memtables, MostMemtables(options_.dir)));
}

uint64_t Engine::open_tables() const { return open_tables_->count(); }

Status Engine::SetMostOpenTables(uint64_t most) { return open_tables_->SetMost(*db_, most); }

void Engine::WatchOpenTables(uint64_t coming) { open_tables_->BindIfNear(*db_, coming); }

void Engine::Fetch(std::string_view tagged_row) {
  rocksdb::PinnableSlice value;
  const auto space = static_cast<Space>(tagged_row[0]);
  const std::string_view row = tagged_row.substr(1);
  // A read error is reported to the next command that reads the row.
  (void)db_->Get(rocksdb::ReadOptions(), family(space, ModeOfRow(space, row)), ToSlice(row), &value);
}

void Engine::ReadAhead(std::string_view tagged_row) {
  if (options_.direct_io) return;  // the kernel would keep nothing
  const ReadyOnly ready(true, ReadyOnly::Statistics::kNotCounted);
  Fetch(tagged_row);
}

uint64_t Engine::Ticker(uint32_t rocksdb_ticker) const { return parts_->statistics->getTickerCount(rocksdb_ticker); }

uint64_t Engine::Property(const std::string& name) const {
  uint64_t sum = 0;
  for (rocksdb::ColumnFamilyHandle* family : families()) {
    uint64_t value = 0;
    if (db_->GetIntProperty(family, name, &value)) sum += value;
  }
  return sum;
}

std::string Engine::TextProperty(const std::string& name, Space space) const {
  std::string value;
  db_->GetProperty(family(space), name, &value);
  return value;
}

std::map<std::string, std::string> Engine::MapProperty(const std::string& name, Space space) const {
  std::map<std::string, std::string> values;
  db_->GetMapProperty(family(space), name, &values);
  return values;
}

Status Engine::Flush(bool waits) {
  rocksdb::FlushOptions options;
  options.wait = waits;
  options.allow_write_stall = !waits;  // else RocksDB would wait for the end of a stall
  std::optional<FlushNudge> nudge;
  if (waits) nudge.emplace(*db_, families());
  return FromRocksDb(db_->Flush(options, families()));
}

uint64_t Engine::MemtableBytes() const { return parts_->write_buffers->memory_usage(); }

uint64_t Engine::MostMemtableBytes() const { return parts_->write_buffers->buffer_size(); }
uint64_t Engine::BlockCacheBytes() const { return parts_->block_cache->GetUsage(); }

}  // namespace cairn
