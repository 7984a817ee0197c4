// SPDX-License-Identifier: BSD-3-Clause
#include "check/collection.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/hash.h"
#include "check/stream_groups.h"
#include "encoding/packed.h"
#include "encoding/varint.h"
#include "storage/slice.h"
#include "types/bloom_chain.h"
#include "types/count_min.h"
#include "types/cuckoo_shape.h"
#include "types/field_deadlines.h"
#include "types/filter_bytes.h"
#include "types/fragments.h"
#include "types/list_walk.h"
#include "types/stream.h"
#include "types/stream_chunk.h"
#include "types/tdigest.h"
#include "types/topk.h"
#include "types/zset_packed.h"

namespace cairn {
namespace {

constexpr size_t kIdBytes = sizeof(CollectionId);

Status Bad(const char* why) { return Status::Corruption(why); }

Status CheckMember(std::string_view row, std::string_view& member) {
  CollectionId id = 0;
  uint32_t hash = 0;
  if (!ParseElementRow(row, id, hash, member)) return Bad("a row is cut short");
  return hash == RowHash(member) ? Ok() : Bad("a row has another hash than its member");
}

Status CheckItems(std::string_view packed, bool has_pairs) {
  PackedReader reader(packed);
  Item item;
  while (reader.Next(item)) {
    if (has_pairs && !reader.Next(item)) return Bad("a field without a value");
  }
  if (!reader.status().ok()) return Bad("packed items do not decode");
  return reader.offset() == packed.size() ? Ok() : Bad("bytes after the packed items");
}

Status CheckIntegers(std::string_view packed) {
  PackedIntegersReader reader(packed);
  int64_t value = 0;
  while (reader.Next(value)) {
  }
  return reader.status().ok() ? Ok() : Bad("packed integers do not decode");
}

// Decodes the header of a filter from the front of `in`; returns the length that it states.
Result<uint64_t> TakeFilterHeader(Type type, std::string_view& in) {
  if (type == Type::kBloom) return TRY(BloomChain::Decode(in)).bytes();
  return TRY(CuckooShape::Decode(in)).bytes();
}

Status CheckFilter(const Record& record) {
  std::string_view rest = record.payload;
  const uint64_t length = TRY(TakeFilterHeader(record.header.type, rest));
  return rest.size() == length ? Ok() : Bad("a filter has another length than its header says");
}

// The length of a value that is cut into fragments, and the size of these.
struct Fragmented {
  uint64_t length = 0;
  uint64_t fragment_bytes = 0;
};

bool IsFilter(const Record& record) {
  return record.header.type == Type::kBloom || record.header.type == Type::kCuckoo;
}

// Sketches, in one row or with fragments.
Status CheckSketch(const Record& record) {
  switch (record.header.type) {
    case Type::kCountMin: return CountMin::Check(record);
    case Type::kTopK: return TopK::Check(record);
    case Type::kTDigest: TRY(TDigest::Decode(record.payload)); return Ok();
    default: return Ok();
  }
}

Result<Fragmented> ReadFragmented(const Record& record, const SpreadPayload& payload) {
  Fragmented found;
  if (IsFilter(record)) {
    StoredFilter stored = TRY(DecodeStoredFilter(record.header.encoding, record.payload));
    found = {.length = stored.length, .fragment_bytes = stored.page_bytes};
    if (TRY(TakeFilterHeader(record.header.type, stored.rest)) == found.length && stored.rest.empty()) return found;
    return Bad("a filter has another length than its header says");
  }
  TRY(CheckSketch(record));
  found.length = record.header.type == Type::kString ? TRY(Fragments::LengthIn(record.payload)) : payload.count;
  std::string_view rest = payload.rest;
  if (!ReadVarint(rest, found.fragment_bytes)) return Bad("a value's fragment_bytes is cut short");
  return found;
}

Status CheckChunk(StreamId base, std::string_view value, uint64_t& count, StreamId& first) {
  StreamChunkReader reader(base, value);
  count = 0;
  while (reader.Next()) {
    if (count++ == 0) first = reader.entry().id;
  }
  TRY(reader.TakeStatus());
  return count > 0 ? Ok() : Bad("a chunk without entries");
}

}  // namespace

Status CheckPacked(const Record& record) {
  std::string_view payload = record.payload;
  switch (record.header.encoding) {
    case Encoding::kRaw: return IsFilter(record) ? CheckFilter(record) : CheckSketch(record);
    case Encoding::kInteger: {
      uint64_t number = 0;
      return ReadVarint(payload, number) && payload.empty() ? Ok() : Bad("an integer does not decode");
    }
    case Encoding::kIntegers: return CheckIntegers(payload);
    case Encoding::kPacked: break;
    case Encoding::kSpread: return Ok();
  }
  if (record.header.type == Type::kZset) {
    const auto entries = PackedZset(payload).Read();
    return entries.ok() ? Ok() : Bad("packed scores do not decode");
  }
  if (record.header.fields_expire_ms != kNoExpiry && !FieldDeadlines::TakeFrom(payload).ok()) {
    return Bad("the expiries of fields do not decode");
  }
  return CheckItems(payload, record.header.type == Type::kHash);
}

Result<std::string> CollectionReader::Read(const Record& record) {
  const SpreadPayload payload = TRY(DecodeSpreadPayload(record.payload));
  std::string result;
  AppendRecordHeader(result, record.header);
  switch (record.header.type) {
    case Type::kSet:
    case Type::kHash: TRY(ReadMembers(payload, record, result)); break;
    case Type::kZset: TRY(ReadScored(payload, result)); break;
    case Type::kList: TRY(ReadList(payload, result)); break;
    case Type::kStream: TRY(ReadStream(payload, result)); break;
    case Type::kString:
    case Type::kBloom:
    case Type::kCuckoo:
    case Type::kCountMin:
    case Type::kTopK: TRY(ReadFragments(record, payload, result)); break;
    case Type::kNone:
    case Type::kJson:
    case Type::kTDigest: return Bad("a record of a type without rows");
  }
  return result;
}

Status CollectionReader::ForEach(OfflineRows& rows, Space space, CollectionId id, const OnElement& visit) {
  const RowKey start = MakeCollectionStart(space, id, 0);
  if (!rows.Valid() || !rows.row().starts_with(start.row())) rows.Seek(start.row());
  for (; rows.Valid() && rows.row().starts_with(start.row()); rows.Next()) {
    const Status good = visit(rows.row(), rows.value());
    if (good.ok()) continue;
    if (good.Is(Code::kIo)) return Status::Io(good.text());
    on_bad_row_(std::string(good.text()));
  }
  return Ok();
}

// Sets and hashes. A hash's expiries of fields are two rows each in `scores`, of which those by field are read.
Status CollectionReader::ReadMembers(const SpreadPayload& payload, const Record& record, std::string& result) {
  uint64_t count = 0;
  TRY(ForEach(elements_, Space::kElements, payload.id, [&](std::string_view row, std::string_view value) -> Status {
    std::string_view member;
    TRY(CheckMember(row, member));
    ++count;
    return Pass(Space::kElements, row, value);
  }));
  AppendSpreadPayload(result, payload.id, count);
  if (record.header.fields_expire_ms == kNoExpiry) return Ok();
  uint64_t by_field = 0;
  uint64_t by_time = 0;
  TRY(ForEach(scores_, Space::kScores, payload.id, [&](std::string_view row, std::string_view value) -> Status {
    const std::string_view rest = row.substr(kIdBytes);
    uint64_t when = 0;
    if (rest.starts_with('f') && ReadU64(value, when) && value.empty()) {
      ++by_field;
    } else if (rest.starts_with('t') && value.empty()) {
      ++by_time;
    } else {
      return Bad("the expiry of a field does not decode");
    }
    return Pass(Space::kScores, row, scores_.value());
  }));
  if (by_field != by_time) on_bad_row_(fmt::format("{} fields have an expiry, {} rows sort them", by_field, by_time));
  AppendVarint(result, by_field);
  return Ok();
}

// The score rows are made from the elements; the stored ones are only compared.
Status CollectionReader::ReadScored(const SpreadPayload& payload, std::string& result) {
  uint64_t count = 0;
  uint64_t expected = 0;  // the sum of the hashes of the score rows
  TRY(ForEach(elements_, Space::kElements, payload.id, [&](std::string_view row, std::string_view value) -> Status {
    std::string_view member;
    TRY(CheckMember(row, member));
    const double score = TRY(DecodeScore(value));
    const RowKey score_row = MakeScoreRow(payload.id, score, member, 0);
    ++count;
    expected += Hash64(score_row.row());
    TRY(Pass(Space::kElements, row, value));
    return Pass(Space::kScores, score_row.row(), {});
  }));
  uint64_t found = 0;
  TRY(ForEach(scores_, Space::kScores, payload.id, [&](std::string_view row, std::string_view) {
    found += Hash64(row);
    return Ok();
  }));
  if (found != expected) {
    on_bad_row_("the score rows differ from the scores of the members");
    if (on_row_) TRY(AddFromScores(payload.id, count));
  }
  AppendSpreadPayload(result, payload.id, count);
  result.append(payload.rest);
  return Ok();
}

// Passes on the members that have a score row only: their element rows are lost. Of several score rows of a member,
// only the first counts.
Status CollectionReader::AddFromScores(CollectionId id, uint64_t& count) {
  std::unordered_set<uint64_t> passed;  // hashes of members
  return ForEach(scores_, Space::kScores, id, [&](std::string_view row, std::string_view) -> Status {
    CollectionId of = 0;
    double score = 0;
    std::string_view member;
    if (!ParseScoreRow(row, of, score, member)) return Bad("a score row is cut short");
    const RowKey element = MakeElementRow(id, member, 0);
    elements_.Seek(element.row());
    if (elements_.Valid() && elements_.row() == element.row()) return Ok();
    if (!passed.insert(Hash64(member)).second) return Ok();
    std::string value;
    AppendScore(value, score);
    ++count;
    TRY(Pass(Space::kElements, element.row(), value));
    return Pass(Space::kScores, row, {});
  });
}

Status CollectionReader::ReadList(const SpreadPayload& payload, std::string& result) {
  uint64_t count = 0;
  int64_t first = 0;
  int64_t last = 0;
  TRY(ForEach(elements_, Space::kElements, payload.id, [&](std::string_view row, std::string_view value) -> Status {
    CollectionId id = 0;
    int64_t seq = 0;
    if (!ParseChunkRow(row, id, seq)) return Bad("a chunk's row is cut short");
    const ListChunk chunk = TRY(DecodeChunk(seq, value));
    TRY(CheckItems(chunk.items, false));
    if (count == 0) first = seq;
    last = seq;
    count += chunk.count;
    // Readers of the copy must expect that chunks before and behind this one are lost: it is written as crowded.
    std::string crowded;
    AppendChunk(crowded, true, chunk.items);
    return Pass(Space::kElements, row, crowded);
  }));
  AppendSpreadPayload(result, payload.id, count);
  AppendVarint(result, ZigZag(first));
  AppendVarint(result, ZigZag(last));
  return Ok();
}

Status CollectionReader::ReadStream(const SpreadPayload& payload, std::string& result) {
  StreamState state = TRY(DecodeStreamState(payload));
  const bool has_tail = !state.tail.IsZero();
  state.count = 0;
  state.chunks = 0;
  state.first_id = {};
  state.head = {};
  state.tail = {};
  TRY(ForEach(elements_, Space::kElements, payload.id, [&](std::string_view row, std::string_view value) -> Status {
    StreamId base;
    StreamId first;
    uint64_t count = 0;
    if (!ReadIdAtEnd(row, base)) return Bad("a chunk's row is cut short");
    TRY(CheckChunk(base, value, count, first));
    if (state.chunks++ == 0) {
      state.head = base;
      state.first_id = first;
    }
    if (has_tail) state.tail = base;
    state.count += count;
    return Pass(Space::kElements, row, value);
  }));
  state.groups = TRY(ReadGroups(payload.id, state.groups));
  AppendStreamState(result, payload.id, state);
  return Ok();
}

Result<uint64_t> CollectionReader::ReadGroups(CollectionId id, uint64_t expected) {
  StreamGroupsReader groups(
      id, [this](std::string_view row, std::string_view value) { return Pass(Space::kScores, row, value); });
  TRY(ForEach(scores_, Space::kScores, id,
              [&](std::string_view row, std::string_view value) { return groups.Add(row, value); }));
  const uint64_t found = TRY(groups.Finish(on_bad_row_));
  if (found != expected) on_bad_row_(fmt::format("it has {} consumer groups of {}", found, expected));
  return found;
}

Status CollectionReader::ReadFragments(const Record& record, const SpreadPayload& payload, std::string& result) {
  const auto [length, fragment_bytes] = TRY(ReadFragmented(record, payload));
  const auto check = [&, most = length, size = fragment_bytes](std::string_view row, std::string_view value) -> Status {
    CollectionId id = 0;
    int64_t seq = 0;
    if (!ParseChunkRow(row, id, seq) || seq < 0) return Bad("a fragment's row does not decode");
    const uint64_t index = static_cast<uint64_t>(seq);
    if (index > most / size) return Bad("a fragment behind the end of the value");
    if (value.size() > std::min(size, most - index * size)) return Bad("a fragment is too long");
    return Pass(Space::kElements, row, value);
  };
  TRY(ForEach(elements_, Space::kElements, payload.id, check));
  result.append(record.payload);
  return Ok();
}

}  // namespace cairn
