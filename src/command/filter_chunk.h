// SPDX-License-Identifier: BSD-3-Clause
//
// What the commands of Bloom filters and of cuckoo filters share: error texts, and the chunks of SCANDUMP and
// LOADCHUNK.
//
// Chunks are numbered by the position of their first byte in the bytes of all sub-filters, counted from 1. A chunk does
// not cross the end of a sub-filter.
//
// Thread: that of the worker.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "resp/reply.h"

namespace cairn {

inline constexpr std::string_view kNoFilter = "ERR not found";
inline constexpr std::string_view kFilterExists = "ERR item exists";
inline constexpr int64_t kMostFilterCapacity = int64_t{1} << 30;

struct FilterChunk {
  uint64_t offset = 0;  // of the chunk's first byte, counted from 0
  uint64_t size = 0;    // of the chunk, as SCANDUMP cuts it
  uint64_t left = 0;    // the bytes from `offset` to the end of the sub-filter
};

// The chunk at a position. `sizes`: the bytes of each sub-filter. None: there is none.
std::optional<FilterChunk> FilterChunkAt(std::span<const uint64_t> sizes, int64_t position);

// Replies as SCANDUMP: where the next chunk begins, and this one's bytes.
Status ReplyChunk(int64_t next, std::string_view bytes, Reply& reply);

// RedisBloom's look-ups find nothing in a key of another type.
inline Status OkIfOfOtherType(Status opened) { return opened.Is(Code::kReply) ? Ok() : std::move(opened); }

}  // namespace cairn
