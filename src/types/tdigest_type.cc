// SPDX-License-Identifier: BSD-3-Clause
//
// The type row of t-digests (types/tdigest.h). In RDB a digest is the payload of its record, under a type number of
// Cairn's own.
#include "types/tdigest.h"
#include "types/value_types.h"

namespace cairn {
namespace {

std::string_view EncodingName(const KeyEntry&) { return "raw"; }

Status AddToDigest(Digest& digest, Keyspace&, const Key&, KeyEntry entry) {
  digest.Mix(entry.payload());
  return Ok();
}

Status Save(Keyspace&, const Key&, KeyEntry entry, RdbWriter& writer) {
  writer.Type(RdbType::kCairnTDigest);
  writer.Text(entry.payload());
  return Ok();
}

Status ReadDigest(RdbReader& reader, RdbValue& value) {
  TRY(ReadRdbText(reader, value));
  std::string scratch;
  TRY(TDigest::Decode(value.items[0].Text(scratch)));
  return Ok();
}

Status Load(Keyspace& keys, const Key& key, const KeyEntry& entry, const RdbValue& value) {
  std::string scratch;
  const RecordHeader header = {.type = Type::kTDigest, .encoding = Encoding::kRaw};
  return keys.Write(key, entry, header, value.items[0].Text(scratch));
}

constexpr RdbForm kForms[] = {{RdbType::kCairnTDigest, ReadDigest}};

}  // namespace

const ValueType kTDigestType = {
    .type = Type::kTDigest,
    .name = "TDIS-TYPE",
    .redis_number = static_cast<uint32_t>(RdbType::kCairnTDigest),
    .encoding_name = EncodingName,
    .add_to_digest = AddToDigest,
    .save = Save,
    .load = Load,
    .rdb_forms = kForms,
};

}  // namespace cairn
