// SPDX-License-Identifier: BSD-3-Clause
#include "storage/offline_database.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <rocksdb/db.h>
#include <rocksdb/ldb_tool.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/utilities/ldb_cmd.h>
#include <rocksdb/utilities/options_util.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include "base/number.h"
#include "base/words.h"
#include "encoding/varint.h"
#include "storage/concatenated_rows.h"
#include "storage/engine.h"
#include "storage/engine_log.h"
#include "storage/file_names.h"
#include "storage/slice.h"
#include "storage/synced_files.h"
#include "storage/tuning.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMemory = 64ull << 20;
constexpr std::string_view kManifestStart = "MANIFEST-";
constexpr int kOpenTables = 128;
constexpr size_t kReadaheadBytes = 256 * 1024;

// Keeps RocksDB's messages about pieces of a log that it cannot read.
class LogDamageCollector : public rocksdb::Logger {
 public:
  explicit LogDamageCollector(std::vector<std::string>* sentences) : sentences_(sentences) {}
  using rocksdb::Logger::Logv;
  void Logv(const char* format, va_list arguments) override {
    if (sentences_ == nullptr) return;
    char text[1024];
    std::vsnprintf(text, sizeof text, format, arguments);
    if (DamageIn(format, text) == LogDamage::kPiece) sentences_->emplace_back(text);
  }

 private:
  std::vector<std::string>* const sentences_;
};

struct OpenOptions {
  rocksdb::DBOptions db;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;  // by space, those of `storage-mode hdd` last
};

bool HasFamily(const OpenOptions& options, const std::string& dir, const char* name) {
  std::vector<std::string> names;
  if (!rocksdb::DB::ListColumnFamilies(options.db, dir, &names).ok()) return false;
  return std::find(names.begin(), names.end(), name) != names.end();
}

OpenOptions MakeOptions(const std::string& dir, std::vector<std::string>* log_damage) {
  StoreOptions store;
  store.dir = dir;
  store.budget = Budget::Of(kMemory);
  const SharedParts parts = MakeSharedParts(store);
  OpenOptions options;
  options.db = TuneDatabase(store, parts);
  options.db.create_if_missing = false;
  options.db.create_missing_column_families = false;
  options.db.max_open_files = kOpenTables;
  options.db.info_log = std::make_shared<LogDamageCollector>(log_damage);
  // Damaged tables and logs do not end the opening.
  options.db.paranoid_checks = false;
  options.db.wal_recovery_mode = rocksdb::WALRecoveryMode::kSkipAnyCorruptedRecords;
  for (int i = 0; i < kSpaceCount; ++i) {
    const auto space = static_cast<Space>(i);
    options.families.emplace_back(FamilyName(space), TuneFamily(space, StorageMode::kSsd, store, parts));
  }
  for (const Space space : kHddSpaces) {
    const char* const name = FamilyName(space, StorageMode::kHdd);
    if (!HasFamily(options, dir, name)) continue;
    options.families.emplace_back(name, TuneFamily(space, StorageMode::kHdd, store, parts));
  }
  return options;
}

Status OpenRocksDb(const std::string& dir, const OpenOptions& options,
                   std::vector<rocksdb::ColumnFamilyHandle*>& families, std::unique_ptr<rocksdb::DB>& db) {
  rocksdb::DB* opened = nullptr;
  TRY(FromRocksDb(rocksdb::DB::OpenForReadOnly(options.db, dir, options.families, &families, &opened)));
  db.reset(opened);
  return Ok();
}

Space SpaceNamed(const std::string& name) {
  for (int i = 0; i < kSpaceCount; ++i) {
    if (FamilyName(static_cast<Space>(i)) == name) return static_cast<Space>(i);
  }
  for (const Space space : kHddSpaces) {
    if (FamilyName(space, StorageMode::kHdd) == name) return space;
  }
  return Space::kMeta;
}

void CloseRocksDb(std::vector<rocksdb::ColumnFamilyHandle*>& families, std::unique_ptr<rocksdb::DB>& db) {
  for (rocksdb::ColumnFamilyHandle* family : families) static_cast<void>(db->DestroyColumnFamilyHandle(family).ok());
  families.clear();
  db.reset();
}

