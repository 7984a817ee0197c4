// SPDX-License-Identifier: BSD-3-Clause
//
// Stream: an append-only log of entries, each a list of fields and values under an ascending id.
//
// A stream is always spread: its entries are in chunk rows (types/stream_chunk.h), and the key's record has the state
// of the whole (docs/format.md, section 5.4). Adding an entry writes the last chunk and the record; trimming deletes
// whole chunks from the first on. The record names the first and the last chunk, so no walk there passes deleted rows.
//
//   Stream stream(keyspace, key);
//   TRY(stream.Open());                              // WRONGTYPE if the key holds something else
//   TRY(stream.Append(id, fields));
//   TRY(stream.Save());
//
// Thread: that of the transaction. Not here: consumer groups (types/stream_group.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "encoding/record.h"
#include "encoding/stream_id.h"
#include "types/keyspace.h"
#include "types/stream_chunk.h"
#include "types/stream_rows.h"

namespace cairn {

// How the stream recognizes entries that were added already (types/stream_producers.h).
struct StreamIdempotence {
  static constexpr uint64_t kMostDurationS = 86400;
  static constexpr uint64_t kMostIds = 10000;

  uint64_t duration_s = 100;   // how long an id is kept
  uint64_t most_ids = 100;     // of each producer
  uint64_t added = 0;          // entries added with an id, ever
  uint64_t duplicates = 0;     // entries not added again, ever
  uint64_t producers = 0;      // rows of producers
  uint32_t next_producer = 0;  // the number of the next new producer
  uint64_t sweep_at = 0;       // with as many producers, a new one deletes the expired ones

  bool operator==(const StreamIdempotence&) const = default;
};

// The state in a stream's record.
struct StreamState {
  uint64_t count = 0;          // of entries
  StreamId last_id;            // the highest id ever used, or the one XSETID set
  StreamId first_id;           // of the first entry; 0-0 if empty
  StreamId max_deleted_id;     // the highest id that XDEL deleted; 0-0: none
  uint64_t entries_added = 0;  // ever
  StreamId head;               // base of the first chunk; 0-0: no chunk
  StreamId tail;               // base of the last chunk, to which entries are added; 0-0: start a new chunk
  uint64_t chunks = 0;
  uint64_t groups = 0;
  uint32_t next_group = 0;  // the number of the next new group
  StreamIdempotence idempotence;
};

// The state in the payload of a stream's record. kCorruption if it is cut short.
Result<StreamState> DecodeStreamState(const SpreadPayload& payload);
// Appends the whole payload of a stream's record.
void AppendStreamState(std::string& payload, CollectionId id, const StreamState& state);

// Which entries to delete.
struct StreamTrim {
  std::optional<uint64_t> max_length;  // keep only this many at the end
  StreamId min_id;                     // if not set: delete entries with a lower id
  bool whole_chunks = false;           // delete only whole chunks
  uint64_t limit = 0;                  // the maximum to delete; 0: no limit
};

// Returns whether to continue.
using StreamVisitor = std::function<Result<bool>(const StreamEntry& entry)>;

class Stream {
 public:
  Stream(Keyspace& keys, const Key& key) : keys_(&keys), key_(&key) {}

  // Looks the key up. Call it once, before all else.
  Status Open();
  // The same for an entry that was already looked up. REQUIRES: it is a stream or does not exist.
  Status Open(KeyEntry entry);

  bool exists() const { return rows_.id != 0; }
  // Creates the stream without entries. REQUIRES: !exists().
  void Create();

  uint64_t size() const { return state_.count; }
  const StreamState& state() const { return state_; }
  // For XSETID and the counts of groups. Save() writes it.
  StreamState& state() { return state_; }
  const StreamRows& rows() const { return rows_; }
  const Key& key() const { return *key_; }
  Transaction& txn() const { return keys_->txn(); }

  // `fields`: field, value, field, value ... REQUIRES: exists(), id > state().last_id.
  Status Append(StreamId id, std::span<const std::string_view> fields);
  // Whether a chunk of `count` entries in `bytes` has room for one more (for types/stream_filler.h).
  bool HasRoom(size_t bytes, uint64_t count, std::span<const std::string_view> fields) const;
  // Adds the chunk behind the others. REQUIRES: exists(), the chunk has entries, base() > state().last_id.
  void AddChunk(StreamChunkBuilder& chunk);

  // Visits entries with from <= id <= to, ascending, or descending if `reverse`. Each takes a part of the work budget.
  Status ForEach(StreamId from, StreamId to, bool reverse, const StreamVisitor& visit) const;
  Result<bool> Has(StreamId id) const;
  // The id of the last entry; 0-0 if the stream is empty.
  Result<StreamId> LastEntryId() const;

  // Returns whether the entry existed.
  Result<bool> Delete(StreamId id);
  // Returns the number of entries deleted.
  Result<uint64_t> Trim(const StreamTrim& trim);
  // Returns the ids of the entries that `trim` selects and for which `may_go` returns true, in order. An entry that may
  // not go counts as part of the length that is left, and the search continues behind it.
  Result<std::vector<StreamId>> FindTrimmed(const StreamTrim& trim,
                                            const std::function<Result<bool>(StreamId)>& may_go) const;

  // Writes the record. REQUIRES: exists().
  Status Save();

 private:
  void CountAdded(StreamId first, StreamId last, uint64_t count);
  // The last chunk whose base is not above `id`; none if there is none.
  Result<std::optional<StreamId>> ChunkOf(StreamId id) const;
  Status VisitForward(StreamId from, StreamId to, const StreamVisitor& visit) const;
  Status VisitReverse(StreamId from, StreamId to, const StreamVisitor& visit) const;
  void DropChunk(StreamId base);
  // Finds the first chunk and entry again, starting from the previous first chunk.
  Status FindFirst();
  Status SetFirst(StreamId base, std::string_view chunk);
  void SetEmpty();
  // How much of a chunk `trim` selects, when `left` entries are left and `deleted` ones were deleted before it.
  enum class ChunkTrim : uint8_t { kStop, kPart, kAll };
  static Result<ChunkTrim> JudgeChunk(const StreamTrim& trim, uint64_t left, uint64_t deleted, StreamId base,
                                      std::string_view chunk);
  Result<uint64_t> TrimWithin(const StreamTrim& trim, StreamId base, std::string_view chunk);

  Keyspace* keys_;
  const Key* key_;
  KeyEntry entry_;
  StreamRows rows_;
  StreamState state_;
};

}  // namespace cairn
