// SPDX-License-Identifier: BSD-3-Clause
#include "storage/format.h"

#include <fmt/format.h>

#include "encoding/varint.h"

namespace cairn {
namespace {

constexpr std::string_view kMagic = "cairn";
constexpr uint64_t kUnfinished = 0;  // in place of a version
constexpr uint64_t kMostDatabases = 1 << 20;

std::string EncodeVersion(uint64_t version) {
  std::string value;
  AppendVarint(value, version);
  value.append(kMagic);
  return value;
}

}  // namespace

std::string EncodeFormat() { return EncodeVersion(kFormatVersion); }

std::string EncodeUnfinishedFormat() { return EncodeVersion(kUnfinished); }

Status CheckFormat(std::string_view value) {
  uint64_t version;
  if (!ReadVarint(value, version) || value != kMagic) {
    return Status::Corruption("the directory holds a RocksDB database that is not Cairn's");
  }
  if (version == kUnfinished) {
    return Status::Corruption("cairn-check --salvage did not finish this directory: remove it, and run it again");
  }
  if (version < kOldestFormatVersion || version > kFormatVersion) {
    return Status::Corruption(fmt::format("the data is of format {}, this program reads formats {} to {}", version,
                                          kOldestFormatVersion, kFormatVersion));
  }
  return Ok();
}

std::string EncodeDatabases(const std::vector<KeyspaceId>& keyspaces, KeyspaceId next) {
  std::string value;
  AppendVarint(value, next);
  AppendVarint(value, keyspaces.size());
  for (const KeyspaceId keyspace : keyspaces) AppendVarint(value, keyspace);
  return value;
}

Status DecodeDatabases(std::string_view value, std::vector<KeyspaceId>& keyspaces, KeyspaceId& next) {
  uint64_t next_id, count;
  if (!ReadVarint(value, next_id) || !ReadVarint(value, count) || count > kMostDatabases) {
    return Status::Corruption("meta row databases: cut short");
  }
  if (next_id > kKeyspacesEnd) return Status::Corruption("meta row databases: the next keyspace is too large");
  next = static_cast<KeyspaceId>(next_id);
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t keyspace;
    if (!ReadVarint(value, keyspace)) return Status::Corruption("meta row databases: cut short");
    if (keyspace >= KeyspaceIn(StorageMode::kMemory, kKeyspacesEnd)) {
      return Status::Corruption("meta row databases: a keyspace is too large");
    }
    keyspaces.push_back(static_cast<KeyspaceId>(keyspace));
  }
  return Ok();
}

RowKey MakeCountRow(uint32_t worker, KeyspaceId keyspace) {
  RowKey row = MakeMetaRow(kCountRowPrefix);
  AppendU32(row, worker);
  AppendU32(row, keyspace);
  return row;
}

bool ParseCountRow(std::string_view row, uint32_t& worker, KeyspaceId& keyspace) {
  if (!row.starts_with(kCountRowPrefix)) return false;
  row.remove_prefix(kCountRowPrefix.size());
  return ReadU32(row, worker) && ReadU32(row, keyspace) && row.empty();
}

std::string EncodeCount(int64_t count) {
  std::string value;
  AppendVarint(value, ZigZag(count));
  return value;
}

Result<int64_t> DecodeCount(std::string_view value) {
  uint64_t count;
  if (!ReadVarint(value, count)) return Status::Corruption("meta row count: cut short");
  return UnZigZag(count);
}

}  // namespace cairn
