// SPDX-License-Identifier: BSD-3-Clause
#include "types/json.h"

#include <utility>

#include "base/assert.h"

namespace cairn {
namespace {

constexpr size_t kBytesPerStep = 128;  // of a text that is parsed

}  // namespace

Status Json::Open() { return Open(TRY(keys_.Find(key_))); }

Status Json::Open(KeyEntry entry) {
  if (entry.exists() && entry.type() != Type::kJson) return Status::Reply(kWrongType);
  entry_ = std::move(entry);
  return Ok();
}

Result<JsonValue> Json::Read() const {
  ASSERT(exists(), "a missing key has no document");
  TRY(keys_.txn().command().Spend(text().size() / kBytesPerStep));
  Result<JsonValue> document = ParseJson(text());
  if (!document.ok()) return Status::Corruption("json: the row is not a document");
  return document;
}

JsonWork Json::work() const {
  const bool is_fast = keys_.txn().command().lane() == Lane::kFast;
  return {.most_visits = is_fast ? JsonWork::kFastLaneVisits : JsonWork::kMostVisits};
}

Status Json::Write(const JsonValue& document) {
  if (JsonLevels(document) > kMostJsonLevels) return Status::Reply("ERR recursion limit exceeded");
  return WriteText(JsonText(document));
}

Status Json::WriteText(std::string_view text) {
  if (text.size() > kMostBytes) return Status::Reply("ERR the document exceeds the maximum of 512 MB");
  const RecordHeader header = {.type = Type::kJson, .encoding = Encoding::kRaw, .expire_ms = entry_.expire_ms()};
  return keys_.Write(key_, entry_, header, text);
}

Status Json::Remove() { return keys_.Remove(key_, entry_); }

}  // namespace cairn
