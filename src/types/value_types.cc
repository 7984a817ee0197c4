// SPDX-License-Identifier: BSD-3-Clause
#include "types/value_types.h"

#include <iterator>

#include "base/assert.h"
#include "base/words.h"
#include "encoding/varint.h"

namespace cairn {
namespace {

constexpr const ValueType* kRows[] = {
    &kStringType, &kListType,  &kSetType,    &kZsetType,     &kHashType, &kStreamType,
    &kJsonType,   &kBloomType, &kCuckooType, &kCountMinType, &kTopKType, &kTDigestType,
};
static_assert(std::size(kRows) == kTypeCount, "a type that a record may have is a row");

}  // namespace

std::span<const ValueType* const> ValueTypes() { return kRows; }

const ValueType& ValueTypeOf(Type type) {
  ASSERT(type != Type::kNone, "a missing key has no type");
  return *kRows[static_cast<size_t>(type) - 1];
}

Result<uint64_t> ElementCount(const KeyEntry& entry) {
  if (entry.encoding() == Encoding::kSpread) return TRY(DecodeSpreadPayload(entry.payload())).count;
  std::string_view payload = entry.payload();
  uint64_t count = 0;
  if (!ReadVarint(payload, count)) return Status::Corruption("a packed value has no count");
  return count;
}

const ValueType* FindValueType(std::string_view name) {
  for (const ValueType* const row : kRows) {
    if (EqualsIgnoreCase(name, row->name)) return row;
  }
  return nullptr;
}

RdbFormOfType FindRdbForm(RdbType number) {
  for (const ValueType* const row : kRows) {
    for (const RdbForm& form : row->rdb_forms) {
      if (form.number == number) return {row, &form};
    }
  }
  return {};
}

}  // namespace cairn
