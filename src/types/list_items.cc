// SPDX-License-Identifier: BSD-3-Clause
#include "types/list_items.h"

#include "base/assert.h"
#include "encoding/varint.h"

namespace cairn {
namespace {

Status TooFewItems() { return Status::Corruption("list: fewer items than its count"); }

// Skips `n` items; reader.offset() is then behind them.
Status Skip(PackedReader& reader, uint64_t n) {
  Item item;
  for (; n > 0; --n) {
    if (reader.Next(item)) continue;
    if (!reader.status().ok()) return Status::Corruption(reader.status().text());
    return TooFewItems();
  }
  return Ok();
}

// The status of a reader that returned false before all items were read.
Status EndOf(const PackedReader& reader) {
  return reader.status().ok() ? TooFewItems() : Status::Corruption(reader.status().text());
}

}  // namespace

EncodedItems::EncodedItems(std::span<const std::string_view> values) {
  size_t total = 0;
  for (const std::string_view value : values) total += value.size() + 4;
  bytes_.reserve(total);
  ends_.reserve(values.size());
  for (const std::string_view value : values) Add(Item::FromText(value));
}

void EncodedItems::Add(const Item& item) {
  AppendItem(bytes_, item);
  ends_.push_back(bytes_.size());
}

std::string_view EncodedItems::Range(size_t from, size_t n) const {
  if (n == 0) return {};
  const size_t start = from == 0 ? 0 : ends_[from - 1];
  return std::string_view(bytes_).substr(start, ends_[from + n - 1] - start);
}

Result<PackedListCut> CutPackedList(std::string_view packed, uint64_t at, uint64_t n) {
  PackedReader reader(packed);
  if (!reader.status().ok() || reader.count() < at || reader.count() - at < n) return EndOf(reader);
  PackedListCut cut;
  cut.before_count = at;
  cut.range_count = n;
  cut.after_count = reader.count() - at - n;
  const size_t body = reader.offset();
  if (at == reader.count()) {  // the end: nothing to skip
    cut.before = packed.substr(body);
    return cut;
  }
  TRY(Skip(reader, at));
  const size_t range_start = reader.offset();
  TRY(Skip(reader, n));
  cut.before = packed.substr(body, range_start - body);
  cut.range = packed.substr(range_start, reader.offset() - range_start);
  cut.after = packed.substr(reader.offset());
  return cut;
}

std::string JoinPackedList(uint64_t count, std::string_view items) {
  std::string out;
  out.reserve(10 + items.size());
  AppendVarint(out, count);
  out.append(items);
  return out;
}

std::string ReplaceRange(const PackedListCut& cut, const EncodedItems& items) {
  std::string out;
  out.reserve(10 + cut.before.size() + items.size_bytes() + cut.after.size());
  AppendVarint(out, cut.before_count + items.count() + cut.after_count);
  out.append(cut.before);
  out.append(items.Range(0, items.count()));
  out.append(cut.after);
  return out;
}

std::string ExtendPackedList(std::string_view packed, ListEnd end, const EncodedItems& items, size_t from, size_t n) {
  const PackedReader reader(packed);
  const std::string_view body = packed.substr(reader.offset());
  std::string out;
  out.reserve(10 + body.size() + items.Range(from, n).size());
  AppendVarint(out, reader.count() + n);
  if (end == ListEnd::kTail) {
    out.append(body);
    out.append(items.Range(from, n));
  } else {
    for (size_t i = from + n; i > from; --i) out.append(items.Range(i - 1, 1));
    out.append(body);
  }
  return out;
}

Result<std::string> WithoutItems(std::string_view packed, std::span<const uint64_t> positions) {
  PackedReader reader(packed);
  if (!reader.status().ok() || reader.count() < positions.size()) return EndOf(reader);
  std::string out;
  out.reserve(packed.size());
  AppendVarint(out, reader.count() - positions.size());
  uint64_t next = 0;  // the number of the reader's next item
  size_t kept_from = reader.offset();
  for (const uint64_t position : positions) {
    TRY(Skip(reader, position - next));
    out.append(packed.substr(kept_from, reader.offset() - kept_from));
    TRY(Skip(reader, 1));
    next = position + 1;
    kept_from = reader.offset();
  }
  out.append(packed.substr(kept_from));
  return out;
}

Result<PackedListHalves> HalvePackedList(std::string_view packed) {
  PackedReader reader(packed);
  ASSERT(reader.count() >= 2, "only a list of two items or more has halves");
  const size_t body = reader.offset();
  const size_t middle = body + (packed.size() - body) / 2;
  uint64_t count = 0;
  size_t boundary = body;
  while (count + 1 < reader.count()) {
    TRY(Skip(reader, 1));
    const size_t end = reader.offset();
    const bool is_past_middle = end >= middle;
    if (is_past_middle && count > 0 && end - middle > middle - boundary) break;  // the boundary before is nearer
    boundary = end;
    ++count;
    if (is_past_middle) break;
  }
  return PackedListHalves{JoinPackedList(count, packed.substr(body, boundary - body)),
                          JoinPackedList(reader.count() - count, packed.substr(boundary))};
}

Status ForEachItem(std::string_view packed, uint64_t at, uint64_t n, bool reverse, const ItemVisitor& visit) {
  PackedReader reader(packed);
  TRY(Skip(reader, at));
  Item item;
  if (!reverse) {
    for (; n > 0; --n) {
      if (!reader.Next(item)) return EndOf(reader);
      visit(item);
    }
    return Ok();
  }
  std::vector<Item> items;
  for (; n > 0; --n) {
    if (!reader.Next(item)) return EndOf(reader);
    items.push_back(item);
  }
  for (size_t i = items.size(); i > 0; --i) visit(items[i - 1]);
  return Ok();
}

Status FindItems(std::string_view packed, const Item& wanted, std::vector<uint64_t>& positions) {
  PackedReader reader(packed);
  Item item;
  for (uint64_t position = 0; position < reader.count(); ++position) {
    if (!reader.Next(item)) return EndOf(reader);
    if (item == wanted) positions.push_back(position);
  }
  return reader.status().ok() ? Ok() : EndOf(reader);
}

Result<std::optional<uint64_t>> FindItem(std::string_view packed, const Item& wanted) {
  PackedReader reader(packed);
  Item item;
  for (uint64_t position = 0; position < reader.count(); ++position) {
    if (!reader.Next(item)) return EndOf(reader);
    if (item == wanted) return std::optional<uint64_t>(position);
  }
  if (!reader.status().ok()) return EndOf(reader);
  return std::optional<uint64_t>();
}

}  // namespace cairn
