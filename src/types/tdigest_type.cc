// SPDX-License-Identifier: BSD-3-Clause
//
// The type row of t-digests (types/tdigest.h). In RDB a digest is the payload of its record, under a type number of
// Cairn's own.
#include "types/tdigest.h"
#include "types/text_row.h"

namespace cairn {
namespace {

using Row = TextRow<Type::kTDigest, RdbType::kCairnTDigest>;

Status ReadDigest(RdbReader& reader, RdbValue& value) {
  TRY(ReadRdbText(reader, value));
  std::string scratch;
  TRY(TDigest::Decode(value.items[0].Text(scratch)));
  return Ok();
}

constexpr RdbForm kForms[] = {{RdbType::kCairnTDigest, ReadDigest}};

}  // namespace

const ValueType kTDigestType = {
    .type = Type::kTDigest,
    .name = "TDIS-TYPE",
    .redis_number = static_cast<uint32_t>(RdbType::kCairnTDigest),
    .encoding_name = Row::EncodingName,
    .add_to_digest = Row::AddToDigest,
    .save = Row::Save,
    .load = Row::Load,
    .rdb_forms = kForms,
};

}  // namespace cairn
