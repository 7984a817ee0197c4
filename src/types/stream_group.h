// SPDX-License-Identifier: BSD-3-Clause
//
// StreamGroup: a consumer group of a stream: how far it has read, its consumers, and the entries it
// delivered that are pending, which is to say not acknowledged yet.
//
// A row for the group, one per consumer, two per pending entry: by entry and by its consumer
// (types/stream_rows.h has the keys). Their values (docs/format.md, section 5.4, since format 1):
//
//   group      number last_ms last_seq entries_read pending consumers next_consumer   all varints
//                entries_read: one more than the number of entries read; 0: not known
//   consumer   number seen_ms active_ms pending                                       all varints
//                active_ms: one more than the time; 0: it never got anything
//   pending    delivered_ms deliveries, varints, then the consumer's name
//
// The rows of pending entries are written at once, those of the group and its consumers by Save().
//
// Thread: the transaction's.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "encoding/stream_entry.h"
#include "types/stream.h"

namespace cairn {

struct StreamConsumer {
  std::string name;
  uint32_t number = 0;
  int64_t seen_ms = 0;               // when it last asked for something
  int64_t active_ms = kNeverActive;  // when it last got something
  uint64_t pending = 0;
};

// Answers whether to go on.
using PendingVisitor = std::function<Result<bool>(const PendingEntry& entry)>;
using ConsumerVisitor = std::function<Result<bool>(const StreamConsumer& consumer)>;

class StreamGroup {
 public:
  static Result<std::optional<StreamGroup>> Find(const Stream& stream, std::string_view name);
  // A new one. REQUIRES: there is none of the name. Both it and the stream are to be saved.
  static StreamGroup Create(Stream& stream, std::string_view name, StreamId last_id, int64_t entries_read);
  // Calls visit for each group of the stream, in the order of their names.
  static Status ForEach(const Stream& stream, const std::function<Result<bool>(StreamGroup& group)>& visit);

  const std::string& name() const { return name_; }
  uint64_t pending() const { return pending_; }
  uint64_t consumers() const { return consumer_count_; }
  StreamId last_id() const { return last_id_; }
  int64_t entries_read() const { return entries_read_; }
  void SetPosition(StreamId last_id, int64_t entries_read);
  // The group was given the entry `id` of the stream. No-op when it was given that before.
  void Advance(const StreamState& stream, StreamId id);
  // How many entries are yet to be read; none when that is not known.
  std::optional<int64_t> Lag(const StreamState& stream) const;

  // The consumer, null when there is none. It stays where it is as long as the group.
  Result<StreamConsumer*> Consumer(std::string_view name);
  // The same, created when need be; `created`, if given, tells.
  Result<StreamConsumer*> ConsumerOrNew(std::string_view name, int64_t now_ms, bool* created = nullptr);
  // Deletes the consumer and what is pending for it.
  Status DeleteConsumer(StreamConsumer& consumer);
  // In the order of their names. As they were before changes that are not saved.
  Status ForEachConsumer(const ConsumerVisitor& visit) const;

  Result<std::optional<PendingEntry>> Pending(StreamId id) const;
  // Visits pending entries with from <= id <= to in their order, or those of a consumer.
  Status ForEachPending(StreamId from, StreamId to, const PendingVisitor& visit) const;
  Status ForEachPendingOf(const StreamConsumer& consumer, StreamId from, StreamId to,
                          const PendingVisitor& visit) const;
  // The highest id that is pending; 0-0 when there is none.
  Result<StreamId> LastPending() const;

  // Makes the entry pending for `consumer`, whoever it was pending for before. `entry.consumer` is not looked at.
  Status Assign(StreamConsumer& consumer, const PendingEntry& entry);
  // The entry is not pending any more. False when it was not.
  Result<bool> Release(StreamId id);

  // Writes the group and its consumers, where they have changed.
  void Save();
  // Deletes every row of the group; the stream is to be saved.
  Status Destroy(Stream& stream);

 private:
  StreamGroup(Transaction& txn, StreamRows rows, std::string_view name) : txn_(&txn), rows_(rows), name_(name) {}
  Status Decode(std::string_view value);
  Result<PendingEntry> ReadPending(StreamId id, std::string_view value) const;
  // Takes the entry away from the consumer it is pending for.
  Status TakeFrom(const PendingEntry& entry);
  Status DeleteRows(const RowKey& prefix);
  void WriteConsumer(const StreamConsumer& consumer);

  Transaction* txn_;
  StreamRows rows_;
  std::string name_;
  uint32_t number_ = 0;
  StreamId last_id_;
  int64_t entries_read_ = kUnknownEntriesRead;
  uint64_t pending_ = 0;
  uint64_t consumer_count_ = 0;
  uint32_t next_consumer_ = 0;
  std::map<std::string, StreamConsumer, std::less<>> loaded_;  // consumers that were asked for
};

// How many entries were added to the stream up to `id`; kUnknownEntriesRead when nobody can tell.
int64_t EntriesAddedUpTo(const StreamState& stream, StreamId id);

}  // namespace cairn