// Links the tables, blob files and logs; copies the small files, which RocksDB may write to.
Status LinkFiles(const std::string& dir, const std::string& copy) {
  std::error_code error;
  fs::create_directories(copy, error);
  for (const fs::directory_entry& entry : fs::directory_iterator(dir, error)) {
    if (!entry.is_regular_file()) continue;
    if (entry.path().filename() == "LOCK") continue;  // closing any descriptor of it would release our lock (fcntl(2))
    const std::string extension = entry.path().extension();
    const fs::path target = fs::path(copy) / entry.path().filename();
    const bool is_data = extension == ".sst" || extension == ".blob" || extension == ".log";
    if (!is_data && !IsStoreFileName(entry.path().filename().string())) continue;
    if (is_data) fs::create_hard_link(entry.path(), target, error);
    if (!is_data || error) fs::copy_file(entry.path(), target, error);
    if (error) return Status::Io(target.string() + ": " + error.message());
  }
  return error ? Status::Io(dir + ": " + error.message()) : Ok();
}

std::string NumberOfFile(const std::string& name) { return name.substr(name.find_first_of("0123456789")); }

// Names the newest manifest in CURRENT.
Status RepairCurrent(const std::string& copy) {
  std::string newest;
  uint64_t newest_number = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(copy)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(kManifestStart)) continue;
    const auto number = ParseUint64(std::string_view(name).substr(kManifestStart.size()));
    if (!number || *number < newest_number) continue;
    newest = name;
    newest_number = *number;
  }
  if (newest.empty()) return Status::Io("there is no MANIFEST");
  std::error_code error;
  fs::remove(copy + "/CURRENT", error);
  return FromRocksDb(rocksdb::WriteStringToFile(rocksdb::Env::Default(), newest + "\n", copy + "/CURRENT", true));
}

void RemoveTableFromManifest(const std::string& copy, uint64_t number) {
  const std::string db = "--db=" + copy;
  const std::string table = std::to_string(number);
  const char* const words[] = {"ldb", db.c_str(), "unsafe_remove_sst_file", table.c_str()};
  rocksdb::LDBCommandRunner::RunCommand(static_cast<int>(std::size(words)), words, rocksdb::Options(),
                                        rocksdb::LDBOptions(), nullptr);
}

// RepairDB finds only the families that have tables.
Status AddMissingFamilies(const std::string& copy) {
  OpenOptions options = MakeOptions(copy, nullptr);
  options.db.create_missing_column_families = true;
  for (rocksdb::ColumnFamilyDescriptor& family : options.families) family.options.disable_auto_compactions = true;
  std::vector<rocksdb::ColumnFamilyHandle*> families;
  rocksdb::DB* opened = nullptr;
  TRY(FromRocksDb(rocksdb::DB::Open(options.db, copy, options.families, &families, &opened)));
  const std::unique_ptr<rocksdb::DB> db(opened);
  for (rocksdb::ColumnFamilyHandle* family : families) TRY(FromRocksDb(db->DestroyColumnFamilyHandle(family)));
  return FromRocksDb(db->Close());
}

Status RepairManifest(const std::string& copy) {
  OpenOptions options = MakeOptions(copy, nullptr);
  TRY(FromRocksDb(rocksdb::RepairDB(copy, options.db, options.families)));
  return AddMissingFamilies(copy);
}

}  // namespace

Result<DirectoryLock> DirectoryLock::Take(const std::string& dir) {
  std::error_code error;
  if (!fs::is_directory(dir, error)) {
    return Status::Io(dir + (error ? ": " + error.message() : " is not a directory"));
  }
  const int fd = open((dir + "/LOCK").c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    if (errno == ENOENT) return DirectoryLock(-1);  // no server has ever opened this copy
    return Status::Io("cannot open " + dir + "/LOCK: " + std::strerror(errno));
  }
  struct flock lock {};
  lock.l_type = F_RDLCK;
  lock.l_whence = SEEK_SET;
  if (fcntl(fd, F_SETLK, &lock) != 0) {
    close(fd);
    return Status::Io("a server has " + dir + " open (its LOCK file is locked); stop it first");
  }
  return DirectoryLock(fd);
}

