// SPDX-License-Identifier: BSD-3-Clause
#include "storage/row_files.h"

#include <fcntl.h>
#include <rocksdb/db.h>
#include <rocksdb/sst_file_writer.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "base/hash.h"
#include "encoding/record.h"
#include "encoding/varint.h"
#include "storage/slice.h"
#include "storage/store.h"
#include "storage/store_snapshot.h"

namespace cairn {
namespace {

constexpr uint64_t kFileBytes = 64ull << 20;
// Bytes written to the disk at once: a client's read waits behind one such step and not behind a megabyte.
constexpr uint64_t kBytesPerSync = 64 << 10;
constexpr size_t kReadaheadBytes = 256 * 1024;  // for each file being read
constexpr size_t kChecksumStep = 256 * 1024;
constexpr int kSkipsBeforeSeek = 64;  // a longer run of dead rows is skipped by a seek
constexpr size_t kWhenBytes = sizeof(uint64_t);

std::string_view View(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

Status Damaged(const char* what) { return Status::Corruption(std::string("row files: ") + what); }

}  // namespace

RowFilesWriter::RowFilesWriter(Store& store, const StoreSnapshot& snapshot, RowNumbers first, std::string folder,
                               OnFile on_file, OnBytes on_bytes, BeforeKey before_key)
    : store_(store), snapshot_(snapshot), first_(first), folder_(std::move(folder)), on_file_(std::move(on_file)),
      on_bytes_(std::move(on_bytes)), before_key_(std::move(before_key)) {}

RowFilesWriter::~RowFilesWriter() = default;

Result<RowFilesContent> RowFilesWriter::Write() {
  NumberKeyspaces();
  TRY(WriteOwners());  // determines the live collections
  TRY(WriteKeys());
  TRY(WriteCollections(Space::kElements));
  TRY(WriteCollections(Space::kScores));
  TRY(WriteExpiries());
  return content_;
}

void RowFilesWriter::NumberKeyspaces() {
  for (int db = 0; db < snapshot_.databases(); ++db) keyspaces_.push_back(snapshot_.keyspace(db));
  std::sort(keyspaces_.begin(), keyspaces_.end());
  for (int db = 0; db < snapshot_.databases(); ++db) {
    content_.databases.push_back({Renumber(snapshot_.keyspace(db)), snapshot_.keys(db)});
  }
  content_.collections_end = first_.collection;
}

KeyspaceId RowFilesWriter::Renumber(KeyspaceId keyspace) const {
  const auto found = std::lower_bound(keyspaces_.begin(), keyspaces_.end(), keyspace);
  if (found == keyspaces_.end() || *found != keyspace) return 0;
  return first_.keyspace + static_cast<KeyspaceId>(found - keyspaces_.begin());
}

std::unique_ptr<rocksdb::Iterator> RowFilesWriter::Walk(Space space) const {
  rocksdb::ReadOptions options;
  options.snapshot = snapshot_.rocksdb();
  options.fill_cache = false;
  options.readahead_size = kReadaheadBytes;
  return std::unique_ptr<rocksdb::Iterator>(store_.engine().db().NewIterator(options, store_.engine().family(space)));
}

Status RowFilesWriter::WriteOwners() {
  const auto rows = Walk(Space::kOwners);
  for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
    std::string_view row = View(rows->key());
    std::string_view owner = View(rows->value());
    CollectionId id = 0;
    KeyspaceId keyspace = 0;
    if (!ReadU64(row, id) || !ReadU32(owner, keyspace)) return Damaged("an owner row is cut short");
    const KeyspaceId number = Renumber(keyspace);
    if (number == 0) continue;
    if (first_alive_ == 0) {
      first_alive_ = id;
      shift_ = first_.collection - id;
    }
    last_alive_ = id;
    row_.clear();
    AppendU64(row_, id + shift_);
    value_.clear();
    AppendU32(value_, number);
    value_.append(owner);
    TRY(Put(Space::kOwners, row_, value_));
  }
  TRY(FromRocksDb(rows->status()));
  if (first_alive_ != 0) content_.collections_end = last_alive_ + shift_ + 1;
  return EndFile();
}

Status RowFilesWriter::WriteKeys() {
  const auto rows = Walk(Space::kKeys);
  for (const KeyspaceId keyspace : keyspaces_) {
    const RowKey start = MakeKeyBound(keyspace, 0);
    for (rows->Seek(ToSlice(start.row())); rows->Valid(); rows->Next()) {
      std::string_view row = View(rows->key());
      KeyspaceId found = 0;
      if (!ReadU32(row, found)) return Damaged("a key row is cut short");
      if (found != keyspace) break;
      if (before_key_) TRY(before_key_());
      TRY(WriteKey(row, View(rows->value()), Renumber(keyspace)));
    }
    TRY(FromRocksDb(rows->status()));
  }
  return EndFile();
}

// The record of a spread value contains its collection id.
Status RowFilesWriter::WriteKey(std::string_view row, std::string_view bytes, KeyspaceId keyspace) {
  row_.clear();
  AppendU32(row_, keyspace);
  row_.append(row);
  const Record record = TRY(DecodeRecord(bytes));
  if (record.header.encoding != Encoding::kSpread) return Put(Space::kKeys, row_, bytes);
  const SpreadPayload payload = TRY(DecodeSpreadPayload(record.payload));
  if (first_alive_ == 0 || payload.id < first_alive_ || payload.id > last_alive_) {
    return Damaged("a collection has no owner");
  }
  value_.clear();
  AppendRecordHeader(value_, record.header);
  AppendSpreadPayload(value_, payload.id + shift_, payload.count);
  value_.append(payload.rest);
  return Put(Space::kKeys, row_, value_);
}

// Owners and the rows of their collections have the same order.
Status RowFilesWriter::WriteCollections(Space space) {
  const auto owners = Walk(Space::kOwners);
  const auto rows = Walk(space);
  CollectionId owned = 0;
  bool is_alive = false;
  int skipped = 0;
  const auto next_owner = [&]() -> Status {
    for (; owners->Valid(); owners->Next()) {
      std::string_view row = View(owners->key());
      std::string_view owner = View(owners->value());
      KeyspaceId keyspace = 0;
      if (!ReadU64(row, owned) || !ReadU32(owner, keyspace)) return Damaged("an owner row is cut short");
      is_alive = Renumber(keyspace) != 0;
      if (is_alive) return Ok();
    }
    is_alive = false;
    return FromRocksDb(owners->status());
  };
  owners->SeekToFirst();
  TRY(next_owner());
  rows->SeekToFirst();
  while (rows->Valid() && is_alive) {
    std::string_view row = View(rows->key());
    CollectionId id = 0;
    if (!ReadU64(row, id)) return Damaged("a row of a collection is cut short");
    if (id > owned) {
      owners->Next();
      TRY(next_owner());
      continue;
    }
    if (id == owned) {
      skipped = 0;
      row_.clear();
      AppendU64(row_, id + shift_);
      row_.append(row);
      TRY(Put(space, row_, View(rows->value())));
      rows->Next();
    } else if (++skipped < kSkipsBeforeSeek) {
      rows->Next();
    } else {
      skipped = 0;
      rows->Seek(ToSlice(MakeCollectionStart(space, owned, 0).row()));
    }
  }
  TRY(FromRocksDb(rows->status()));
  return EndFile();
}

Status RowFilesWriter::WriteExpiries() {
  const auto rows = Walk(Space::kExpiries);
  for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
    const std::string_view bytes = View(rows->key());
    std::string_view row = bytes.substr(std::min(kWhenBytes, bytes.size()));
    KeyspaceId keyspace = 0;
    if (!ReadU32(row, keyspace)) return Damaged("an expiry row is cut short");
    const KeyspaceId number = Renumber(keyspace);
    if (number == 0) continue;
    row_.assign(bytes, 0, kWhenBytes);
    AppendU32(row_, number);
    row_.append(row);
    TRY(Put(Space::kExpiries, row_, View(rows->value())));
  }
  TRY(FromRocksDb(rows->status()));
  return EndFile();
}

