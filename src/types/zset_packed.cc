// SPDX-License-Identifier: BSD-3-Clause
#include "types/zset_packed.h"

#include "encoding/varint.h"

namespace cairn {
namespace {

// Walks a payload; an empty one has no entries.
class Walk {
 public:
  explicit Walk(std::string_view payload) : reader_(payload.empty() ? kNone : payload) {}

  bool Next(PackedZset::Entry& entry) {
    entry.begin = reader_.offset();
    if (!reader_.Next(entry.member) || !reader_.NextScore(entry.score)) return false;
    entry.end = reader_.offset();
    ++read_;
    return true;
  }
  uint64_t count() const { return reader_.count(); }
  size_t offset() const { return reader_.offset(); }

  // Checks that the completed walk saw as many entries as the payload announces.
  Status AtEnd() const {
    if (!reader_.status().ok()) return Status::Corruption(reader_.status().text());
    if (read_ != reader_.count()) return Status::Corruption("packed zset: the count does not match the entries");
    return Ok();
  }
  // The same check in the middle of a walk.
  Status SoFar() const {
    if (!reader_.status().ok()) return Status::Corruption(reader_.status().text());
    return Ok();
  }

 private:
  static constexpr std::string_view kNone{"\0", 1};

  PackedReader reader_;
  uint64_t read_ = 0;
};

// Appends an entry. A score of -0.0 is stored as 0, as Redis does in its small encoding.
void AppendEntry(std::string& out, std::string_view member, double score) {
  AppendItem(out, member);
  AppendScore(out, score == 0 ? 0.0 : score);
}

// Returns whether `entry` sorts after (score, member).
bool SortsAfter(const PackedZset::Entry& entry, double score, std::string_view member, std::string& scratch) {
  if (entry.score != score) return entry.score > score;
  return entry.member.Text(scratch) > member;
}

}  // namespace

Result<std::optional<PackedZset::Found>> PackedZset::Find(std::string_view member) const {
  const Item wanted = Item::FromText(member);
  Walk walk(payload_);
  Found found;
  while (walk.Next(found.entry)) {
    if (found.entry.member == wanted) return std::optional<Found>(found);
    ++found.rank;
  }
  TRY(walk.AtEnd());
  return std::optional<Found>();
}

Result<std::vector<PackedZset::Entry>> PackedZset::Read() const {
  std::vector<Entry> entries;
  Walk walk(payload_);
  TRY(walk.SoFar());
  if (walk.count() <= payload_.size()) entries.reserve(walk.count());
  Entry entry;
  while (walk.Next(entry)) entries.push_back(entry);
  TRY(walk.AtEnd());
  return entries;
}

Result<std::string> PackedZset::With(std::string_view member, double score, const Entry* replaced) const {
  Walk walk(payload_);
  TRY(walk.SoFar());
  const size_t first = walk.offset();
  size_t place = payload_.size();  // where the entry goes
  std::string scratch;
  Entry entry;
  while (walk.Next(entry)) {
    const bool is_old = replaced != nullptr && entry.begin == replaced->begin;
    if (!is_old && SortsAfter(entry, score, member, scratch)) {
      place = entry.begin;
      break;
    }
  }
  TRY(walk.SoFar());

  const auto old_begin = replaced != nullptr ? replaced->begin : place;
  const auto old_end = replaced != nullptr ? replaced->end : place;
  std::string out;
  out.reserve(payload_.size() + member.size() + 24);
  AppendVarint(out, walk.count() + (replaced != nullptr ? 0 : 1));
  const auto copy = [&](size_t begin, size_t end) {
    if (begin < end) out.append(payload_.substr(begin, end - begin));
  };
  if (place <= old_begin) {
    copy(first, place);
    AppendEntry(out, member, score);
    copy(place, old_begin);
    copy(old_end, payload_.size());
  } else {
    copy(first, old_begin);
    copy(old_end, place);
    AppendEntry(out, member, score);
    copy(place, payload_.size());
  }
  return out;
}

Result<std::string> PackedZset::Without(size_t begin, size_t end, uint64_t removed) const {
  const Walk walk(payload_);
  TRY(walk.SoFar());
  if (removed > walk.count()) return Status::Corruption("packed zset: the count is too small");
  std::string out;
  out.reserve(payload_.size());
  AppendVarint(out, walk.count() - removed);
  out.append(payload_.substr(walk.offset(), begin - walk.offset()));
  out.append(payload_.substr(end));
  return out;
}

void PackedZsetWriter::Add(std::string_view member, double score) {
  AppendEntry(entries_, member, score);
  ++count_;
}

std::string PackedZsetWriter::Take() const {
  std::string out;
  out.reserve(entries_.size() + 4);
  AppendVarint(out, count_);
  out.append(entries_);
  return out;
}

}  // namespace cairn
