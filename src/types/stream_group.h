// SPDX-License-Identifier: BSD-3-Clause
//
// StreamGroup: a consumer group of a stream: its read position, its consumers, and its pending entries (delivered but
// not acknowledged yet).
//
// It has a row for the group, one per consumer, and two per pending entry: by entry and by its consumer. A group whose
// entries were ever claimed by their idle time (XREADGROUP CLAIM) has a third one, by the delivery time
// (types/stream_rows.h has the keys). Their values (docs/format.md, section 5.4):
//
//   group      number last_ms last_seq entries_read pending consumers next_consumer   all varints
//                entries_read: one more than the number of entries read; 0: not known
//              then timed nacked next_nacked, varints, only if one of them is not 0
//                timed: 1 if there are rows by delivery time; nacked: number of pending entries without a consumer
//   consumer   number seen_ms active_ms pending                                       all varints
//                active_ms: one more than the time; 0: it never got anything
//   pending    delivered_ms deliveries, varints, then the consumer's name; without a consumer (XNACK) 2^63 and the
//              entry's place among such entries instead of delivered_ms
//
// The rows of pending entries are written at once, those of the group and its consumers by Save().
//
// Thread: that of the transaction.
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
  int64_t seen_ms = 0;               // when it last made a request
  int64_t active_ms = kNeverActive;  // when it last received an entry
  uint64_t pending = 0;
};

// Returns whether to continue.
using PendingVisitor = std::function<Result<bool>(const PendingEntry& entry)>;
using ConsumerVisitor = std::function<Result<bool>(const StreamConsumer& consumer)>;

class StreamGroup {
 public:
  static Result<std::optional<StreamGroup>> Find(const Stream& stream, std::string_view name);
  // Makes a new group. REQUIRES: no group has the name. The caller must save both the group and the stream.
  static StreamGroup Create(Stream& stream, std::string_view name, StreamId last_id, int64_t entries_read);
  // Calls visit for each group of the stream, in name order.
  static Status ForEach(const Stream& stream, const std::function<Result<bool>(StreamGroup& group)>& visit);

  const std::string& name() const { return name_; }
  uint64_t pending() const { return pending_; }
  uint64_t nacked() const { return nacked_; }  // of the pending entries, those that XNACK released
  uint64_t consumers() const { return consumer_count_; }
  StreamId last_id() const { return last_id_; }
  int64_t entries_read() const { return entries_read_; }
  void SetPosition(StreamId last_id, int64_t entries_read);
  // Records that the entry `id` of the stream was delivered to the group. No-op if it was delivered before.
  void Advance(const StreamState& stream, StreamId id);
  // The number of entries not yet read; nullopt if unknown.
  std::optional<int64_t> Lag(const StreamState& stream) const;

  // Returns the consumer, or null. The pointer is valid as long as the group.
  Result<StreamConsumer*> Consumer(std::string_view name);
  // The same, but creates a missing consumer. `created`, if given, is set to whether it did.
  Result<StreamConsumer*> ConsumerOrNew(std::string_view name, int64_t now_ms, bool* created = nullptr);
  // Deletes the consumer and its pending entries.
  Status DeleteConsumer(StreamConsumer& consumer);
  // Visits consumers in name order, without changes that are not saved yet.
  Status ForEachConsumer(const ConsumerVisitor& visit) const;

  Result<std::optional<PendingEntry>> Pending(StreamId id) const;
  // Visits pending entries with from <= id <= to in order: all of them, or those of one consumer.
  Status ForEachPending(StreamId from, StreamId to, const PendingVisitor& visit) const;
  Status ForEachPendingOf(const StreamConsumer& consumer, StreamId from, StreamId to,
                          const PendingVisitor& visit) const;
  // Visits pending entries by delivery time, the earliest first, and by id; before them those that XNACK released, in
  // the order of their release. REQUIRES: KeepTimes() was called. `visit`
  // must not change them.
  Status ForEachPendingByTime(const PendingVisitor& visit) const;
  // Makes the rows by delivery time, which the group then keeps. Returns false if it had them.
  Result<bool> KeepTimes();
  // The highest pending id; 0-0 if there is none.
  Result<StreamId> LastPending() const;

  // Makes the entry pending for `consumer`, and no longer for its previous one. `entry.consumer` is ignored.
  Status Assign(StreamConsumer& consumer, const PendingEntry& entry);
  // Makes the entry pending for no consumer, behind the others that have none. `entry.consumer` is ignored.
  Status Nack(const PendingEntry& entry);
  // Removes the entry from the pending ones. Returns false if it was not pending.
  Result<bool> Release(StreamId id);

  // Writes the group and its consumers if they changed.
  void Save();
  // Deletes every row of the group. The caller must save the stream.
  Status Destroy(Stream& stream);

 private:
  StreamGroup(Transaction& txn, StreamRows rows, std::string_view name) : txn_(&txn), rows_(rows), name_(name) {}
  Status Decode(std::string_view value);
  Result<PendingEntry> ReadPending(StreamId id, std::string_view value) const;
  // Removes the entry from the consumer for which it is pending, or from those without a consumer, and its row by time.
  Status TakeFrom(const PendingEntry& entry);
  RowKey TimedRow(const PendingEntry& entry) const;
  void WritePending(const PendingEntry& entry);
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
  bool is_timed_ = false;  // there are rows by delivery time
  uint64_t nacked_ = 0;
  uint64_t next_nacked_ = 0;                                   // the place of the next released entry
  std::map<std::string, StreamConsumer, std::less<>> loaded_;  // consumers looked up so far
};

// The number of entries added to the stream up to `id`; kUnknownEntriesRead if it cannot be known.
int64_t EntriesAddedUpTo(const StreamState& stream, StreamId id);

}  // namespace cairn
