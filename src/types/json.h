// SPDX-License-Identifier: BSD-3-Clause
//
// Json: a key's JSON document. It is one row (Encoding::kRaw): the compact text of the document (types/json_value.h).
// Reads of the whole document need no parse.
//
// Thread: that of the transaction.
#pragma once

#include <string_view>

#include "base/result.h"
#include "types/json_path.h"
#include "types/json_value.h"
#include "types/keyspace.h"

namespace cairn {

class Json {
 public:
  // A document whose text is longer is refused, like a string.
  static constexpr size_t kMostBytes = 512ull << 20;

  // `key` must outlive this object.
  Json(Keyspace& keys, const Key& key) : keys_(keys), key_(key) {}

  Status Open();
  Status Open(KeyEntry entry);
  bool exists() const { return entry_.exists(); }
  // REQUIRES: exists()
  std::string_view text() const { return entry_.payload(); }
  Result<JsonValue> Read() const;
  // The bounds for matching paths in it.
  JsonWork work() const;

  // Stores a new document; keeps the expiry of an old one.
  Status Write(const JsonValue& document);
  Status WriteText(std::string_view text);
  Status Remove();

 private:
  Keyspace& keys_;
  const Key& key_;
  KeyEntry entry_;
};

}  // namespace cairn
