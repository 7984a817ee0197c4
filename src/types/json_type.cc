// SPDX-License-Identifier: BSD-3-Clause
//
// The type row of JSON documents (types/json.h). In RDB a document is its text, under a type number of Cairn's own:
// Redis and Valkey refuse such a value with their error for an unknown type.
#include "types/json.h"
#include "types/text_row.h"

namespace cairn {
namespace {

using Row = TextRow<Type::kJson, RdbType::kCairnJson>;

// Refuses a text that is not canonical, because readers of a row rely on that.
Status ReadDocument(RdbReader& reader, RdbValue& value) {
  TRY(ReadRdbText(reader, value));
  std::string scratch;
  const std::string_view text = value.items[0].Text(scratch);
  const Result<JsonValue> document = ParseJson(text, reader.most_parsed_bytes());
  if (!document.ok() || JsonText(*document) != text) return Status::Corruption("rdb: a text that is not JSON");
  return Ok();
}

constexpr RdbForm kForms[] = {{RdbType::kCairnJson, ReadDocument}};

}  // namespace

const ValueType kJsonType = {
    .type = Type::kJson,
    .name = "ReJSON-RL",
    .redis_number = 5,  // of values of modules
    .encoding_name = Row::EncodingName,
    .add_to_digest = Row::AddToDigest,
    .save = Row::Save,
    .load = Row::Load,
    .rdb_forms = kForms,
};

}  // namespace cairn
