// SPDX-License-Identifier: BSD-3-Clause
//
// Streams: the values of a stream's rows, and ids as text. The target encodes each accepted value again and decodes
// that: both values must be equal.
//
// Input: the kind of value, then its bytes. A chunk starts with its base.
#include <algorithm>
#include <tuple>

#include "base/assert.h"
#include "encoding/record.h"
#include "encoding/varint.h"
#include "fuzz/recoded.h"
#include "fuzz/scratch_key.h"
#include "fuzz/targets/target.h"
#include "types/stream.h"
#include "types/stream_chunk.h"
#include "types/stream_group_rows.h"
#include "types/stream_producers.h"

namespace cairn {
namespace {

enum Choice : uint8_t { kState, kGroup, kConsumer, kPending, kChunk, kProducer, kText, kChoiceCount };

constexpr StreamId kId{5, 1};

void CheckState(std::string_view input) {
  const auto decode = [](std::string_view bytes) -> Result<StreamState> {
    return DecodeStreamState(TRY(DecodeSpreadPayload(bytes)));
  };
  const auto encode = [](const StreamState& state) {
    std::string payload;
    AppendStreamState(payload, 7, state);
    return payload;
  };
  CheckRecoded(input, decode, encode, [](const StreamState& state) {
    const auto& [count, last, first, deleted, added, head, tail, chunks, groups, next, idempotence] = state;
    return std::tuple(count, last, first, deleted, added, head, tail, chunks, groups, next, idempotence);
  });
}

void CheckGroup(std::string_view input) {
  CheckRecoded(input, DecodeStreamGroup, EncodeStreamGroup, [](const StreamGroupState& group) {
    const auto& [number, last, read, pending, consumers, next, timed, nacked, next_nacked] = group;
    return std::tuple(number, last, read, pending, consumers, next, timed, nacked, next_nacked);
  });
}

void CheckConsumer(std::string_view input) {
  const auto decode = [](std::string_view bytes) { return DecodeStreamConsumer("name", bytes); };
  CheckRecoded(input, decode, EncodeStreamConsumer, [](const StreamConsumer& consumer) {
    const auto& [name, number, seen_ms, active_ms, pending] = consumer;
    return std::tuple(name, number, seen_ms, active_ms, pending);
  });
}

void CheckPending(std::string_view input) {
  const auto decode = [](std::string_view bytes) { return DecodePendingEntry(kId, bytes); };
  CheckRecoded(input, decode, EncodePendingEntry, [](const PendingEntry& entry) {
    const auto& [id, consumer, nacked, delivered_ms, deliveries] = entry;
    return std::tuple(id, consumer, nacked, delivered_ms, deliveries, TimeInRow(entry));
  });
}

// An entry of a chunk: its id, then field, value, field, value ...
struct Entry {
  bool operator==(const Entry&) const = default;
  StreamId id;
  std::vector<std::string> texts;
};

// The entries of a chunk; none: it is damaged.
std::optional<std::vector<Entry>> ReadChunk(StreamId base, std::string_view chunk) {
  std::vector<Entry> entries;
  std::string bytes;
  StreamChunkReader reader(base, chunk);
  while (reader.Next()) {
    Entry& entry = entries.emplace_back(reader.entry().id);
    for (const auto& [field, value] : reader.entry().fields) {
      entry.texts.push_back(field.ToString());
      entry.texts.push_back(value.ToString());
    }
    bytes.append(reader.entry_bytes());
  }
  if (!reader.TakeStatus().ok()) return std::nullopt;
  ASSERT(entries.size() == reader.count(), "a chunk has as many entries as it says");
  const std::string joined = JoinStreamChunk(reader.count(), reader.head(), bytes);
  ASSERT(joined.size() + reader.rest().size() <= chunk.size(), "the parts of a chunk are its bytes");
  return entries;
}

// Whether commands could have added the entries.
bool AreValid(const std::vector<Entry>& entries) {
  const auto descends = [](const Entry& a, const Entry& b) { return a.id >= b.id; };
  return std::adjacent_find(entries.begin(), entries.end(), descends) == entries.end() &&
         std::none_of(entries.begin(), entries.end(), [](const Entry& entry) { return entry.texts.empty(); });
}

void CheckChunk(std::string_view input) {
  StreamId base;
  if (!ReadStreamId(input, base)) return;
  const auto entries = ReadChunk(base, input);
  if (!entries || entries->empty() || !AreValid(*entries)) return;
  StreamChunkBuilder builder;
  std::string appended;
  for (const Entry& entry : *entries) {
    const std::vector<std::string_view> texts(entry.texts.begin(), entry.texts.end());
    if (appended.empty()) {
      builder.Add(entry.id, texts);
      appended = StreamChunkBuilder(builder).Take();
      continue;
    }
    builder.Add(entry.id, texts);
    Result<std::string> grown = AppendToStreamChunk(builder.base(), appended, entry.id, texts);
    ASSERT(grown.ok(), "a built chunk can be appended to");
    appended = std::move(*grown);
  }
  ASSERT(ReadChunk(entries->front().id, appended) == entries, "a chunk has the entries appended to it");
  ASSERT(ReadChunk(entries->front().id, builder.Take()) == entries, "a chunk has the entries it was built from");
}

// The row of a producer, which has added an entry.
void CheckProducer(ScratchKey& scratch, std::string_view input) {
  scratch.Run([input](Keyspace& keys, const Key& key) {
    const StreamRows rows{.id = 7, .stripe = key.stripe()};
    StreamIdempotence state{.duration_s = 1, .most_ids = 2, .producers = 1, .next_producer = 1};
    keys.txn().Put(rows.Producer("p"), input);
    StreamProducers producers(keys.txn(), rows, state);
    const StreamId entry{ScratchKey::kNowMs, 1};
    if (!producers.Add("p", "id", entry, ScratchKey::kNowMs).ok()) return;
    const auto found = producers.Find("p", "id", ScratchKey::kNowMs);
    ASSERT(found.ok(), "a producer can be read after it has added an entry");
    ASSERT(!*found || **found == entry, "an id leads to its entry");
    const Status visited = producers.ForEach(ScratchKey::kNowMs, [&](auto producer, auto id, StreamId at) {
      ASSERT(producer == "p" && id == "id" && at == entry, "the entry is visited");
      return Result<bool>(true);
    });
    ASSERT(visited.ok() && producers.Clear().ok() && state.producers == 0, "a producer can be visited and deleted");
  });
}

void CheckText(std::string_view input) {
  const auto id = ParseStreamId(input, 7);
  if (!id) return;
  ASSERT(ParseStreamId(id->ToString(), 0) == id, "the text of an id is the id");
}

void Run(ScratchKey& scratch, std::string_view input) {
  switch (TakeChoice(input) % kChoiceCount) {
    case kState: return CheckState(input);
    case kGroup: return CheckGroup(input);
    case kConsumer: return CheckConsumer(input);
    case kPending: return CheckPending(input);
    case kChunk: return CheckChunk(input);
    case kProducer: return CheckProducer(scratch, input);
    default: return CheckText(input);
  }
}

std::function<void(std::string_view)> Make() {
  return [scratch = std::make_shared<ScratchKey>()](std::string_view input) { Run(*scratch, input); };
}

std::string ChunkSeed() {
  std::string seed;
  AppendStreamId(seed, kId);
  StreamChunkBuilder builder;
  for (const std::vector<std::string_view>& texts :
       {std::vector<std::string_view>{"f", "1", "g", "x"}, {"f", "2", "g", "y"}, {"other", "-3"}}) {
    builder.Add({kId.ms + builder.count() / 2, kId.seq + builder.count()}, texts);
  }
  return seed + builder.Take();
}

std::vector<std::string> Seeds() {
  using namespace std::string_literals;
  StreamState state{.count = 3, .last_id = {9, 1}, .first_id = kId, .entries_added = 4, .head = kId, .tail = kId};
  state.chunks = 1;
  std::vector<std::string> seeds(2, Chosen(kState, ""));
  AppendStreamState(seeds[0], 7, state);
  state.idempotence = {.duration_s = 100, .most_ids = 100, .added = 2, .producers = 1, .next_producer = 1};
  AppendStreamState(seeds[1], 7, state);
  seeds.push_back(Chosen(kGroup, EncodeStreamGroup({.number = 1, .last_id = kId, .entries_read = 2, .pending = 1})));
  seeds.push_back(Chosen(kGroup, EncodeStreamGroup({.pending = 2, .is_timed = true, .nacked = 1, .next_nacked = 2})));
  seeds.push_back(Chosen(kConsumer, EncodeStreamConsumer({.number = 3, .seen_ms = 1000, .active_ms = 999})));
  seeds.push_back(Chosen(kPending, EncodePendingEntry({.consumer = "c", .delivered_ms = 1000, .deliveries = 2})));
  seeds.push_back(Chosen(kPending, EncodePendingEntry({.nacked = 4, .deliveries = 1})));
  seeds.push_back(Chosen(kChunk, ChunkSeed()));
  seeds.push_back(Chosen(kProducer, "\x01\x01\x05\x01"));
  for (const char* text : {"5-1", "18446744073709551615-0", " +07"}) seeds.push_back(Chosen(kText, text));
  return seeds;
}

}  // namespace

const FuzzTarget kStreamsTarget = {
    .name = "streams",
    .make = Make,
    .seeds = Seeds,
    .covers = "src/types/stream_chunk src/types/stream_group_rows src/types/stream_producers src/encoding/stream_id"};

}  // namespace cairn
