// SPDX-License-Identifier: BSD-3-Clause
//
// Clients: bytes that clients send as arguments: filters (BF.LOADCHUNK, CF.LOADCHUNK), HyperLogLogs (SET), ranges of
// sorted sets, types of bit fields, patterns. A value that is accepted can be used.
//
// Input: the kind of argument, then its bytes. A line end divides those of two parts.
#include <cmath>
#include <cstring>

#include "base/assert.h"
#include "base/glob.h"
#include "fuzz/scratch_key.h"
#include "fuzz/targets/target.h"
#include "types/bitfield.h"
#include "types/bloom.h"
#include "types/cuckoo.h"
#include "types/hyperloglog.h"
#include "types/score_range.h"

namespace cairn {
namespace {

// Larger filters are not created: their bytes are not in the input.
constexpr uint64_t kMostFilterBytes = 1 << 16;

std::pair<std::string_view, std::string_view> Halves(std::string_view input) {
  const size_t end = std::min(input.find('\n'), input.size());
  return {input.substr(0, end), input.substr(std::min(end + 1, input.size()))};
}

// A Bloom filter with this header and these bytes takes an item.
void UseBloom(Keyspace& keys, const Key& key, const BloomChain& chain, std::string_view chunk) {
  Bloom bloom(keys, key);
  Status status = bloom.Create(chain);
  ASSERT(status.ok(), "a sound chain makes a filter");
  status = bloom.bytes().Write(0, chunk.substr(0, chain.bytes()));
  ASSERT(status.ok(), "a chunk is stored");
  const auto added = bloom.Add("item");
  ASSERT(added.ok(), "an item is added, or there is no room");
  const bool is_there = *added == BloomAdded::kNew || *added == BloomAdded::kPresent;
  ASSERT(*bloom.Contains("item") == is_there, "a filter contains what was added");
  status = bloom.Save();
  ASSERT(status.ok(), "a filter can be stored");
  Bloom again(keys, key);
  status = again.Open();
  ASSERT(status.ok() && again.chain().EncodeDump() == bloom.chain().EncodeDump(), "a stored filter can be opened");
  ASSERT(*again.Contains("item") == is_there, "a stored filter contains what was added");
}

// A header, then the first bytes of the filter.
void CheckBloom(ScratchKey& scratch, std::string_view input) {
  constexpr size_t kCountAt = 8;
  constexpr size_t kLinkBytes = 53;
  constexpr size_t kHeadBytes = 20;
  uint32_t count = 0;
  if (input.size() >= kHeadBytes) std::memcpy(&count, input.data() + kCountAt, sizeof count);
  const size_t size = std::min<size_t>(input.size(), kHeadBytes + size_t{count} * kLinkBytes);
  const auto chain = BloomChain::DecodeDump(input.substr(0, size));
  if (!chain.ok()) return;
  ASSERT(chain->EncodeDump() == input.substr(0, size), "a header is encoded to its bytes");
  const std::string stored = chain->Encode();
  std::string_view rest = stored;
  const auto again = BloomChain::Decode(rest);
  ASSERT(again.ok() && rest.empty() && again->EncodeDump() == input.substr(0, size), "a header can be stored");
  if (chain->bytes() > kMostFilterBytes) return;
  scratch.Run([&](Keyspace& keys, const Key& key) { UseBloom(keys, key, *chain, input.substr(size)); });
}

void UseCuckoo(Keyspace& keys, const Key& key, const CuckooShape& shape, std::string_view chunk) {
  Cuckoo cuckoo(keys, key);
  Status status = cuckoo.Create(shape);
  ASSERT(status.ok(), "a sound shape makes a filter");
  status = cuckoo.bytes().Write(0, chunk.substr(0, shape.bytes()));
  ASSERT(status.ok(), "a chunk is stored");
  const auto inserted = cuckoo.Insert("item");
  ASSERT(inserted.ok(), "an item is inserted, or there is no room");
  const auto copies = cuckoo.Count("item");
  ASSERT(copies.ok() && (*inserted != CuckooInserted::kNew || *copies > 0), "a filter contains what was inserted");
  ASSERT(*cuckoo.Contains("item") == (*copies > 0), "an item with copies is contained");
  status = cuckoo.Save();
  ASSERT(status.ok(), "a filter can be stored");
  Cuckoo again(keys, key);
  status = again.Open();
  ASSERT(status.ok() && *again.Count("item") == *copies, "a stored filter has the same items");
  const auto deleted = again.Delete("item");
  ASSERT(deleted.ok() && *deleted == (*copies > 0), "an item with copies is deleted");
  const auto compacted = again.Compact();
  ASSERT(compacted.ok() && again.Save().ok(), "a filter can be compacted and stored");
}

// A header, then the first bytes of the filter.
void CheckCuckoo(ScratchKey& scratch, std::string_view input) {
  if (input.size() < CuckooShape::kDumpBytes) return;
  const std::string_view header = input.substr(0, CuckooShape::kDumpBytes);
  const auto shape = CuckooShape::DecodeDump(header);
  if (!shape) return;
  ASSERT(shape->EncodeDump() == header, "a header is encoded to its bytes");
  const std::string stored = shape->Encode();
  std::string_view rest = stored;
  const auto again = CuckooShape::Decode(rest);
  ASSERT(again.ok() && rest.empty() && again->EncodeDump() == header, "a header can be stored");
  if (shape->bytes() > kMostFilterBytes) return;
  const std::string_view chunk = input.substr(header.size());
  scratch.Run([&](Keyspace& keys, const Key& key) { UseCuckoo(keys, key, *shape, chunk); });
}

// Any string that SET stored.
void CheckHyperLogLog(ScratchKey&, std::string_view input) {
  constexpr uint64_t kSparseMost = 3000;
  auto value = HyperLogLog::Parse(input);
  if (!value) return;
  ASSERT(value->bytes() == input, "a value has its bytes");
  if (!value->IsDense()) static_cast<void>(value->DescribeRuns());
  static_cast<void>(value->CachedCount());
  const auto count = value->Count();
  HyperLogLog dense = *value;
  ASSERT(dense.MakeDense() == count.has_value(), "sparse registers are corrupt for all functions");
  ASSERT(!count || dense.Count() == count, "the count does not depend on the encoding");
  for (const std::string_view element : {"element", "x", "100"}) {
    if (value->Add(element, kSparseMost) == HyperLogLog::Change::kCorrupt) return;
    const auto change = value->Add(element, kSparseMost);
    ASSERT(change == HyperLogLog::Change::kNone, "an element is added once");
    if (count) dense.Add(element, kSparseMost);
  }
  ASSERT(!count || (value->Count() == dense.Count()), "elements are added to both encodings");
}

void CheckRanges(ScratchKey&, std::string_view input) {
  const auto [min, max] = Halves(input);
  if (const auto range = ParseScoreRange(min, max)) {
    ASSERT(!std::isnan(range->min) && !std::isnan(range->max), "a bound is a number");
    ASSERT(range->ReachesMin(range->min) != range->min_exclusive, "a bound is in the range or excluded");
    ASSERT(range->ReachesMax(range->max) != range->max_exclusive, "a bound is in the range or excluded");
  }
  const auto range = ParseLexRange(min, max);
  if (!range || !range->IsEmpty()) return;
  for (const std::string_view member : {min, max, range->min.member, range->max.member, std::string_view()}) {
    ASSERT(!range->ReachesMin(member) || !range->ReachesMax(member), "an empty range has no members");
  }
}

void CheckBitField(ScratchKey&, std::string_view input) {
  const auto [name, bytes] = Halves(input);
  const auto type = ParseFieldType(name);
  if (!type) return;
  ASSERT(type->bits >= 1 && type->bits <= (type->is_signed ? 64u : 63u), "a field has bits");
  for (const uint64_t offset : {uint64_t{0}, uint64_t{13}, bytes.size() * uint64_t{8}}) {
    std::string copy(bytes);
    copy.resize(std::max<size_t>(copy.size(), (offset + type->bits + 7) / 8));
    const int64_t value = ReadField(bytes, offset, *type);
    ASSERT(ReadField(copy, offset, *type) == value, "bytes behind the end are zeros");
    const auto next = FitField(*type, value, 1, Overflow::kWrap);
    ASSERT(next, "a field that wraps has a next value");
    WriteField(copy, offset, *type, *next);
    ASSERT(ReadField(copy, offset, *type) == *next, "a field has the value that was written");
  }
}

std::string Escaped(std::string_view text) {
  std::string pattern;
  for (const char c : text) pattern.append({'\\', c});
  return pattern;
}

void CheckGlob(ScratchKey&, std::string_view input) {
  constexpr int64_t kFewStars = 900;  // a pattern with more may match nothing
  const auto [pattern, text] = Halves(input);
  const bool matches = GlobMatches(pattern, text);
  GlobMatches(pattern, text, LetterCase::kIgnore);
  ASSERT(GlobMatches(Escaped(text), text), "a text matches itself");
  if (!matches || text.empty() || std::count(pattern.begin(), pattern.end(), '*') > kFewStars) return;
  const std::string behind = "*" + std::string(pattern);
  ASSERT(GlobMatches(behind, text), "a star matches nothing");
  ASSERT(GlobMatches(behind, "[x" + std::string(text)), "a star matches any bytes");
}

constexpr void (*kChecks[])(ScratchKey& scratch, std::string_view input) = {
    CheckBloom, CheckCuckoo, CheckHyperLogLog, CheckRanges, CheckBitField, CheckGlob};
enum Choice : uint8_t { kBloom, kCuckoo, kHyperLogLog, kRanges, kBitField, kGlob };

std::function<void(std::string_view)> Make() { return ChosenCheck(kChecks); }

void AddFilters(std::vector<std::string>& seeds) {
  BloomChain chain{.growth = 2, .links = {*MakeBloomLink(4, 0.01, kBloomDefaultOptions)}};
  seeds.push_back(Chosen(kBloom, chain.EncodeDump() + "\x01\x02\x03"));
  chain.size = chain.links[0].size = 4;
  seeds.push_back(Chosen(kBloom, chain.EncodeDump()));
  chain.options = kBloomHash64 | kBloomFixedSize;
  chain.links = {*MakeBloomLink(40'000, 0.2, chain.options), *MakeBloomLink(10, 0.1, chain.options)};
  chain.size = 0;
  seeds.push_back(Chosen(kBloom, chain.EncodeDump()));
  CuckooShape shape = CuckooShape::Make(16, 2, 20, 1);
  seeds.push_back(Chosen(kCuckoo, shape.EncodeDump() + std::string(16, '\x07')));
  shape = CuckooShape::Make(2048, 4, 500, 2);
  shape.filters = 3;
  shape.items = shape.deletes = 7;
  seeds.push_back(Chosen(kCuckoo, shape.EncodeDump() + std::string(40, '\x01')));
}

std::vector<std::string> Seeds() {
  using namespace std::string_literals;
  std::vector<std::string> seeds;
  AddFilters(seeds);
  HyperLogLog value;
  seeds.push_back(Chosen(kHyperLogLog, value.bytes()));
  for (const char* element : {"a", "b", "c", "d", "e"}) value.Add(element, UINT64_MAX);
  seeds.push_back(Chosen(kHyperLogLog, value.bytes()));
  value.MakeDense();
  seeds.push_back(Chosen(kHyperLogLog, value.bytes()));
  for (const char* range : {"-inf\n(5", "1e300\n+inf", "[a\n(b", "-\n+", "(b\n[b"}) {
    seeds.push_back(Chosen(kRanges, range));
  }
  for (const char* field : {"i64\nabcdefgh", "u63\nx", "u1\n\xff"}) seeds.push_back(Chosen(kBitField, field));
  for (const char* glob : {"a*[b-d]?\\*\nabxdc*", "[^a-c]*x\nzyx", "h[ae]llo\nhello", "*a*b*c\nxaxbxc"}) {
    seeds.push_back(Chosen(kGlob, glob));
  }
  return seeds;
}

}  // namespace

const FuzzTarget kClientsTarget = {
    .name = "clients",
    .make = Make,
    .seeds = Seeds,
    .covers =
        "src/types/bloom src/types/cuckoo src/types/filter_bytes src/types/hyperloglog src/types/score_range "
        "src/types/bitfield src/base/glob",
    .most_bytes = 16384};

}  // namespace cairn
