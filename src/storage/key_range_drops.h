// SPDX-License-Identifier: BSD-3-Clause
//
// KeyRangeDrops: deletes consecutive keys by one range tombstone, instead of a tombstone for each.
//
// It writes a batch of its own and not one of a transaction, because nobody may read or write these keys: their slots
// are hidden (storage/hidden_slots.h). Like a transaction's, the batch keeps everything that depends on the keys: the
// count of keys, the expiry rows, the owner rows of collections, the commands for replicas.
//
// Thread: one at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "encoding/row_key.h"

namespace rocksdb {
class WriteBatch;
}

namespace cairn {

class Store;

// All keys with rows in [lower, upper).
struct KeyRange {
  KeyspaceId keyspace = 0;
  std::string lower;
  std::string upper;
  int64_t keys = 0;
  std::vector<RowKey> side_rows;          // their expiry rows
  std::vector<CollectionId> collections;  // of spread values
};

class KeyRangeDrops {
 public:
  explicit KeyRangeDrops(Store& store);

  // Deletes the keys. `deletion` returns the log entries that do the same on replicas; it is called only if there are
  // any. The rows stay in the key cache. On an error nothing has changed.
  Status Drop(const KeyRange& range, const std::function<std::string()>& deletion);

 private:
  Status WriteToDisk(rocksdb::WriteBatch& batch, const std::function<std::string()>& deletion);
  Status WriteInMemory(rocksdb::WriteBatch& batch, const std::function<std::string()>& deletion);

  Store& store_;
  const uint32_t committer_;
  std::map<KeyspaceId, int64_t> sums_;  // of keys added, as in each batch (storage/store.h)
};

}  // namespace cairn
