// SPDX-License-Identifier: BSD-3-Clause
//
// StreamId: the id of a stream's entry, two 64-bit numbers: a time in ms, and a sequence number within it. Written
// "1526919030474-55"; the ids of a stream only grow.
//
// In a row key an id is ms:u64 seq:u64, so rows sort as ids do.
// Thread: any; a value.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cairn {

struct StreamId {
  uint64_t ms = 0;
  uint64_t seq = 0;

  auto operator<=>(const StreamId&) const = default;
  bool IsZero() const { return ms == 0 && seq == 0; }
  std::string ToString() const;
};

inline constexpr StreamId kLastStreamId{UINT64_MAX, UINT64_MAX};

// The id directly after or before `id`; none at the end of the range.
std::optional<StreamId> NextStreamId(StreamId id);
std::optional<StreamId> PreviousStreamId(StreamId id);

// Parses "ms-seq", or "ms" alone, which sets seq to `missing_seq`; none for other text. White space, a plus sign and
// zeros may precede each number.
std::optional<StreamId> ParseStreamId(std::string_view text, uint64_t missing_seq);

// An id as two varints: its form in records and values.
void AppendStreamId(std::string& out, StreamId id);
bool ReadStreamId(std::string_view& in, StreamId& id);

}  // namespace cairn
