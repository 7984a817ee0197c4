// SPDX-License-Identifier: BSD-3-Clause
//
// The table of types: the row of each, and how to find one.
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

// In the order of Type.
std::span<const ValueType* const> ValueTypes();

// REQUIRES: it is not kNone.
const ValueType& ValueTypeOf(Type type);
// REQUIRES: entry.exists()
inline const ValueType& ValueTypeOf(const KeyEntry& entry) { return ValueTypeOf(entry.type()); }
// By the name that TYPE answers, in any case; null: no type has it.
const ValueType* FindValueType(std::string_view name);

// A way in which RDB holds values, with the type that has it; null: there is none of the number.
struct RdbFormOfType {
  const ValueType* type = nullptr;
  const RdbForm* form = nullptr;
};
RdbFormOfType FindRdbForm(uint8_t number);

}  // namespace cairn
