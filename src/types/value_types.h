// SPDX-License-Identifier: BSD-3-Clause
//
// The table of types: the row of each type, and lookups.
//
// Thread: any; constants.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "types/value_type.h"

namespace cairn {

extern const ValueType kStringType;
extern const ValueType kListType;
extern const ValueType kSetType;
extern const ValueType kZsetType;
extern const ValueType kHashType;
extern const ValueType kStreamType;
extern const ValueType kJsonType;
extern const ValueType kBloomType;
extern const ValueType kCuckooType;
extern const ValueType kCountMinType;
extern const ValueType kTopKType;
extern const ValueType kTDigestType;

// In the order of Type.
std::span<const ValueType* const> ValueTypes();

// REQUIRES: the type is not kNone.
const ValueType& ValueTypeOf(Type type);
// REQUIRES: entry.exists()
inline const ValueType& ValueTypeOf(const KeyEntry& entry) { return ValueTypeOf(entry.type()); }
// Finds a type by the name that TYPE returns, ignoring case; null if there is none.
const ValueType* FindValueType(std::string_view name);

// An RDB encoding and its type; null if no type has the number.
struct RdbFormOfType {
  const ValueType* type = nullptr;
  const RdbForm* form = nullptr;
};
RdbFormOfType FindRdbForm(RdbType number);

}  // namespace cairn
