// SPDX-License-Identifier: BSD-3-Clause
#include "storage/hot_rows_file.h"

#include <rocksdb/env.h>
#include <zstd.h>

#include <algorithm>

#include "base/assert.h"
#include "base/hash.h"
#include "encoding/row_key.h"
#include "encoding/varint.h"
#include "storage/engine.h"

namespace cairn {
namespace {

constexpr std::string_view kMagic = "cairnkc2";
constexpr std::string_view kFirstMagic = "cairnkc1";  // tagged row keys follow, without compression
constexpr int kZstdLevel = 1;                         // higher levels gain nothing
constexpr size_t kChecksumBytes = 8;

Status Damaged(const char* field) { return Status::Corruption(std::string("file key-cache: ") + field); }

// The first byte of a name in the file.
enum class Form : char {
  kWhole = 0,    // then the tagged row key
  kKey = 1,      // then keyspace:u32 and the key
  kElement = 2,  // then id:u64 and the member
};

// The name without what its key or member determines.
std::string Shorten(std::string_view tagged) {
  const auto space = static_cast<Space>(tagged[0]);
  const std::string_view row = tagged.substr(1);
  std::string name;
  if (KeyRowParts parts; space == Space::kKeys && ParseKeyRow(row, parts)) {
    name.push_back(static_cast<char>(Form::kKey));
    AppendU32(name, parts.keyspace);
    return name.append(parts.key);
  }
  CollectionId id;
  uint32_t hash;
  std::string_view member;
  if (space == Space::kElements && ParseElementRow(row, id, hash, member) && hash == RowHash(member)) {
    name.push_back(static_cast<char>(Form::kElement));
    AppendU64(name, id);
    return name.append(member);
  }
  name.push_back(static_cast<char>(Form::kWhole));
  return name.append(tagged);
}

// Adds the tagged row key of a shortened name; false if it is not one, or if there are too many.
bool AddLengthened(std::string_view name, RowNames& names) {
  const auto form = static_cast<Form>(name[0]);
  std::string_view rest = name.substr(1);
  if (form == Form::kWhole) return !rest.empty() && names.Add(rest);
  if (uint32_t keyspace; form == Form::kKey && ReadU32(rest, keyspace)) {
    return names.Add(MakeKeyRow(keyspace, rest).tagged());
  }
  if (uint64_t id; form == Form::kElement && ReadU64(rest, id)) return names.Add(MakeElementRow(id, rest, 0).tagged());
  return false;
}

// Appends the names, each without what it shares with the one before.
void AppendNames(std::string& bytes, const RowNames& tagged) {
  RowNames names;
  for (size_t i = 0; i < tagged.size(); ++i) names.Add(Shorten(tagged[i]));
  names.Sort();
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

// Takes the names from the front of `bytes`. They may take at most `most_bytes` of memory.
Status ReadNames(std::string_view& bytes, bool are_short, uint64_t most_bytes, RowNames& names) {
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
    if (!(are_short ? AddLengthened(name, names) : names.Add(name))) return Damaged("name");
    if (names.memory() > most_bytes) return Damaged("number of names");
  }
  names.Sort();
  return Ok();
}

// Appends a Zstd frame that has the size of its content.
void AppendCompressed(std::string& bytes, std::string_view content) {
  const size_t head = bytes.size();
  bytes.resize(head + ZSTD_compressBound(content.size()));
  const size_t size =
      ZSTD_compress(bytes.data() + head, bytes.size() - head, content.data(), content.size(), kZstdLevel);
  ASSERT(!ZSTD_isError(size), "Zstd had too little room");
  bytes.resize(head + size);
}

Result<std::string> Decompress(std::string_view frame, uint64_t most_bytes) {
  const unsigned long long size = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR || size > most_bytes) return Damaged("frame");
  std::string content(size, '\0');
  if (ZSTD_decompress(content.data(), size, frame.data(), frame.size()) != size) return Damaged("frame");
  return content;
}

}  // namespace

std::string EncodeHotRows(const HotRows& rows) {
  std::string names;
  AppendNames(names, rows.kept);
  AppendNames(names, rows.young);
  std::string bytes(kMagic);
  AppendCompressed(bytes, names);
  AppendU64(bytes, Hash64(bytes));
  return bytes;
}

Result<HotRows> DecodeHotRows(std::string_view bytes, uint64_t most_bytes) {
  const bool is_first = bytes.starts_with(kFirstMagic);
  if (!is_first && !bytes.starts_with(kMagic)) return Damaged("magic");
  if (bytes.size() < kMagic.size() + kChecksumBytes) return Damaged("cut short");
  std::string_view tail = bytes.substr(bytes.size() - kChecksumBytes);
  bytes.remove_suffix(kChecksumBytes);
  uint64_t checksum = 0;
  if (!ReadU64(tail, checksum) || checksum != Hash64(bytes)) return Damaged("checksum");
  bytes.remove_prefix(kMagic.size());
  std::string decompressed;
  if (!is_first) {
    decompressed = TRY(Decompress(bytes, most_bytes));
    bytes = decompressed;
  }
  HotRows rows;
  TRY(ReadNames(bytes, !is_first, most_bytes, rows.kept));
  TRY(ReadNames(bytes, !is_first, most_bytes - rows.kept.memory(), rows.young));
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
  return DecodeHotRows(bytes, most_bytes);
}

}  // namespace cairn