DirectoryLock::~DirectoryLock() {
  if (fd_ >= 0) close(fd_);
}

Result<std::unique_ptr<OfflineDatabase>> OfflineDatabase::Open(const std::string& dir) {
  std::unique_ptr<OfflineDatabase> database(new OfflineDatabase(dir));
  if (database->OpenAsServer()) return database;
  const OpenOptions options = MakeOptions(dir, &database->log_damage_);
  TRY(OpenRocksDb(dir, options, database->families_, database->db_));
  return database;
}

OfflineDatabase::OfflineDatabase(std::string dir) : dir_(std::move(dir)) {}

OfflineDatabase::~OfflineDatabase() { CloseRocksDb(families_, db_); }

// A power loss can tear the end of a log and leave records of the next one. A server replays the logs up to the tear.
bool OfflineDatabase::OpenAsServer() {
  if (!CheckSyncedFiles(dir_).ok()) return false;
  OpenOptions options = MakeOptions(dir_, &log_damage_);
  options.db.paranoid_checks = true;
  options.db.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  if (OpenRocksDb(dir_, options, families_, db_).ok() && log_damage_.empty()) return true;
  CloseRocksDb(families_, db_);
  log_damage_.clear();
  return false;
}

bool OfflineDatabase::LogIsTorn() const {
  OpenOptions options = MakeOptions(dir_, nullptr);
  options.db.paranoid_checks = true;
  options.db.wal_recovery_mode = rocksdb::WALRecoveryMode::kAbsoluteConsistency;
  std::vector<rocksdb::ColumnFamilyHandle*> families;
  std::unique_ptr<rocksdb::DB> db;
  const bool opened = OpenRocksDb(dir_, options, families, db).ok();
  CloseRocksDb(families, db);
  return !opened;
}

std::vector<DamagedTable> OfflineDatabase::CheckTables(const std::function<void(uint64_t bytes)>& on_table) const {
  std::vector<DamagedTable> damaged;
  std::vector<rocksdb::LiveFileMetaData> tables;
  db_->GetLiveFilesMetaData(&tables);
  uint64_t checked = 0;
  for (const rocksdb::LiveFileMetaData& table : tables) {
    rocksdb::SstFileReader reader{rocksdb::Options()};
    const std::string path = dir_ + "/" + NumberOfFile(table.name);
    rocksdb::Status status;
    std::error_code error;
    const uint64_t size = fs::file_size(path, error);
    if (error) {
      status = rocksdb::Status::NotFound("the file is missing");
    } else if (size != table.size) {
      status = rocksdb::Status::Corruption(fmt::format("it has {} bytes instead of {}", size, table.size));
    } else {
      status = reader.Open(path);
    }
    const bool opens = status.ok();
    if (opens) status = reader.VerifyChecksum();
    checked += table.size;
    on_table(checked);
    if (status.ok()) continue;
    const Space space = SpaceNamed(table.column_family_name);
    damaged.push_back({table.file_number, opens,
                       fmt::format("Table {} of level {} is damaged: {}. Its rows are in space {}, from {} to {}.",
                                   NumberOfFile(table.name), table.level, status.ToString(), FamilyName(space),
                                   DescribeRow(space, table.smallestkey), DescribeRow(space, table.largestkey))});
  }
  return damaged;
}

std::vector<std::string> OfflineDatabase::CheckBlobFiles() const {
  std::vector<std::string> sentences;
  for (rocksdb::ColumnFamilyHandle* family : families_) {
    rocksdb::ColumnFamilyMetaData about;
    db_->GetColumnFamilyMetaData(family, &about);
    for (const rocksdb::BlobMetaData& blob : about.blob_files) {
      const std::string name = fmt::format("{:06}.blob", blob.blob_file_number);
      std::error_code error;
      const uint64_t size = fs::file_size(fs::path(dir_) / name, error);
      if (error) {
        sentences.push_back(fmt::format("Blob file {} is missing; it has {} values.", name, blob.total_blob_count));
      } else if (size != blob.blob_file_size) {
        sentences.push_back(
            fmt::format("Blob file {} is damaged: it has {} bytes instead of {}.", name, size, blob.blob_file_size));
      }
    }
  }
  return sentences;
}

