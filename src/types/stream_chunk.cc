// SPDX-License-Identifier: BSD-3-Clause
#include "types/stream_chunk.h"

#include <utility>

#include "base/assert.h"
#include "encoding/varint.h"

namespace cairn {
namespace {

bool SameFields(const std::vector<Item>& known, std::span<const std::string_view> fields) {
  if (fields.size() / 2 != known.size()) return false;
  for (size_t i = 0; i < known.size(); ++i) {
    if (!(known[i] == Item::FromText(fields[2 * i]))) return false;
  }
  return true;
}

// Reads the items of a packed list at the front of `in` and advances `in`. Returns false if it is truncated.
bool ReadItems(std::string_view& in, std::vector<Item>& items) {
  PackedReader reader(in);
  if (!reader.status().ok() || reader.count() > in.size()) return false;
  items.resize(reader.count());
  for (Item& item : items) {
    if (!reader.Next(item)) return false;
  }
  in.remove_prefix(reader.offset());
  return true;
}

}  // namespace

StreamChunkReader::StreamChunkReader(StreamId base, std::string_view chunk) : base_(base), chunk_(chunk) {
  std::string_view in = chunk;
  bool good = ReadVarint(in, count_);
  count_end_ = chunk.size() - in.size();
  good = good && ReadItems(in, fields_);
  entries_ = entry_start_ = next_ = chunk.size() - in.size();
  if (!good) Fail();
}

bool StreamChunkReader::Fail() {
  status_ = Status::Corruption("stream chunk: cut short");
  read_ = count_;
  return false;
}

bool StreamChunkReader::Next() {
  if (read_ == count_) return false;
  entry_start_ = next_;
  ++read_;
  return ReadEntry() || Fail();
}

bool StreamChunkReader::ReadEntry() {
  std::string_view in = chunk_.substr(next_);
  if (!ReadStreamId(in, entry_.id)) return false;
  if (entry_.id.ms == 0) entry_.id.seq += base_.seq;
  entry_.id.ms += base_.ms;
  PackedReader reader(in);
  if (!reader.status().ok() || reader.count() > in.size()) return false;
  const bool shares_fields = reader.count() == 0;
  entry_.fields.resize(shares_fields ? fields_.size() : reader.count());
  for (size_t i = 0; i < entry_.fields.size(); ++i) {
    auto& [field, value] = entry_.fields[i];
    if (shares_fields) {
      field = fields_[i];
    } else if (!reader.Next(field)) {
      return false;
    }
    if (!reader.Next(value)) return false;
  }
  next_ = chunk_.size() - in.size() + reader.offset();
  return true;
}

namespace {

void AppendFieldNames(std::string& out, std::span<const std::string_view> fields) {
  AppendVarint(out, fields.size() / 2);
  for (size_t i = 0; i < fields.size(); i += 2) AppendItem(out, fields[i]);
}

void AppendEntry(std::string& out, StreamId base, StreamId id, bool shares_fields,
                 std::span<const std::string_view> fields) {
  AppendStreamId(out, {id.ms - base.ms, id.ms == base.ms ? id.seq - base.seq : id.seq});
  AppendVarint(out, shares_fields ? 0 : fields.size() / 2);
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i % 2 == 1 || !shares_fields) AppendItem(out, fields[i]);
  }
}

}  // namespace

Result<std::string> AppendToStreamChunk(StreamId base, std::string_view chunk, StreamId id,
                                        std::span<const std::string_view> fields) {
  std::string_view in = chunk;
  uint64_t count;
  std::vector<Item> known;
  if (!ReadVarint(in, count)) return Status::Corruption("stream chunk: the count is cut short");
  const std::string_view rest = in;
  if (!ReadItems(in, known)) return Status::Corruption("stream chunk: the fields are cut short");
  std::string grown;
  AppendVarint(grown, count + 1);
  grown.append(rest);
  AppendEntry(grown, base, id, SameFields(known, fields), fields);
  return grown;
}

bool StreamChunkBuilder::SharesFields(std::span<const std::string_view> fields) const {
  if (fields.size() / 2 != fields_.size()) return false;
  for (size_t i = 0; i < fields_.size(); ++i) {
    if (fields_[i] != fields[2 * i]) return false;
  }
  return true;
}

void StreamChunkBuilder::Add(StreamId id, std::span<const std::string_view> fields) {
  if (count_ == 0) {
    base_ = id;
    fields_.clear();
    for (size_t i = 0; i < fields.size(); i += 2) fields_.emplace_back(fields[i]);
    AppendFieldNames(head_, fields);
  }
  AppendEntry(entries_, base_, id, SharesFields(fields), fields);
  last_ = id;
  ++count_;
}

std::string StreamChunkBuilder::Take() {
  ASSERT(count_ > 0, "a chunk has entries");
  std::string chunk = JoinStreamChunk(std::exchange(count_, 0), head_, entries_);
  head_.clear();
  entries_.clear();
  return chunk;
}

std::string JoinStreamChunk(uint64_t count, std::string_view head, std::string_view entries) {
  std::string chunk;
  AppendVarint(chunk, count);
  chunk.append(head);
  chunk.append(entries);
  return chunk;
}

}  // namespace cairn
