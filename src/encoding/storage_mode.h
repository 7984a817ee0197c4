// SPDX-License-Identifier: BSD-3-Clause
//
// StorageMode: where the rows of a database are (docs/format.md, section 2). The two highest bits of a keyspace's
// number and of a collection's id are the mode, so a row names its mode itself.
//
// Thread: any; pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "encoding/row_key.h"

namespace cairn {

// kSsd, kHdd: column families of the RocksDB database on disk. kMemory: a RocksDB database in memory, which is empty
// after a start.
enum class StorageMode : uint8_t { kSsd = 0, kHdd = 1, kMemory = 2 };
inline constexpr int kStorageModeCount = 3;

// "ssd", "hdd", "memory".
constexpr std::string_view NameOf(StorageMode mode) {
  constexpr std::string_view kNames[kStorageModeCount] = {"ssd", "hdd", "memory"};
  return kNames[static_cast<int>(mode)];
}
constexpr std::optional<StorageMode> StorageModeNamed(std::string_view name) {
  for (int i = 0; i < kStorageModeCount; ++i) {
    if (NameOf(static_cast<StorageMode>(i)) == name) return static_cast<StorageMode>(i);
  }
  return std::nullopt;
}

// ---- numbers of keyspaces and collections: the mode and a number below 2^30 or 2^62
inline constexpr int kKeyspaceNumberBits = 30;
inline constexpr int kCollectionNumberBits = 62;
constexpr KeyspaceId KeyspaceIn(StorageMode mode, KeyspaceId number) {
  return static_cast<KeyspaceId>(mode) << kKeyspaceNumberBits | number;
}
constexpr CollectionId CollectionIn(StorageMode mode, CollectionId number) {
  return static_cast<CollectionId>(mode) << kCollectionNumberBits | number;
}
constexpr StorageMode ModeOfKeyspace(KeyspaceId id) { return static_cast<StorageMode>(id >> kKeyspaceNumberBits); }
constexpr StorageMode ModeOfCollection(CollectionId id) {
  return static_cast<StorageMode>(id >> kCollectionNumberBits);
}
constexpr KeyspaceId NumberOfKeyspace(KeyspaceId id) { return id & ((KeyspaceId{1} << kKeyspaceNumberBits) - 1); }
constexpr CollectionId NumberOfCollection(CollectionId id) {
  return id & ((CollectionId{1} << kCollectionNumberBits) - 1);
}

// The mode of a row, or of a bound of rows, of any space but meta. An expiry row has it after its time; a bound that
// is only a time is one of rows on disk.
constexpr StorageMode ModeOfRow(Space space, std::string_view row) {
  const size_t at = space == Space::kExpiries ? sizeof(uint64_t) : 0;
  if (space == Space::kMeta || row.size() <= at) return StorageMode::kSsd;
  return static_cast<StorageMode>(static_cast<unsigned char>(row[at]) >> 6);
}

}  // namespace cairn
