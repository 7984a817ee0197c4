// SPDX-License-Identifier: BSD-3-Clause
#include "replication/rdb_file_writer.h"

#include <unistd.h>

#include <optional>

#include "base/clock.h"
#include "isal.h"
#include "rdb/little_endian.h"
#include "rdb/rdb_file.h"
#include "types/rdb_value.h"
#include "types/value_types.h"

namespace cairn {
namespace {

constexpr std::string_view kWrittenAs = "7.0.15";  // the Redis version with this version of RDB
constexpr std::string_view kHead = "REDIS0010";
constexpr std::string_view kValkeyHead = "VALKEY080";  // of Valkey 9.0, which introduced expiring fields
constexpr size_t kFlushBytes = 128 * 1024;
constexpr uint64_t kKeysPerProgress = 1024;
constexpr int kCrcBytes = 8;

}  // namespace

RdbFileWriter::RdbFileWriter(Transaction& txn, const StoreSnapshot& snapshot, const Limits& limits,
                             const RdbFileOptions& options, RdbSink sink)
    : txn_(txn), snapshot_(snapshot), limits_(limits), options_(options), sink_(std::move(sink)),
      part_{.folds = options.folds, .dialect = options.dialect, .spill = [this](std::string&) { Flush(); }},
      writer_(out_, &part_) {}

void RdbFileWriter::Flush() {
  if (status_.ok() && !out_.empty()) {
    if (options_.checksum) crc_ = isal::Crc64Jones(out_, crc_);
    bytes_ += out_.size();
    status_ = sink_(out_);
  }
  out_.clear();
}

void RdbFileWriter::WriteAux(std::string_view name, std::string_view value) {
  out_.push_back(static_cast<char>(RdbOpcode::kAux));
  writer_.Text(name);
  writer_.Text(value);
}

void RdbFileWriter::WriteHead() {
  out_ += options_.dialect == RdbDialect::kValkey ? kValkeyHead : kHead;
  WriteAux("redis-ver", kWrittenAs);
  WriteAux("redis-bits", "64");
  WriteAux("ctime", std::to_string(WallMs() / 1000));
  WriteAux("used-mem", "0");
  for (const auto& [name, value] : options_.aux) WriteAux(name, value);
  WriteAux("aof-base", "0");
  for (const std::string& code : options_.functions) {
    out_.push_back(static_cast<char>(RdbOpcode::kFunction));
    writer_.Text(code);
  }
}

void RdbFileWriter::WriteUse(const Key& key) {
  if (options_.use_hint == RdbUseHint::kIdle) {
    out_.push_back(static_cast<char>(RdbOpcode::kIdle));
    writer_.Length(static_cast<uint64_t>(txn_.uses().IdleSeconds(key.row(), txn_.command().now_s())));
  } else if (options_.use_hint == RdbUseHint::kFrequency) {
    const std::optional<uint8_t> frequency = txn_.uses().Frequency(key.row(), txn_.command().now_s());
    if (!frequency) return;  // the eviction policy has changed
    out_.push_back(static_cast<char>(RdbOpcode::kFrequency));
    out_.push_back(static_cast<char>(*frequency));
  }
}

Status RdbFileWriter::WriteKey(Keyspace& keyspace, std::string_view name, const Record& record) {
  KeyEntry entry = TRY(Keyspace::EntryOf(record));
  if (entry.expire_ms() != kNoExpiry) {
    out_.push_back(static_cast<char>(RdbOpcode::kExpireMs));
    writer_.Fixed64(entry.expire_ms());
  }
  part_.key = name;
  const Key key = keyspace.Name(name);
  WriteUse(key);
  if (record.header.fields_expire_ms != kNoExpiry) hashes_with_times_.Add(name);
  if (ValueTypeOf(entry).rdb_forms[0].number >= RdbType::kCairnJson) keys_of_own_types_.Add(name);
  TRY(SaveRdbValue(keyspace, key, std::move(entry), writer_));
  ++keys_;
  if (options_.on_progress && keys_ % kKeysPerProgress == 0) options_.on_progress(keys_);
  if (out_.size() >= kFlushBytes || options_.key_delay_us > 0) Flush();
  if (options_.key_delay_us > 0) usleep(static_cast<useconds_t>(options_.key_delay_us));
  return Ok();
}

Status RdbFileWriter::WriteDatabase(int db) {
  if (snapshot_.keys(db) == 0) return Ok();
  out_.push_back(static_cast<char>(RdbOpcode::kSelectDb));
  writer_.Length(static_cast<uint64_t>(db));
  out_.push_back(static_cast<char>(RdbOpcode::kResizeDb));
  writer_.Length(static_cast<uint64_t>(snapshot_.keys(db)));
  writer_.Length(0);
  Keyspace keyspace(txn_, db, limits_);
  Status failed;
  const auto write = [&](std::string_view name, const Record& record) {
    if (!failed.ok()) return false;
    if (options_.leaves_out && options_.leaves_out(name)) return true;
    Status written = WriteKey(keyspace, name, record);
    if (written.ok() && !status_.ok()) written = std::exchange(status_, Ok());
    if (!written.ok() && failed.ok()) failed = std::move(written);
    return failed.ok();
  };
  TRY(keyspace.Scan(0, write));
  return failed;
}

Status RdbFileWriter::Write() {
  txn_.ReadFrom(&snapshot_);
  txn_.BeginCommand(Lane::kSlow, WallMs(), false);
  WriteHead();
  Status status;
  for (int db = 0; db < snapshot_.databases() && status.ok(); ++db) {
    if (!options_.includes || options_.includes(db)) status = WriteDatabase(db);
  }
  txn_.AbandonCommand();
  txn_.ReadFrom(nullptr);
  TRY(std::move(status));
  out_.push_back(static_cast<char>(RdbOpcode::kEnd));
  Flush();
  AppendLittle(out_, options_.checksum ? crc_ : 0, kCrcBytes);
  Flush();
  return std::move(status_);
}

}  // namespace cairn
