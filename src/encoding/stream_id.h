// SPDX-License-Identifier: BSD-3-Clause
//
// StreamId: the name of a stream's entry, two 64-bit numbers: a time in ms, and a number within it.
// Written "1526919030474-55"; ids of a stream only grow.
//
// On disk a row that is filed under an id has it as ms:u64 seq:u64, so that rows sort as ids do.
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

// The id right behind or before `id`; none at the end of the numbers.
std::optional<StreamId> NextStreamId(StreamId id);
std::optional<StreamId> PreviousStreamId(StreamId id);

// "ms-seq", or "ms" alone, which leaves seq at `missing_seq`; none when it is neither.
std::optional<StreamId> ParseStreamId(std::string_view text, uint64_t missing_seq);

// The two numbers as varints, the form in which records and values have an id.
void AppendStreamId(std::string& out, StreamId id);
bool ReadStreamId(std::string_view& in, StreamId& id);

}  // namespace cairn
