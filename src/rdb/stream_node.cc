// SPDX-License-Identifier: BSD-3-Clause
#include "rdb/stream_node.h"

#include <algorithm>

#include "base/number.h"
#include "encoding/varint.h"

namespace cairn {
namespace {

constexpr int64_t kDeleted = 1;
constexpr int64_t kSharesFields = 2;
constexpr int64_t kLargestNode = int64_t{1} << 30;

Status BadNode() { return Status::Corruption("stream node: malformed entries"); }

// Reads the items of a node in order.
class NodeItems {
 public:
  explicit NodeItems(std::span<const Item> items) : rest_(items) {}

  size_t left() const { return rest_.size(); }

  Result<std::span<const Item>> Take(uint64_t count) {
    if (count > rest_.size()) return BadNode();
    const std::span<const Item> taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }
  Result<int64_t> Integer() {
    const Item item = TRY(Take(1))[0];
    if (item.is_integer()) return item.integer();
    const auto value = ParseInt64(item.bytes());
    if (!value) return BadNode();
    return *value;
  }
  // Reads the number of items, or groups of items, that follow.
  Result<uint64_t> Count() {
    const int64_t count = TRY(Integer());
    if (count < 0 || static_cast<uint64_t>(count) > rest_.size()) return BadNode();
    return static_cast<uint64_t>(count);
  }

 private:
  std::span<const Item> rest_;
};

// Reads one entry. Returns whether it is not deleted.
Result<bool> ReadEntry(StreamId base, std::span<const Item> node_fields, NodeItems& items, RdbStream& stream) {
  const size_t before = items.left();
  const int64_t flags = TRY(items.Integer());
  if (flags < 0 || flags > (kDeleted | kSharesFields)) return BadNode();
  const StreamId id{base.ms + static_cast<uint64_t>(TRY(items.Integer())),
                    base.seq + static_cast<uint64_t>(TRY(items.Integer()))};
  std::vector<Item> own_fields;
  std::vector<Item> own_values;
  std::span<const Item> fields = node_fields;
  std::span<const Item> values;
  if (flags & kSharesFields) {
    values = TRY(items.Take(fields.size()));
  } else {
    const std::span<const Item> pairs = TRY(items.Take(2 * TRY(items.Count())));
    for (size_t i = 0; i < pairs.size(); i += 2) {
      own_fields.push_back(pairs[i]);
      own_values.push_back(pairs[i + 1]);
    }
    fields = own_fields;
    values = own_values;
  }
  const size_t size = before - items.left();
  if (TRY(items.Integer()) != static_cast<int64_t>(size)) return BadNode();
  if (flags & kDeleted) return false;
  TRY(stream.Add(id, fields, values));
  return true;
}

}  // namespace

Status ReadStreamNode(StreamId base, std::string_view listpack, RdbItems& items, RdbStream& stream) {
  TRY(ReadListpack(listpack, items));
  const std::vector<Item> all = items.TakeAll();
  NodeItems rest(all);
  const uint64_t count = TRY(rest.Count());
  const uint64_t deleted = TRY(rest.Count());
  const std::span<const Item> fields = TRY(rest.Take(TRY(rest.Count())));
  if (TRY(rest.Integer()) != 0) return BadNode();
  uint64_t kept = 0;
  uint64_t gone = 0;
  while (rest.left() > 0) ++(TRY(ReadEntry(base, fields, rest, stream)) ? kept : gone);
  if (kept != count || gone != deleted) return BadNode();
  return Ok();
}

bool StreamNodesWriter::HasRoom(const StreamEntry& entry) const {
  const bool limited = most_bytes_ > 0 && most_bytes_ < kLargestNode;
  auto bytes = static_cast<int64_t>(Head().size_bytes() + entries_.size_bytes()) -
               static_cast<int64_t>(ListpackWriter().size_bytes());
  std::string scratch;
  for (const auto& [field, value] : entry.fields) {
    bytes += static_cast<int64_t>(field.Text(scratch).size());
    bytes += static_cast<int64_t>(value.Text(scratch).size());
  }
  return bytes < (limited ? most_bytes_ : kLargestNode) && (most_entries_ <= 0 || count_ < most_entries_);
}

bool StreamNodesWriter::SharesFields(const StreamEntry& entry) const {
  return std::equal(fields_.begin(), fields_.end(), entry.fields.begin(), entry.fields.end(),
                    [](const std::string& known, const auto& field) { return Item::FromText(known) == field.first; });
}

ListpackWriter StreamNodesWriter::Head() const {
  ListpackWriter head;
  head.AddInteger(count_);
  head.AddInteger(0);
  head.AddInteger(static_cast<int64_t>(fields_.size()));
  for (const std::string& field : fields_) head.AddText(field);
  head.AddInteger(0);
  return head;
}

void StreamNodesWriter::Begin(const StreamEntry& entry) {
  base_ = entry.id;
  fields_.clear();
  for (const auto& [field, value] : entry.fields) fields_.push_back(field.ToString());
}

void StreamNodesWriter::End() {
  ListpackWriter listpack = Head();
  listpack.Append(entries_);
  RdbWriter own(nodes_);
  RdbWriter& writer = direct_ != nullptr ? *direct_ : own;
  std::string base;
  AppendU64(base, base_.ms);
  AppendU64(base, base_.seq);
  writer.Text(base);
  writer.Text(listpack.Take());
  ++node_count_;
  count_ = 0;
  entries_ = ListpackWriter();
}

void StreamNodesWriter::Add(const StreamEntry& entry) {
  if (count_ > 0 && !HasRoom(entry)) End();
  if (count_ == 0) Begin(entry);
  const bool shares = SharesFields(entry);
  const size_t before = entries_.count();
  entries_.AddInteger(shares ? kSharesFields : 0);
  entries_.AddInteger(static_cast<int64_t>(entry.id.ms - base_.ms));
  entries_.AddInteger(static_cast<int64_t>(entry.id.seq - base_.seq));
  if (!shares) entries_.AddInteger(static_cast<int64_t>(entry.fields.size()));
  for (const auto& [field, value] : entry.fields) {
    if (!shares) entries_.Add(field);
    entries_.Add(value);
  }
  entries_.AddInteger(static_cast<int64_t>(entries_.count() - before));
  ++count_;
}

uint64_t StreamNodesWriter::FinishDirect() {
  if (count_ > 0) End();
  return node_count_;
}

void StreamNodesWriter::Finish(RdbWriter& writer) {
  if (count_ > 0) End();
  writer.Length(node_count_);
  writer.Raw(nodes_);
}

}  // namespace cairn
