// SPDX-License-Identifier: BSD-3-Clause
//
// Stored: the values of lists, expiring fields, filters and sketches, as they are on disk. The target encodes each
// accepted value again and decodes that: both values must be equal. It also decodes a changed value.
//
// Input: the kind of value, then its bytes.
#include <bit>
#include <tuple>

#include "base/assert.h"
#include "encoding/packed.h"
#include "encoding/record.h"
#include "encoding/varint.h"
#include "fuzz/recoded.h"
#include "fuzz/scratch_key.h"
#include "fuzz/targets/target.h"
#include "types/bloom_chain.h"
#include "types/count_min.h"
#include "types/cuckoo_shape.h"
#include "types/field_deadlines.h"
#include "types/filter_bytes.h"
#include "types/list_chunks.h"
#include "types/tdigest.h"
#include "types/topk.h"

namespace cairn {
namespace {

using Bytes = std::string_view;

// The items of a packed list; none: it is damaged.
std::optional<std::vector<std::string>> ItemsOf(Bytes packed, bool reverse = false) {
  std::vector<std::string> items;
  const auto add = [&items](const Item& item) { items.push_back(item.ToString()); };
  if (!ForEachItem(packed, 0, PackedReader(packed).count(), reverse, add).ok()) return std::nullopt;
  return items;
}

// Changes a valid packed list as commands do.
void ChangeList(Bytes packed, const std::vector<std::string>& items) {
  const uint64_t at = items.size() / 3;
  const uint64_t n = (items.size() + 1) / 2;
  const auto cut = CutPackedList(packed, at, n);
  ASSERT(cut.ok() && cut->before_count == at && cut->range_count == n, "a valid list can be cut");
  std::vector<std::string> kept(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(at));
  kept.insert(kept.end(), items.begin() + static_cast<std::ptrdiff_t>(at + n), items.end());
  ASSERT(ItemsOf(ReplaceRange(*cut, EncodedItems())) == kept, "the items of a range are removed");
  const uint64_t first = 0;
  const auto without = WithoutItems(packed, {&first, 1});
  ASSERT(without.ok() && ItemsOf(*without)->size() == items.size() - 1, "an item is removed");
  const auto found = FindItem(packed, Item::FromText(items[at]));
  ASSERT(found.ok() && (!*found || items[**found] == items[at]), "an item is found by its text");
  const std::vector<Bytes> views(items.begin(), items.end());
  const std::string twice = ExtendPackedList(packed, ListEnd::kTail, EncodedItems(views), 0, views.size());
  ASSERT(ItemsOf(twice)->size() == 2 * items.size(), "a list can be extended");
  const auto halves = HalvePackedList(twice);
  ASSERT(halves.ok(), "a valid list can be halved");
  ASSERT(ItemsOf(halves->left)->size() + ItemsOf(halves->right)->size() == 2 * items.size(), "halves are the list");
}

void CheckListChunk(ScratchKey&, Bytes input) {
  const auto chunk = DecodeChunk(3, input);
  if (!chunk.ok()) return;
  std::string encoded;
  AppendChunk(encoded, chunk->crowded, chunk->items);
  ASSERT(encoded == input, "a chunk is encoded to its bytes");
  const auto items = ItemsOf(chunk->items);
  const auto reversed = ItemsOf(chunk->items, true);
  ASSERT(items.has_value() == reversed.has_value(), "both directions read the same bytes");
  if (!items) return;
  ASSERT(std::equal(items->begin(), items->end(), reversed->rbegin(), reversed->rend()), "and the same items");
  const auto whole = CutPackedList(chunk->items, 0, items->size());
  if (whole.ok() && whole->after.empty()) ChangeList(chunk->items, *items);
}

void CheckListEnds(ScratchKey& scratch, Bytes input) {
  scratch.Run([input](Keyspace& keys, const Key& key) {
    const auto decode = [&](Bytes bytes) { return ListChunks::Decode(keys.txn(), 7, key.stripe(), bytes); };
    const auto encode = [](const ListChunks& chunks) {
      std::string ends;
      chunks.AppendEnds(ends);
      return ends;
    };
    CheckRecoded(input, decode, encode, encode);
  });
}

void CheckDeadlines(ScratchKey&, Bytes input) {
  auto deadlines = FieldDeadlines::TakeFrom(input);
  if (!deadlines.ok()) return;
  const auto earliest = deadlines->Earliest(0);
  if (!earliest.ok()) return;
  std::string encoded;
  deadlines->AppendPacked(encoded);
  Bytes rest = encoded;
  const auto again = FieldDeadlines::TakeFrom(rest);
  ASSERT(again.ok() && rest.empty() && again->count() == deadlines->count(), "deadlines can be decoded again");
  ASSERT(*again->Earliest(0) == *earliest, "the earliest deadline is the same");
  FieldPlace place;
  const auto due = deadlines->Due(place, INT64_MAX, UINT64_MAX);
  ASSERT(due.ok() && *again->Due(place, INT64_MAX, UINT64_MAX) == *due, "the same fields are due at the end of time");
  const Status erased = deadlines->Erase("field");
  ASSERT(erased.ok(), "deadlines that were read can be erased");
}

template <typename Header>
void CheckFilterHeader(Bytes input) {
  const auto decode = [](Bytes bytes) { return Header::Decode(bytes); };
  const auto encode = [](const Header& header) { return header.Encode(); };
  CheckRecoded(input, decode, encode, [](const Header& header) { return header.EncodeDump(); });
}

// The payload of a Bloom or cuckoo filter's record.
void CheckFilter(ScratchKey&, Bytes input) {
  const auto encoding = static_cast<Encoding>(TakeChoice(input));
  const auto stored = DecodeStoredFilter(encoding, input);
  if (!stored.ok()) return;
  ASSERT((stored->page_bytes > 0) == (encoding == Encoding::kSpread), "a filter of several rows has pages");
  CheckFilterHeader<BloomChain>(stored->rest);
  CheckFilterHeader<CuckooShape>(stored->rest);
}

auto PartsOf(const CountMin::Shape& shape) { return std::tuple(shape.width, shape.depth, shape.count); }

auto PartsOf(const TopK::State& state) {
  std::vector<std::tuple<std::optional<std::string>, uint32_t>> slots;
  for (const TopK::Slot& slot : state.heap) slots.emplace_back(slot.item, slot.count);
  return std::tuple(state.width, state.depth, state.decay, state.random, slots);
}

// The payload of a sketch's record, whose fields `kTake` removes from the front.
template <typename Sketch, auto kTake>
void CheckSketch(ScratchKey& scratch, Bytes input) {
  const auto encoding = static_cast<Encoding>(TakeChoice(input));
  static_cast<void>(Sketch::Check({.header = {.encoding = encoding}, .payload = input}).ok());
  const auto decode = [](Bytes bytes) { return kTake(bytes); };
  const auto encode = [&scratch](const auto& fields) {
    std::string encoded;
    scratch.Run([&](Keyspace& keys, const Key& key) {
      Sketch sketch(keys, key);
      sketch.Create(fields);
      encoded = sketch.Fields();
    });
    return encoded;
  };
  const std::string fields = CheckRecoded(input, decode, encode, [](const auto& value) { return PartsOf(value); });
  if (fields.empty()) return;
  const Status status = Sketch::Check({.header = {.encoding = Encoding::kRaw}, .payload = fields});
  ASSERT(status.ok() || status.text().find("more cells") != Bytes::npos, "a small sketch needs no cells");
}

void CheckTDigest(ScratchKey&, Bytes input) {
  const auto encode = [](const TDigest& digest) { return digest.Encode(); };
  const std::string encoded = CheckRecoded(input, TDigest::Decode, encode, encode);
  if (encoded.empty()) return;
  TDigest digest = *TDigest::Decode(encoded);
  if (!digest.Add(1.5)) return;
  digest.Compress();
  const Result<TDigest> compressed = TDigest::Decode(digest.Encode());
  ASSERT(compressed.ok() && compressed->weight() == digest.weight(), "a digest can be decoded after a change");
  ASSERT(digest.min() <= 1.5 && digest.max() >= 1.5, "the extremes include what was added");
  for (const double fraction : {0.0, 0.5, 1.0}) {  // damaged means give any estimate
    static_cast<void>(digest.Cdf(digest.Quantile(fraction)));
    static_cast<void>(digest.TrimmedMean(0, fraction));
  }
}

void CheckScore(ScratchKey&, Bytes input) {
  const auto encode = [](double score) {
    std::string bytes;
    AppendScore(bytes, score);
    return bytes;
  };
  CheckRecoded(input, DecodeScore, encode, [](double score) { return std::bit_cast<uint64_t>(score); });
}

constexpr void (*kChecks[])(ScratchKey& scratch, Bytes input) = {
    CheckListChunk, CheckListEnds,
    CheckDeadlines, CheckFilter,
    CheckTDigest,   CheckSketch<CountMin, &CountMin::TakeShape>,
    CheckScore,     CheckSketch<TopK, &TopK::TakeState>};
enum Choice : uint8_t { kListChunk, kListEnds, kDeadlines, kFilter, kTDigest, kCountMin, kScore, kTopK };

std::function<void(Bytes)> Make() { return ChosenCheck(kChecks); }

std::string FilterSeed(Encoding encoding, const std::string& header) {
  std::string seed(1, static_cast<char>(encoding));
  if (encoding == Encoding::kSpread) {
    AppendSpreadPayload(seed, 7, 2048);
    AppendVarint(seed, 256);
  }
  return Chosen(kFilter, seed + header);
}

std::string DigestSeed(int numbers) {
  TDigest digest(10);
  for (int i = 0; i < numbers; ++i) digest.Add(i * 1.25 - 7);
  return Chosen(kTDigest, digest.Encode());
}

std::vector<std::string> Seeds() {
  using namespace std::string_literals;
  const BloomChain chain{.growth = 2, .links = {*MakeBloomLink(100, 0.01, kBloomDefaultOptions)}};
  const CuckooShape shape = CuckooShape::Make(1024, 2, 20, 1);
  const std::string sketch = "\x07\x02\x05"s;  // width, depth, count
  const std::string decay("\x3f\xec\xcc\xcc\xcc\xcc\xcc\xcd\0\0\0\0\0\0\0\x01", 16);
  std::string score;
  AppendScore(score, 2.5);
  return {Chosen(kListChunk,
                 "\0\x03\x02"
                 "a\x05\x03zz"s),
          Chosen(kListChunk,
                 "\x01\x02\x02"
                 "b\x02"
                 "c"s),
          Chosen(kListEnds, "\x80\x80\x80\x01\x80\x80\x80\x01"s),
          Chosen(kListEnds, "\0\0"s),
          Chosen(kDeadlines,
                 "\x05\x01\x02"
                 "a\x06\x07rest"s),
          FilterSeed(Encoding::kRaw, chain.Encode()),
          FilterSeed(Encoding::kSpread, chain.Encode()),
          FilterSeed(Encoding::kRaw, shape.Encode()),
          FilterSeed(Encoding::kSpread, shape.Encode()),
          DigestSeed(3),
          DigestSeed(200),
          Chosen(kCountMin, "\0"s + sketch),
          Chosen(kCountMin, "\x04\x07\x38\x80\x08"s + sketch),
          Chosen(kTopK, "\0\x02\x07\x02"s + decay + "\0\x02x\x03"s),
          Chosen(kScore, score)};
}

}  // namespace

const FuzzTarget kStoredTarget = {
    .name = "stored",
    .make = Make,
    .seeds = Seeds,
    .covers =
        "src/types/list_ src/types/field_deadlines src/types/filter_bytes src/types/bloom_chain "
        "src/types/cuckoo_shape src/types/count_min src/types/topk src/types/tdigest src/encoding/packed"};

}  // namespace cairn
