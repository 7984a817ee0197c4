// SPDX-License-Identifier: BSD-3-Clause
#include "encoding/stream_id.h"

#include "base/number.h"
#include "encoding/varint.h"

namespace cairn {

std::string StreamId::ToString() const {
  std::string text;
  AppendUint64(text, ms);
  text.push_back('-');
  AppendUint64(text, seq);
  return text;
}

std::optional<StreamId> NextStreamId(StreamId id) {
  if (id == kLastStreamId) return std::nullopt;
  return id.seq == UINT64_MAX ? StreamId{id.ms + 1, 0} : StreamId{id.ms, id.seq + 1};
}

std::optional<StreamId> PreviousStreamId(StreamId id) {
  if (id.IsZero()) return std::nullopt;
  return id.seq == 0 ? StreamId{id.ms - 1, UINT64_MAX} : StreamId{id.ms, id.seq - 1};
}

std::optional<StreamId> ParseStreamId(std::string_view text, uint64_t missing_seq) {
  const size_t dash = text.find('-');
  const auto ms = ParseUint64(text.substr(0, dash));
  if (!ms) return std::nullopt;
  if (dash == std::string_view::npos) return StreamId{*ms, missing_seq};
  const auto seq = ParseUint64(text.substr(dash + 1));
  if (!seq) return std::nullopt;
  return StreamId{*ms, *seq};
}

void AppendStreamId(std::string& out, StreamId id) {
  AppendVarint(out, id.ms);
  AppendVarint(out, id.seq);
}

bool ReadStreamId(std::string_view& in, StreamId& id) { return ReadVarint(in, id.ms) && ReadVarint(in, id.seq); }

}  // namespace cairn
