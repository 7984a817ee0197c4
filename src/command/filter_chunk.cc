// SPDX-License-Identifier: BSD-3-Clause
#include "command/filter_chunk.h"

#include <algorithm>

namespace cairn {
namespace {

constexpr uint64_t kMostChunkBytes = uint64_t{16} << 20;

}  // namespace

std::optional<FilterChunk> FilterChunkAt(std::span<const uint64_t> sizes, int64_t position) {
  if (position < 1) return std::nullopt;
  const uint64_t offset = static_cast<uint64_t>(position) - 1;
  uint64_t end = 0;
  for (const uint64_t size : sizes) {
    end += size;
    if (offset < end) {
      return FilterChunk{.offset = offset, .size = std::min(end - offset, kMostChunkBytes), .left = end - offset};
    }
  }
  return std::nullopt;
}

Status ReplyChunk(int64_t next, std::string_view bytes, Reply& reply) {
  reply.Array(2);
  reply.Integer(next);
  reply.Bulk(bytes);
  return Ok();
}

}  // namespace cairn
