// SPDX-License-Identifier: BSD-3-Clause
//
// The two dialects of RDB. Redis and Valkey share its versions up to 11. Since then Redis counts on from 12, and Valkey
// from 80; the same number of a type or opcode means something else in each (rdb/rdb_format.h). A file names its
// dialect with its magic, a DUMP payload only with its version.
//
// Thread: any; pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "rdb/rdb_format.h"

namespace cairn {

enum class RdbDialect : uint8_t { kRedis, kValkey };

// The newest versions that we read: those of Redis 8.10 and of Valkey 9.2. We refuse newer ones, as Redis does, because
// they may have changed the meaning of a number.
inline constexpr uint64_t kRdbVersionRead = 15;
inline constexpr uint64_t kValkeyVersionRead = 81;

constexpr RdbDialect RdbDialectOf(uint64_t version) {
  constexpr uint64_t kFirstOfValkey = 80;
  return version >= kFirstOfValkey ? RdbDialect::kValkey : RdbDialect::kRedis;
}

constexpr bool IsReadRdbVersion(uint64_t version) {
  return version <= (RdbDialectOf(version) == RdbDialect::kValkey ? kValkeyVersionRead : kRdbVersionRead);
}

// The type that a byte of a file or payload means. It need not be one that we know.
constexpr RdbType RdbTypeOf(uint8_t number, RdbDialect dialect) {
  constexpr uint8_t kFirstDifferent = 22;
  const bool is_of_valkey = dialect == RdbDialect::kValkey && number >= kFirstDifferent && number < kFirstCairnType;
  return static_cast<RdbType>(number + (is_of_valkey ? kValkeyType : 0));
}

// Why a type cannot be read, for an error: its name if we know it, else its number.
std::string DescribeUnreadType(RdbType type);

}  // namespace cairn