uint64_t OfflineDatabase::table_bytes() const {
  uint64_t sum = 0;
  std::vector<rocksdb::LiveFileMetaData> tables;
  db_->GetLiveFilesMetaData(&tables);
  for (const rocksdb::LiveFileMetaData& table : tables) sum += table.size;
  return sum;
}

Result<std::optional<std::string>> OfflineDatabase::Get(Space space, std::string_view row) const {
  std::string value;
  const rocksdb::Status found =
      db_->Get(rocksdb::ReadOptions(), Family(space, ModeOfRow(space, row)), ToSlice(row), &value);
  if (found.IsNotFound()) return std::optional<std::string>();
  TRY(FromRocksDb(found));
  return std::optional<std::string>(std::move(value));
}

std::unique_ptr<rocksdb::Iterator> OfflineDatabase::NewIterator(Space space) const {
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  options.readahead_size = kReadaheadBytes;
  std::unique_ptr<rocksdb::Iterator> rows(db_->NewIterator(options, Family(space, StorageMode::kSsd)));
  rocksdb::ColumnFamilyHandle* const hdd = Family(space, StorageMode::kHdd);
  if (hdd == Family(space, StorageMode::kSsd)) return rows;
  return Concatenate(std::move(rows), std::unique_ptr<rocksdb::Iterator>(db_->NewIterator(options, hdd)));
}

rocksdb::ColumnFamilyHandle* OfflineDatabase::Family(Space space, StorageMode mode) const {
  if (mode == StorageMode::kHdd) {
    for (rocksdb::ColumnFamilyHandle* family : families_) {
      if (family->GetName() == FamilyName(space, mode)) return family;
    }
  }
  return families_[static_cast<size_t>(space)];
}

Status CheckOptionsFile(const std::string& dir) {
  rocksdb::ConfigOptions config;
  config.ignore_unknown_options = true;
  config.ignore_unsupported_options = true;
  rocksdb::DBOptions db;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  return FromRocksDb(rocksdb::LoadLatestOptions(config, dir, &db, &families));
}

Status MakeReadableCopy(const std::string& dir, const std::string& copy, const std::vector<uint64_t>& without) {
  TRY(LinkFiles(dir, copy));
  for (const uint64_t number : without) {
    RemoveTableFromManifest(copy, number);
    std::error_code error;
    fs::remove(fmt::format("{}/{:06}.sst", copy, number), error);
  }
  if (!CheckSyncedManifest(copy).ok()) return RepairManifest(copy);
  if (OfflineDatabase::Open(copy).ok()) return Ok();
  if (RepairCurrent(copy).ok() && OfflineDatabase::Open(copy).ok()) return Ok();
  return RepairManifest(copy);
}

std::string DescribeGap(Space space, std::string_view first, std::string_view last) {
  if (first == last && !first.empty()) return "The value of " + DescribeRow(space, first);
  return fmt::format("Rows of space {} between {} and {}", FamilyName(space),
                     first.empty() ? "the start" : DescribeRow(space, first),
                     last.empty() ? "the end" : DescribeRow(space, last));
}

std::string DescribeRow(Space space, std::string_view row) {
  KeyRowParts parts;
  if (space == Space::kKeys && ParseKeyRow(row, parts)) {
    return fmt::format("keyspace {} slot {} key {}", parts.keyspace, parts.position >> 32, ShowWord(parts.key));
  }
  int64_t when = 0;
  if (space == Space::kExpiries && ParseExpiryRow(row, when, row)) return DescribeRow(Space::kKeys, row);
  CollectionId id = 0;
  if (space == Space::kMeta || !ReadU64(row, id)) return ShowWord(row);
  return fmt::format("collection {}", id);
}

}  // namespace cairn
