// SPDX-License-Identifier: BSD-3-Clause
#include "storage/row_loader.h"

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <filesystem>

#include "storage/batch.h"
#include "storage/engine.h"

namespace cairn {
namespace {

constexpr uint64_t kMemory = 256ull << 20;
constexpr uint64_t kOpenTables = 512;
constexpr size_t kBatchBytes = 1 << 20;

}  // namespace

RowLoader::RowLoader() : batch_(std::make_unique<rocksdb::WriteBatch>()) {}

RowLoader::~RowLoader() {
  if (has_failed_) {
    static_cast<void>(engine_.release());
  } else if (engine_ != nullptr && engine_->is_open()) {
    engine_->Close();
  }
}

Status RowLoader::Fail(std::string_view error) {
  has_failed_ = true;
  return Status::Io("cannot write " + dir_ + ": " + std::string(error));
}

Status RowLoader::Open(const std::string& dir) {
  dir_ = dir;
  std::error_code error;
  if (std::filesystem::exists(dir, error) && !std::filesystem::is_empty(dir, error)) {
    return Status::Io(dir + " is not empty");
  }
  std::filesystem::create_directories(dir, error);
  if (error) return Status::Io("cannot create " + dir + ": " + error.message());
  StoreOptions options;
  options.dir = dir;
  options.budget = Budget::Of(kMemory);
  options.most_open_tables = kOpenTables;
  engine_ = std::make_unique<Engine>(options);
  TRY(engine_->Open([](Space) { return nullptr; }, {}));
  return engine_->StartCompactions();
}

Status RowLoader::Put(Space space, std::string_view row, std::string_view value) {
  const StorageMode mode = ModeOfRow(space, row);
  if (mode == StorageMode::kHdd) TRY(engine_->AddHddFamilies());
  TRY(PutRow(*batch_, engine_->family(space, mode), row, value));
  return batch_->GetDataSize() < kBatchBytes ? Ok() : WriteBatch();
}

Status RowLoader::WriteBatch() {
  rocksdb::WriteOptions options;
  options.disableWAL = true;
  const rocksdb::Status written = engine_->db().Write(options, batch_.get());
  if (!written.ok()) return Fail(written.ToString());
  batch_->Clear();
  return Ok();
}

Status RowLoader::Flush() {
  TRY(WriteBatch());
  const Status flushed = engine_->Flush();
  return flushed.ok() ? Ok() : Fail(flushed.text());
}

Status RowLoader::Finish() {
  TRY(Flush());
  if (const rocksdb::Status synced = engine_->db().SyncWAL(); !synced.ok()) return Fail(synced.ToString());
  engine_->Close();
  return Ok();
}

}  // namespace cairn
