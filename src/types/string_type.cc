// SPDX-License-Identifier: BSD-3-Clause
//
// The type row of strings (types/string.h).
#include "types/fragments.h"
#include "types/string.h"
#include "types/value_types.h"

namespace cairn {
namespace {

// Redis shares one object among all uses of a small integer and returns this refcount for it.
constexpr int64_t kSharedIntegers = 10000;
constexpr int64_t kSharedCount = INT32_MAX;

Result<int64_t> References(const KeyEntry& entry) {
  if (entry.encoding() != Encoding::kInteger) return int64_t{1};
  const int64_t value = TRY(ReadInteger(entry));
  return value >= 0 && value < kSharedIntegers ? kSharedCount : int64_t{1};
}

// The bytes of a fragmented string's rows if it had no zeros. Only a walk could tell how many are missing.
Result<uint64_t> FragmentBytes(Transaction&, const Key&, const KeyEntry& entry, uint64_t) {
  const uint64_t length = TRY(TextSize(entry));
  return length + (length / Fragments::kFragmentBytes + 1) * kRowOverheadBytes;
}

Status AddToDigest(Digest& digest, Keyspace& keys, const Key& key, KeyEntry entry) {
  digest.Mix(TRY(ReadText(keys, key, entry)).view());
  return Ok();
}

Status Save(Keyspace& keys, const Key& key, KeyEntry entry, RdbWriter& writer) {
  const StringText text = TRY(ReadText(keys, key, entry));
  writer.Type(RdbType::kString);
  writer.Text(text.view());
  return Ok();
}

Status Load(Keyspace& keys, const Key& key, const KeyEntry& entry, const RdbValue& value) {
  std::string scratch;
  return WriteText(keys, key, entry, value.items[0].Text(scratch), kNoExpiry);
}

constexpr RdbForm kForms[] = {{RdbType::kString, ReadRdbText}};

}  // namespace

const ValueType kStringType = {
    .type = Type::kString,
    .name = "string",
    .redis_number = 0,
    .encoding_name = StringEncodingName,
    .references = References,
    .size = TextSize,
    .sizes_name = "strings_sizes",
    .length = TextSize,
    .row_bytes = FragmentBytes,
    .add_to_digest = AddToDigest,
    .save = Save,
    .load = Load,
    .rdb_forms = kForms,
};

}  // namespace cairn