Status RowFilesWriter::Put(Space space, std::string_view row, std::string_view value) {
  if (writer_ == nullptr) {
    rocksdb::Options options = store_.engine().db().GetOptions(store_.engine().family(space));
    // The files are sent over a network at once, so they use a fast compression.
    options.compression_per_level.clear();
    options.bottommost_compression = rocksdb::kDisableCompressionOption;
    options.compression = rocksdb::kSnappyCompression;
    rocksdb::EnvOptions files(store_.engine().db().GetDBOptions());
    files.bytes_per_sync = kBytesPerSync;
    writer_ = std::make_unique<rocksdb::SstFileWriter>(files, options, nullptr, false);
    file_ = {.space = space, .path = folder_ + "/" + std::to_string(file_count_++) + ".sst"};
    TRY(FromRocksDb(writer_->Open(file_.path)));
    told_bytes_ = 0;
  }
  TRY(FromRocksDb(writer_->Put(ToSlice(row), ToSlice(value))));
  const uint64_t size = writer_->FileSize();
  if (size - told_bytes_ >= kBytesPerSync) {
    if (on_bytes_) TRY(on_bytes_(size - told_bytes_));
    told_bytes_ = size;
  }
  return size >= kFileBytes ? EndFile() : Ok();
}

Status RowFilesWriter::EndFile() {
  if (writer_ == nullptr) return Ok();
  rocksdb::ExternalSstFileInfo about;
  const std::unique_ptr<rocksdb::SstFileWriter> writer = std::move(writer_);
  TRY(FromRocksDb(writer->Finish(&about)));
  file_.size = about.file_size;
  file_.checksum = TRY(ChecksumOfFile(file_.path));
  return on_file_(std::move(file_));
}

