// SPDX-License-Identifier: BSD-3-Clause
#include "types/json.h"

#include <utility>

#include "base/assert.h"

namespace cairn {
namespace {

constexpr size_t kBytesPerStep = 128;     // of a text that is parsed
constexpr size_t kPathBytesPerStep = 16;  // a step of a path may have two bytes

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
  Result<JsonValue> document = ParseJson(text(), MostMemory(keys_));
  if (!document.ok() && document.status().text() != kJsonTooLarge) {
    return Status::Corruption("json: the row is not a document");
  }
  return document;
}

Result<JsonValue> Json::Parse(std::string_view text, uint64_t taken) const {
  TRY(keys_.txn().command().Spend(1 + text.size() / kBytesPerStep));
  const uint64_t most = MostMemory(keys_);
  return ParseJson(text, most - std::min(most, taken));
}

Result<JsonPath> Json::ParsePath(std::string_view text, JsonWork& work) {
  ASSERT(work.command != nullptr, "the work of a command");
  TRY(work.command->Spend(1 + text.size() / kPathBytesPerStep));
  return JsonPath::Parse(text, work);
}

uint64_t Json::MostMemory(Keyspace& keys) {
  return keys.txn().command().keeps_expired() ? UINT64_MAX : ReadLimit(keys.limits().json_max_memory);
}

Status Json::CheckMemory(uint64_t bytes) const {
  return bytes > MostMemory(keys_) ? Status::Reply(kJsonTooLarge) : Ok();
}

JsonWork Json::Work(Keyspace& keys) {
  CommandState& command = keys.txn().command();
  return {.command = &command,
          .most_visits = command.keeps_expired() ? UINT64_MAX : JsonWork::kMostVisits,
          .most_bytes = MostMemory(keys)};
}

Status Json::Write(const JsonValue& document) {
  if (JsonLevels(document) > kMostJsonLevels) return Status::Reply("ERR recursion limit exceeded");
  TRY(CheckMemory(JsonMemory(document)));  // it would be stored, and no command could read it
  return WriteText(JsonText(document));
}

Status Json::WriteText(std::string_view text) {
  if (text.size() > kMostBytes) return Status::Reply("ERR the document exceeds the maximum of 512 MB");
  const RecordHeader header = {.type = Type::kJson, .encoding = Encoding::kRaw, .expire_ms = entry_.expire_ms()};
  return keys_.Write(key_, entry_, header, text);
}

Status Json::Remove() { return keys_.Remove(key_, entry_); }

}  // namespace cairn
