// SPDX-License-Identifier: BSD-3-Clause
//
// INFO keysizes: the lengths of strings and the numbers of elements of collections, as histograms by powers of two.
//
// A database of up to kMostCounted keys is counted. Of a larger one some keys are read, and their shares are scaled to
// the number of keys (docs/decisions/key-sizes.md). Keys are ordered by a hash of their names, so the keys of a window
// of positions are a random sample, and every key is in a window with the same probability. If the keys crowd at a few
// positions, because they share hash tags, the windows may miss them; then a run of keys is read.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "report/report.h"
#include "storage/store.h"
#include "types/value_types.h"

namespace cairn {
namespace {

constexpr uint64_t kMostCounted = 10'000;
constexpr uint64_t kWindows = 32;
constexpr uint64_t kMostBytes = uint64_t{16} << 20;  // of values: a large one is read with its key
constexpr uint64_t kPositions = uint64_t{1} << kPositionBits;

constexpr size_t kBins = 65;  // bin 0: nothing; bin n: 2^(n-1) to 2^n - 1

struct Histogram {
  std::array<uint64_t, kBins> bins{};
};

// What is known of a database's keys.
struct KeySizes {
  std::array<Histogram, kTypeCount> types;
  uint64_t seen = 0;
  uint64_t bytes = 0;
  bool is_complete = false;

  Status Add(const Record& record) {
    ++seen;
    bytes += record.payload.size();
    const ValueType& type = ValueTypeOf(record.header.type);
    if (type.sizes_name.empty()) return Ok();
    const uint64_t length = TRY(type.length(TRY(Keyspace::EntryOf(record))));
    ++types[static_cast<size_t>(record.header.type) - 1].bins[static_cast<size_t>(std::bit_width(length))];
    return Ok();
  }
};

// Adds the keys at positions [begin, end), until `most` keys were seen, or kMostBytes.
Status AddWindow(Keyspace& keys, uint64_t begin, uint64_t end, uint64_t most, KeySizes& sizes) {
  Status failed;
  bool is_whole = true;
  TRY(keys.Scan(begin, [&](std::string_view key, const Record& record) {
    if (KeyPosition(key) >= end) return false;
    if (failed.ok()) failed = sizes.Add(record);
    is_whole = failed.ok() && sizes.seen < most && sizes.bytes < kMostBytes;
    return is_whole;
  }));
  sizes.is_complete = is_whole && begin == 0 && end == kPositions;
  return failed;
}

Result<KeySizes> MeasureKeys(Keyspace keys, uint64_t count, Random& random) {
  KeySizes sizes;
  if (count <= kMostCounted) {
    TRY(AddWindow(keys, 0, kPositions, 2 * kMostCounted, sizes));
    return sizes;
  }
  // Each window has one of the equal parts of the positions for itself, so no key is read twice.
  const double share = static_cast<double>(kMostCounted) / static_cast<double>(count);
  const uint64_t part = kPositions / kWindows;
  const auto width = static_cast<uint64_t>(share * static_cast<double>(part));
  const uint64_t offset = random.Below(part - width);
  for (uint64_t window = 0; window < kWindows && sizes.bytes < kMostBytes; ++window) {
    const uint64_t begin = window * part + offset;
    TRY(AddWindow(keys, begin, begin + width, 2 * kMostCounted, sizes));
  }
  if (sizes.seen >= kMostCounted / 2 || sizes.bytes >= kMostBytes) return sizes;
  sizes = KeySizes();
  const uint64_t begin = random.Below(kPositions);
  TRY(AddWindow(keys, begin, kPositions, kMostCounted, sizes));
  if (sizes.seen < kMostCounted) TRY(AddWindow(keys, 0, begin, kMostCounted, sizes));
  return sizes;
}

// The smallest size of a bin: 0, 1, 2, ... 512, 1K, 2K, ...
std::string BinName(size_t bin) {
  if (bin == 0) return "0";
  constexpr std::string_view kUnits[] = {"", "K", "M", "G", "T", "P", "E"};
  return fmt::format("{}{}", uint64_t{1} << ((bin - 1) % 10), kUnits[(bin - 1) / 10]);
}

std::string HistogramText(const Histogram& histogram, double scale) {
  std::string text;
  for (size_t bin = 0; bin < kBins; ++bin) {
    if (histogram.bins[bin] == 0) continue;
    if (!text.empty()) text += ',';
    text += fmt::format("{}={}", BinName(bin), std::llround(static_cast<double>(histogram.bins[bin]) * scale));
  }
  return text;
}

void WriteNothing(const ReportParts&, SectionWriter&) {}

Status WriteSizeRows(const ReportParts& parts, CommandContext& ctx, SectionWriter& text) {
  return WriteKeySizes(
      parts, [&ctx](int db) { return ctx.keys(db); }, ctx.random(), text);
}

constexpr ReportSection kSections[] = {{"keysizes", "Keysizes", false, WriteNothing, WriteSizeRows}};

}  // namespace

Status WriteKeySizes(const ReportParts& parts, const std::function<Keyspace(int db)>& keys_of, Random& random,
                     SectionWriter& text) {
  for (int db = 0; db < parts.store.databases().size(); ++db) {
    Keyspace keys = keys_of(db);
    const auto count = static_cast<uint64_t>(std::max<int64_t>(0, keys.Count()));
    if (count == 0) continue;
    const KeySizes sizes = TRY(MeasureKeys(keys, count, random));
    const double scale = sizes.is_complete ? 1 : static_cast<double>(count) / static_cast<double>(sizes.seen);
    for (const ValueType* type : ValueTypes()) {
      const std::string bins = HistogramText(sizes.types[static_cast<size_t>(type->type) - 1], scale);
      if (!bins.empty()) text.Field(fmt::format("db{}_distrib_{}", db, type->sizes_name), bins);
    }
    if (!sizes.is_complete) text.Field(fmt::format("sampled_keys_db{}", db), sizes.seen);
  }
  return Ok();
}

std::span<const ReportSection> SizeSections() { return kSections; }

}  // namespace cairn
