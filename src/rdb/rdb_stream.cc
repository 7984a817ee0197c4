// SPDX-License-Identifier: BSD-3-Clause
#include "rdb/rdb_stream.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "encoding/varint.h"
#include "rdb/stream_node.h"

namespace cairn {
namespace {

constexpr size_t kIdBytes = 16;
constexpr uint64_t kMostCounted = std::numeric_limits<int64_t>::max();

Result<StreamId> IdOf(std::string_view bytes) {
  StreamId id;
  if (bytes.size() != kIdBytes) return Status::Corruption("rdb stream: an id of the wrong size");
  ReadU64(bytes, id.ms);
  ReadU64(bytes, id.seq);
  return id;
}

Result<StreamId> ReadRawId(RdbReader& reader) { return IdOf(TRY(reader.Bytes(kIdBytes))); }

Result<StreamId> ReadLengthsId(RdbReader& reader) {
  StreamId id;
  id.ms = TRY(reader.Length());
  id.seq = TRY(reader.Length());
  return id;
}

Result<std::string> ReadName(RdbReader& reader, RdbItems& items) {
  TRY(reader.Text(items));
  return items.TakeAll().back().ToString();
}

// Reads a Unix time in ms, at least `least`.
Result<int64_t> ReadTime(RdbReader& reader, int64_t least) {
  const int64_t time_ms = TRY(reader.Fixed64());
  if (time_ms < least) return Status::Corruption("rdb stream: a time out of range");
  return time_ms;
}

// Pending entries of a group that no consumer has yet.
using Unclaimed = std::map<StreamId, PendingEntry>;

Result<Unclaimed> ReadPending(RdbReader& reader) {
  Unclaimed pending;
  for (uint64_t left = TRY(reader.Count(kIdBytes + 9)); left > 0; --left) {
    PendingEntry entry{.id = TRY(ReadRawId(reader))};
    entry.delivered_ms = TRY(ReadTime(reader, 0));
    entry.deliveries = TRY(reader.Length());
    if (!pending.emplace(entry.id, entry).second) {
      return Status::Corruption("rdb stream: an entry is pending twice");
    }
  }
  return pending;
}

bool HasActiveTimes(RdbType type) { return type != RdbType::kStreamListpacks && type != RdbType::kStreamListpacks2; }

Result<RdbStream::Consumer> ReadConsumer(RdbType type, RdbReader& reader, RdbItems& items, Unclaimed& unclaimed) {
  RdbStream::Consumer consumer{.name = TRY(ReadName(reader, items))};
  consumer.seen_ms = consumer.active_ms = TRY(ReadTime(reader, 0));
  if (HasActiveTimes(type)) consumer.active_ms = TRY(ReadTime(reader, kNeverActive));
  for (uint64_t left = TRY(reader.Count(kIdBytes)); left > 0; --left) {
    const auto claimed = unclaimed.extract(TRY(ReadRawId(reader)));
    if (claimed.empty()) {
      return Status::Corruption("Stream consumer PEL entry already has a consumer assigned, or is not pending");
    }
    consumer.pending.push_back(claimed.mapped());
  }
  return consumer;
}

Result<int64_t> ReadEntriesRead(RdbReader& reader) {
  const uint64_t read = TRY(reader.Length());
  if (read != static_cast<uint64_t>(kUnknownEntriesRead) && read > kMostCounted) {
    return Status::Corruption("rdb stream: a group has read more entries than exist");
  }
  return static_cast<int64_t>(read);
}

Result<std::vector<PendingEntry>> ReadNacked(RdbReader& reader, Unclaimed& unclaimed) {
  std::vector<PendingEntry> nacked;
  for (uint64_t left = TRY(reader.Count(kIdBytes)); left > 0; --left) {
    const auto released = unclaimed.extract(TRY(ReadRawId(reader)));
    if (released.empty()) {
      return Status::Corruption("rdb stream: a released entry has a consumer, or is not pending");
    }
    nacked.push_back(released.mapped());
  }
  return nacked;
}

Result<RdbStream::Group> ReadGroup(RdbType type, RdbReader& reader, RdbItems& items) {
  RdbStream::Group group{.name = TRY(ReadName(reader, items))};
  group.last_id = TRY(ReadLengthsId(reader));
  if (type != RdbType::kStreamListpacks) group.entries_read = TRY(ReadEntriesRead(reader));
  Unclaimed unclaimed = TRY(ReadPending(reader));
  absl::flat_hash_set<std::string> names;
  for (uint64_t left = TRY(reader.Count(10)); left > 0; --left) {
    group.consumers.push_back(TRY(ReadConsumer(type, reader, items, unclaimed)));
    if (!names.insert(group.consumers.back().name).second) {
      return Status::Corruption("Duplicate stream consumer detected");
    }
  }
  if (type == RdbType::kStreamListpacks5) group.nacked = TRY(ReadNacked(reader, unclaimed));
  if (!unclaimed.empty()) return Status::Corruption("rdb stream: a pending entry without a consumer");
  return group;
}

constexpr uint64_t kMostDurationS = 86400;
constexpr uint64_t kMostIds = 10000;

Result<RdbStream::Producer> ReadProducer(RdbReader& reader, RdbItems& items) {
  RdbStream::Producer producer{.name = TRY(ReadName(reader, items)), .ids = {}};
  for (uint64_t left = TRY(reader.Count(3)); left > 0; --left) {
    std::string id = TRY(ReadName(reader, items));
    producer.ids.emplace_back(std::move(id), TRY(ReadLengthsId(reader)));
  }
  if (producer.ids.size() > kMostIds) return Status::Corruption("rdb stream: a producer with too many ids");
  return producer;
}

// Reads the ids with which producers recognize entries that they have added already.
Result<RdbStream::Idempotence> ReadIdempotence(RdbReader& reader, RdbItems& items) {
  RdbStream::Idempotence read;
  read.duration_s = TRY(reader.Length());
  read.most_ids = TRY(reader.Length());
  if (read.duration_s < 1 || read.duration_s > kMostDurationS || read.most_ids < 1 || read.most_ids > kMostIds) {
    return Status::Corruption("rdb stream: the settings of idempotent producers");
  }
  for (uint64_t left = TRY(reader.Count(2)); left > 0; --left) {
    read.producers.push_back(TRY(ReadProducer(reader, items)));
  }
  read.added = TRY(reader.Length());
  read.duplicates = TRY(reader.Length());
  return read;
}

}  // namespace

std::span<const Item> RdbStream::fields(size_t entry) const {
  const size_t begin = entry == 0 ? 0 : entries_[entry - 1].end;
  return std::span(texts_).subspan(begin, entries_[entry].end - begin);
}

Status RdbStream::Add(StreamId id, std::span<const Item> fields, std::span<const Item> values) {
  if (id <= last_entry_id_) {
    return Status::Corruption("rdb stream: the ids do not ascend");
  }
  if (fields.empty()) return Status::Corruption("rdb stream: an empty entry");
  for (size_t i = 0; i < fields.size(); ++i) {
    texts_.push_back(fields[i]);
    texts_.push_back(values[i]);
  }
  entries_.push_back({id, texts_.size()});
  last_entry_id_ = id;
  ++count_;
  return Ok();
}

Status RdbStream::ReadNode(RdbReader& reader, RdbItems& items) {
  const StreamId base = TRY(IdOf(TRY(reader.Blob(items))));
  if (base <= last_base_) return Status::Corruption("rdb stream: the nodes do not ascend");
  last_base_ = base;
  Status read = ReadStreamNode(base, TRY(reader.Blob(items)), items, *this);
  return read.ok() ? Ok() : BrokenContainer("Stream listpack", std::move(read));
}

void RdbStream::DropEntries() {
  entries_.clear();
  texts_.clear();
}

Status RdbStream::ReadState(RdbType type, RdbReader& reader) {
  if (TRY(reader.Length()) != count_) {
    return Status::Corruption("rdb stream: the count does not match the entries");
  }
  last_id_ = TRY(ReadLengthsId(reader));
  entries_added_ = count_;
  counts_reads_ = type != RdbType::kStreamListpacks;
  if (counts_reads_) {
    TRY(ReadLengthsId(reader));  // the first id: we see that entry
    max_deleted_id_ = TRY(ReadLengthsId(reader));
    entries_added_ = TRY(reader.Length());
  }
  // A deleted id may be above the last one: XSETID checks only the remaining entries.
  if (last_entry_id_ > last_id_) {
    return Status::Corruption("rdb stream: the last id is not the highest");
  }
  if (entries_added_ < count_ || entries_added_ > kMostCounted) {
    return Status::Corruption("rdb stream: an invalid number of entries added");
  }
  return Ok();
}

Status RdbStream::ReadEnd(RdbType type, RdbReader& reader, RdbItems& items) {
  TRY(ReadState(type, reader));
  absl::flat_hash_set<std::string> names;
  for (uint64_t left = TRY(reader.Count(5)); left > 0; --left) {
    groups_.push_back(TRY(ReadGroup(type, reader, items)));
    if (!names.insert(groups_.back().name).second) {
      return Status::Corruption("rdb stream: a duplicate group");
    }
  }
  if (type == RdbType::kStreamListpacks4 || type == RdbType::kStreamListpacks5) {
    idempotence_ = TRY(ReadIdempotence(reader, items));
  }
  at_end_ = true;
  return Ok();
}

}  // namespace cairn
