// SPDX-License-Identifier: BSD-3-Clause
//
// The type row of JSON documents (types/json.h). In RDB a document is its text, under a type number of Cairn's own:
// Redis and Valkey refuse such a value with their error for an unknown type.
#include "types/json.h"
#include "types/value_types.h"

namespace cairn {
namespace {

std::string_view EncodingName(const KeyEntry&) { return "raw"; }

Status AddToDigest(Digest& digest, Keyspace&, const Key&, KeyEntry entry) {
  digest.Mix(entry.payload());
  return Ok();
}

Status Save(Keyspace&, const Key&, KeyEntry entry, RdbWriter& writer) {
  writer.Type(RdbType::kCairnJson);
  writer.Text(entry.payload());
  return Ok();
}

// Refuses a text that is not canonical, because readers of a row rely on that.
Status ReadDocument(RdbReader& reader, RdbValue& value) {
  TRY(ReadRdbText(reader, value));
  std::string scratch;
  const std::string_view text = value.items[0].Text(scratch);
  const Result<JsonValue> document = ParseJson(text);
  if (!document.ok() || JsonText(*document) != text) return Status::Corruption("rdb: a text that is not JSON");
  return Ok();
}

Status Load(Keyspace& keys, const Key& key, const KeyEntry& entry, const RdbValue& value) {
  std::string scratch;
  const RecordHeader header = {.type = Type::kJson, .encoding = Encoding::kRaw};
  return keys.Write(key, entry, header, value.items[0].Text(scratch));
}

constexpr RdbForm kForms[] = {{RdbType::kCairnJson, ReadDocument}};

}  // namespace

const ValueType kJsonType = {
    .type = Type::kJson,
    .name = "ReJSON-RL",
    .redis_number = 5,  // of values of modules
    .encoding_name = EncodingName,
    .add_to_digest = AddToDigest,
    .save = Save,
    .load = Load,
    .rdb_forms = kForms,
};

}  // namespace cairn
