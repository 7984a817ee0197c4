// SPDX-License-Identifier: BSD-3-Clause
#include "command/block_timeout.h"

#include <cmath>
#include <cstdint>

#include "base/number.h"

namespace cairn {
namespace {

constexpr std::string_view kNotAFloat = "ERR timeout is not a float or out of range";
constexpr std::string_view kNegative = "ERR timeout is negative";
constexpr std::string_view kOutOfRange = "ERR timeout is out of range";

}  // namespace

Status SetBlockTimeout(CommandContext& ctx, std::string_view seconds) {
  const auto value = ParseLongDouble(seconds);
  if (!value) return Status::Reply(kNotAFloat);
  const long double ms = std::ceil(*value * 1000);
  if (ms < 0) return Status::Reply(kNegative);
  // The deadline must fit into an int64 too.
  if (ms > static_cast<long double>(INT64_MAX - ctx.now_ms())) return Status::Reply(kOutOfRange);
  ctx.wait().timeout_ms = static_cast<int64_t>(ms);
  return Ok();
}

}  // namespace cairn