namespace {

constexpr int kMostTries = 100;

// No flush or compaction of the database runs while it lives. The constructor waits for those that run.
class BackgroundWorkPause {
 public:
  explicit BackgroundWorkPause(rocksdb::DB& db) : db_(db) { db_.PauseBackgroundWork().PermitUncheckedError(); }
  ~BackgroundWorkPause() { db_.ContinueBackgroundWork().PermitUncheckedError(); }
  BackgroundWorkPause(const BackgroundWorkPause&) = delete;
  BackgroundWorkPause& operator=(const BackgroundWorkPause&) = delete;

 private:
  rocksdb::DB& db_;
};

bool StopsWrites(rocksdb::DB& db) {
  uint64_t stops = 0;
  return db.GetIntProperty(rocksdb::DB::Properties::kIsWriteStopped, &stops) && stops != 0;
}

// RocksDB compares the files with a family's SuperVersion, but counts the files of a level in its current Version. The
// two differ for a moment after two jobs wrote to the MANIFEST together. Then an assertion aborts the process, or a
// file lands in a level below newer rows (AssignLevelAndSeqnoForIngestedFile in db/external_sst_file_ingestion_job.cc).
//
// So no background work may run. InvalidArgument if memtables overlap: to flush them would be background work.
rocksdb::Status IngestAlone(rocksdb::DB& db, std::vector<rocksdb::IngestExternalFileArg> args) {
  for (rocksdb::IngestExternalFileArg& arg : args) arg.options.allow_blocking_flush = false;
  std::optional<BackgroundWorkPause> pause(db);
  // The ingestion would wait for a writer that waits for background work.
  if (StopsWrites(db)) pause.reset();
  return db.IngestExternalFiles(args);
}

}  // namespace

Status TakeInRowFiles(Store& store, std::span<const RowFile> files) {
  if (!store.recovery().writable()) return Status::Io(store.recovery().write_error());
  std::array<rocksdb::IngestExternalFileArg, kSpaceCount> of_spaces;
  for (const RowFile& file : files) of_spaces[static_cast<size_t>(file.space)].external_files.push_back(file.path);
  std::vector<rocksdb::IngestExternalFileArg> args;
  for (size_t space = 0; space < of_spaces.size(); ++space) {
    rocksdb::IngestExternalFileArg& arg = of_spaces[space];
    if (arg.external_files.empty()) continue;
    arg.column_family = store.engine().family(static_cast<Space>(space));
    arg.options.move_files = true;
    arg.options.write_global_seqno = false;
    args.push_back(std::move(arg));
  }
  if (args.empty()) return Ok();
  store.engine().WatchOpenTables(files.size());
  // Expiry rows may overlap with rows in memtables. This thread flushes, because a flush within the ingestion may be
  // lost (storage/flush_nudge.h), and the ingestion then waits for ever and blocks all writers. The first try fails
  // only if another thread writes such a row after the flush.
  rocksdb::Status taken = rocksdb::Status::InvalidArgument();
  for (int i = 0; i < kMostTries && taken.IsInvalidArgument(); ++i) {
    TRY(store.engine().Flush());
    taken = IngestAlone(store.engine().db(), args);
  }
  return FromRocksDb(taken);
}

Result<uint64_t> ChecksumOfFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Status::Io(path + ": " + std::strerror(errno));
  Hash64Stream hash;
  std::string step(kChecksumStep, '\0');
  for (;;) {
    const ssize_t got = read(fd, step.data(), step.size());
    if (got < 0 && errno == EINTR) continue;
    if (got > 0) {
      hash.Add(std::string_view(step).substr(0, static_cast<size_t>(got)));
      continue;
    }
    const int error = errno;
    close(fd);
    if (got < 0) return Status::Io(path + ": " + std::strerror(error));
    return hash.Value();
  }
}

}  // namespace cairn
