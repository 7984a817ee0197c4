// SPDX-License-Identifier: BSD-3-Clause
//
// StreamGroup: a consumer group of a stream: its read position, its consumers, and its pending entries (delivered but
// not acknowledged yet).
//
// It has a row for the group, one per consumer, and two per pending entry: by entry and by its consumer. A group whose
// entries were ever claimed by their idle time (XREADGROUP CLAIM) has a third one, by the delivery time
// (types/stream_rows.h has the keys, types/stream_group_rows.h the values). Entries that were deleted from the stream
// may lack it: they cannot be claimed that way.
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
#include "types/stream_group_rows.h"

namespace cairn {

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
  uint64_t pending() const { return state_.pending; }
  uint64_t nacked() const { return state_.nacked; }  // of the pending entries, those that XNACK released
  uint64_t consumers() const { return state_.consumers; }
  StreamId last_id() const { return state_.last_id; }
  int64_t entries_read() const { return state_.entries_read; }
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
  // the order of their release. Skips those that DropTime was called for. REQUIRES: KeepTimes() was called. `visit`
  // must not change them, but may call DropTime.
  Status ForEachPendingByTime(const PendingVisitor& visit) const;
  // Deletes the row by delivery time of a pending entry that was deleted from the stream.
  void DropTime(const PendingEntry& entry) { txn_->Delete(TimedRow(entry)); }
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
  // Removes the entry from the consumer for which it is pending, or from those without a consumer, and its row by time.
  Status TakeFrom(const PendingEntry& entry);
  RowKey TimedRow(const PendingEntry& entry) const;
  void WritePending(const PendingEntry& entry);

  Transaction* txn_;
  StreamRows rows_;
  std::string name_;
  StreamGroupState state_;
  std::map<std::string, StreamConsumer, std::less<>> loaded_;  // consumers looked up so far
};

// The number of entries added to the stream up to `id`; kUnknownEntriesRead if it cannot be known.
int64_t EntriesAddedUpTo(const StreamState& stream, StreamId id);

}  // namespace cairn
