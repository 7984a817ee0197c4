// SPDX-License-Identifier: BSD-3-Clause
#include "storage/batch.h"

#include <rocksdb/write_batch.h>

#include <string>

#include "storage/slice.h"
#include "storage/store.h"

namespace cairn {
namespace {

Status TooLarge(const char* what, size_t bytes) {
  return Status::Io(std::string(what) + " of " + std::to_string(bytes) + " bytes exceeds the limit of a batch");
}

}  // namespace

Status PutRow(rocksdb::WriteBatch& batch, rocksdb::ColumnFamilyHandle* family, std::string_view row,
              std::string_view value) {
  if (row.size() > kMostRowBytes || value.size() > kMostRowBytes - row.size()) {
    return TooLarge("a row", row.size() + value.size());
  }
  return FromRocksDb(batch.Put(family, ToSlice(row), ToSlice(value)));
}

Status DeleteRow(rocksdb::WriteBatch& batch, rocksdb::ColumnFamilyHandle* family, std::string_view row) {
  if (row.size() > kMostRowBytes) return TooLarge("a row", row.size());
  return FromRocksDb(batch.Delete(family, ToSlice(row)));
}

Status DeleteRows(rocksdb::WriteBatch& batch, rocksdb::ColumnFamilyHandle* family, std::string_view lower,
                  std::string_view upper) {
  if (lower.size() > kMostRowBytes || upper.size() > kMostRowBytes)
    return TooLarge("a row", lower.size() + upper.size());
  return FromRocksDb(batch.DeleteRange(family, ToSlice(lower), ToSlice(upper)));
}

Status PutLogData(rocksdb::WriteBatch& batch, std::string_view bytes) {
  // At its end a command adds a little to its replicated commands: a DEL for each key that was found expired.
  if (bytes.size() > UINT32_MAX) return TooLarge("log data", bytes.size());
  return FromRocksDb(batch.PutLogData(ToSlice(bytes)));
}

// RocksDB writes the sequence number into the first 8 bytes of the batch, little-endian.
uint64_t SequenceOf(const rocksdb::WriteBatch& batch) {
  uint64_t sequence = 0;
  for (size_t i = 0; i < sizeof sequence; ++i) {
    sequence |= static_cast<uint64_t>(static_cast<unsigned char>(batch.Data()[i])) << (8 * i);
  }
  return sequence;
}

}  // namespace cairn
