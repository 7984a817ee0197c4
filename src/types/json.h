// SPDX-License-Identifier: BSD-3-Clause
//
// Json: a key's JSON document. It is one row (Encoding::kRaw): the compact text of the document (types/json_value.h).
// Reads of the whole document need no parse.
//
// A parsed document may take many times the memory of its text: each value has 40 bytes, and `0,` is a value. So the
// memory of one is limited (Limits::json_max_memory), and so are the matches of paths and the work on them (JsonWork).
// Commands of a primary's stream have no limit: the primary has run them.
//
// Thread: that of the transaction.
#pragma once

#include <algorithm>
#include <cstdint>
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
  // The share of the memory budget that one parsed document may take. Even the smallest budget allows some MB of text.
  static constexpr uint64_t ShareOf(uint64_t budget) { return std::max(budget / 8, uint64_t{16} << 20); }
  // The memory that one document may take when a command of this keyspace parses it.
  static uint64_t MostMemory(Keyspace& keys);

  // `key` must outlive this object.
  Json(Keyspace& keys, const Key& key) : keys_(keys), key_(key) {}

  Status Open();
  Status Open(KeyEntry entry);
  bool exists() const { return entry_.exists(); }
  // REQUIRES: exists()
  std::string_view text() const { return entry_.payload(); }
  Result<JsonValue> Read() const;
  // Parses a document that is an argument of the command. `taken`: the memory of other arguments that are in memory.
  Result<JsonValue> Parse(std::string_view text, uint64_t taken = 0) const;
  // Parses a path that is an argument of the command. REQUIRES: `work` is that of the command (Work)
  static Result<JsonPath> ParsePath(std::string_view text, JsonWork& work);
  // kJsonTooLarge if values of this size must not be in memory.
  Status CheckMemory(uint64_t bytes) const;
  // The work of a command of this keyspace, with the bounds of its visits and of the memory of its matches.
  static JsonWork Work(Keyspace& keys);
  JsonWork work() const { return Work(keys_); }

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
