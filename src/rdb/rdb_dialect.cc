// SPDX-License-Identifier: BSD-3-Clause
#include "rdb/rdb_dialect.h"

namespace cairn {
namespace {

// Types that exist, but not in Cairn.
struct UnreadType {
  uint16_t number;
  std::string_view name;
};

constexpr std::string_view kOfModule = "a value belongs to a module, and Cairn has no modules";
constexpr UnreadType kUnread[] = {
    {22, "a hash with expiring fields in the form of a release candidate of Redis 7.4"},
    {23, "a hash with expiring fields in the form of a release candidate of Redis 7.4"},
    {28, "an array, which Redis has since 8.8"},
    {33, "a rate limiter (GCRA) of Redis"},
    {kValkeyType + 23, "a path hash, which Valkey has since 9.2"},
};

}  // namespace

std::string DescribeUnreadType(RdbType type) {
  const auto number = static_cast<uint16_t>(type);
  if (number == 6 || number == 7) return std::string(kOfModule);
  const std::string shown = std::to_string(number % kValkeyType) + (number >= kValkeyType ? " of Valkey" : "");
  for (const UnreadType& each : kUnread) {
    if (each.number == number) return "type " + shown + ", " + std::string(each.name) + ", is not supported";
  }
  return "unknown type " + shown;
}

}  // namespace cairn
