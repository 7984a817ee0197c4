// SPDX-License-Identifier: BSD-3-Clause
//
// RdbStream: a stream from an RDB payload (rdb/rdb_format.h has the format).
//
// Its contents are consistent: ids ascend and do not exceed the last one, the counts are right, every pending entry has
// one consumer. Other payloads are refused, though Redis accepts some of them.
//
// Thread: that of its user. Texts view the payload and the items it was read with.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "encoding/stream_entry.h"
#include "encoding/stream_id.h"
#include "rdb/rdb_format.h"
#include "rdb/rdb_reader.h"

namespace cairn {

class RdbStream {
 public:
  struct Consumer {
    std::string name;
    int64_t seen_ms = 0;
    int64_t active_ms = kNeverActive;
    std::vector<PendingEntry> pending;  // `consumer` is not set
  };
  struct Group {
    std::string name;
    StreamId last_id;
    int64_t entries_read = kUnknownEntriesRead;
    std::vector<Consumer> consumers;
    std::vector<PendingEntry> nacked;  // pending entries without a consumer, in the order of their release
  };
  // A producer of entries, and the ids with which it added them.
  struct Producer {
    std::string name;
    std::vector<std::pair<std::string, StreamId>> ids;
  };
  struct Idempotence {
    uint64_t duration_s = 0;  // 0: the payload's version does not have producers
    uint64_t most_ids = 0;
    uint64_t added = 0;
    uint64_t duplicates = 0;
    std::vector<Producer> producers;
  };

  // The type is followed by nodes, each of kLeastNodeBytes or more, and the end, to be read in this order. `items`
  // keeps texts that are not contiguous in the payload.
  static constexpr uint64_t kLeastNodeBytes = 18;
  Status ReadNode(RdbReader& reader, RdbItems& items);
  Status ReadEnd(RdbType type, RdbReader& reader, RdbItems& items);
  // Whether the end was read, so that the properties of the whole stream below are valid.
  bool at_end() const { return at_end_; }
  // Removes the entries; `items` may then be destroyed.
  void DropEntries();

  // The number of entries read and not dropped.
  size_t size() const { return entries_.size(); }
  StreamId id(size_t entry) const { return entries_[entry].id; }
  // An entry's fields and values, alternating.
  std::span<const Item> fields(size_t entry) const;
  StreamId last_id() const { return last_id_; }
  StreamId max_deleted_id() const { return max_deleted_id_; }
  uint64_t entries_added() const { return entries_added_; }
  const std::vector<Group>& groups() const { return groups_; }
  const Idempotence& idempotence() const { return idempotence_; }
  // Whether the payload's version stores how many entries a group has read.
  bool counts_reads() const { return counts_reads_; }

  // For the readers: appends an entry. Returns kCorruption if its id does not follow the last one.
  Status Add(StreamId id, std::span<const Item> fields, std::span<const Item> values);

 private:
  struct Entry {
    StreamId id;
    size_t end;  // in texts_
  };

  Status ReadState(RdbType type, RdbReader& reader);

  std::vector<Entry> entries_;
  std::vector<Item> texts_;
  uint64_t count_ = 0;  // of all entries read, including dropped ones
  StreamId last_base_;
  StreamId last_entry_id_;
  bool at_end_ = false;
  StreamId last_id_;
  StreamId max_deleted_id_;
  uint64_t entries_added_ = 0;
  std::vector<Group> groups_;
  bool counts_reads_ = true;
  Idempotence idempotence_;
};

}  // namespace cairn
