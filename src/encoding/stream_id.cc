// SPDX-License-Identifier: BSD-3-Clause
#include "encoding/stream_id.h"

#include <algorithm>

#include "base/number.h"
#include "encoding/varint.h"

namespace cairn {
namespace {

// One number of an id. White space, a plus sign and zeros may precede it, as in Redis.
std::optional<uint64_t> ParsePart(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\n\v\f\r"), text.size()));
  if (text.starts_with('+')) text.remove_prefix(1);
  while (text.size() > 1 && text.front() == '0') text.remove_prefix(1);
  return ParseUint64(text);
}

}  // namespace

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
  const auto ms = ParsePart(text.substr(0, dash));
  if (!ms) return std::nullopt;
  if (dash == std::string_view::npos) return StreamId{*ms, missing_seq};
  const auto seq = ParsePart(text.substr(dash + 1));
  if (!seq) return std::nullopt;
  return StreamId{*ms, *seq};
}

void AppendStreamId(std::string& out, StreamId id) {
  AppendVarint(out, id.ms);
  AppendVarint(out, id.seq);
}

bool ReadStreamId(std::string_view& in, StreamId& id) { return ReadVarint(in, id.ms) && ReadVarint(in, id.seq); }

}  // namespace cairn
