// SPDX-License-Identifier: BSD-3-Clause
#include "storage/hot_rows_file.h"

#include <rocksdb/env.h>

#include <algorithm>

#include "base/hash.h"
#include "encoding/varint.h"
#include "storage/engine.h"

namespace cairn {
namespace {

constexpr std::string_view kMagic = "cairnkc1";
constexpr size_t kChecksumBytes = 8;

Status Damaged(const char* field) { return Status::Corruption(std::string("file key-cache: ") + field); }

void AppendNames(std::string& bytes, const RowNames& names) {
  AppendVarint(bytes, names.size());
  std::string_view last;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string_view name = names[i];
    const auto differ = std::mismatch(name.begin(), name.end(), last.begin(), last.end()).first;
    const auto shared = static_cast<size_t>(differ - name.begin());
    AppendVarint(bytes, shared);
    AppendVarint(bytes, name.size() - shared);
    bytes.append(name.substr(shared));
    last = name;
  }
}

// Takes the names from the front of `bytes`.
Status ReadNames(std::string_view& bytes, RowNames& names) {
  uint64_t count = 0;
  if (!ReadVarint(bytes, count)) return Damaged("count");
  std::string name;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t shared = 0;
    uint64_t size = 0;
    if (!ReadVarint(bytes, shared) || shared > name.size()) return Damaged("shared");
    if (!ReadVarint(bytes, size) || size > bytes.size()) return Damaged("size");
    name.resize(shared);
    name.append(bytes.substr(0, size));
    if (name.empty()) return Damaged("size");
    bytes.remove_prefix(size);
    if (!names.Add(name)) return Damaged("too large");
  }
  return Ok();
}

}  // namespace

std::string EncodeHotRows(const HotRows& rows) {
  std::string bytes(kMagic);
  AppendNames(bytes, rows.kept);
  AppendNames(bytes, rows.young);
  AppendU64(bytes, Hash64(bytes));
  return bytes;
}

Result<HotRows> DecodeHotRows(std::string_view bytes) {
  if (!bytes.starts_with(kMagic)) return Damaged("magic");
  if (bytes.size() < kMagic.size() + kChecksumBytes) return Damaged("cut short");
  std::string_view tail = bytes.substr(bytes.size() - kChecksumBytes);
  bytes.remove_suffix(kChecksumBytes);
  uint64_t checksum = 0;
  if (!ReadU64(tail, checksum) || checksum != Hash64(bytes)) return Damaged("checksum");
  bytes.remove_prefix(kMagic.size());
  HotRows rows;
  TRY(ReadNames(bytes, rows.kept));
  TRY(ReadNames(bytes, rows.young));
  if (!bytes.empty()) return Damaged("bytes after the last name");
  return rows;
}

Status WriteHotRows(const std::string& dir, const HotRows& rows) {
  rocksdb::Env& env = *rocksdb::Env::Default();
  const std::string path = dir + "/" + std::string(kHotRowsFileName);
  const std::string temporary = path + ".tmp";
  rocksdb::Status written = rocksdb::WriteStringToFile(&env, EncodeHotRows(rows), temporary, true);
  if (written.ok()) written = env.RenameFile(temporary, path);
  if (!written.ok()) static_cast<void>(env.DeleteFile(temporary).ok());
  return FromRocksDb(written);
}

Result<HotRows> ReadHotRows(const std::string& dir, uint64_t most_bytes) {
  rocksdb::Env& env = *rocksdb::Env::Default();
  const std::string path = dir + "/" + std::string(kHotRowsFileName);
  uint64_t size = 0;
  if (env.FileExists(path).IsNotFound()) return HotRows();
  TRY(FromRocksDb(env.GetFileSize(path, &size)));
  if (size > most_bytes) return Damaged("too large");
  std::string bytes;
  TRY(FromRocksDb(rocksdb::ReadFileToString(&env, path, &bytes)));
  return DecodeHotRows(bytes);
}

}  // namespace cairn
