// SPDX-License-Identifier: BSD-3-Clause
//
// The row keys of a stream, and walks over its chunks (docs/format.md, section 5.4).
//
//   elements   id:u64 ms:u64 seq:u64                              a chunk (types/stream_chunk.h)
//   scores     id:u64 'g' name                                    a consumer group
//              id:u64 'c' group:u32 name                          a consumer
//              id:u64 'p' group:u32 ms:u64 seq:u64                an entry that is pending
//              id:u64 'q' group:u32 consumer:u32 ms:u64 seq:u64   the same by its consumer, empty
//              id:u64 't' group:u32 time:i64 ms:u64 seq:u64       the same by its delivery time (ordered i64), empty
//              id:u64 'r' producer                                a producer of entries
//              id:u64 'i' number:u32 id                           an id of a producer
//              id:u64 'o' number:u32 ms:u64 seq:u64               the same by its entry
//
// The rows of groups and producers are in the scores space, so a walk over chunks never meets them.
// types/stream_group.h and types/stream_producers.h define their values.
//
// Thread: that of the transaction.
#pragma once

#include <optional>

#include "base/result.h"
#include "encoding/row_key.h"
#include "encoding/stream_id.h"
#include "storage/transaction.h"

namespace cairn {

// The rows of one stream.
struct StreamRows {
  CollectionId id = 0;
  uint32_t stripe = 0;

  RowKey Chunk(StreamId base) const;
  RowKey BehindChunk(StreamId base) const;  // sorts right behind Chunk(base)
  RowKey Group(std::string_view name) const;
  RowKey Consumer(uint32_t group, std::string_view name) const;
  RowKey Pending(uint32_t group, StreamId id) const;
  RowKey Owned(uint32_t group, uint32_t consumer, StreamId id) const;
  RowKey Timed(uint32_t group, int64_t time, StreamId id) const;
  RowKey Producer(std::string_view name) const;
  RowKey Produced(uint32_t producer, std::string_view id) const;
  RowKey ProducedAt(uint32_t producer, StreamId entry) const;
  RowKey ProducedAtStart(uint32_t producer) const;  // the common prefix of ProducedAt
  RowKey AllProduced() const;                       // the common prefixes for all producers
  RowKey AllProducedAt() const;
};

// The end of the range of rows that start with `prefix`.
RowKey EndOfRows(const RowKey& prefix);
// Deletes the rows that start with `prefix`.
Status DeleteRows(Transaction& txn, const RowKey& prefix);

// Reads the id at the end of a row key. Returns false if the key is too short.
bool ReadIdAtEnd(std::string_view row, StreamId& id);

// Walks chunks from `first` on to `last`, which must exist. The first chunk is read with a get, and only the second
// needs a cursor: most walks end before it.
class StreamChunkWalk {
 public:
  // REQUIRES: the chunk at `first` exists.
  StreamChunkWalk(Transaction& txn, StreamRows rows, StreamId first, StreamId last, Direction direction);

  bool Valid() const { return valid_; }
  void Next();
  StreamId base() const { return base_; }
  std::string_view chunk() const { return chunk_; }  // valid until Next()
  Status TakeStatus() { return std::move(status_); }

 private:
  Cursor OpenCursor();

  Transaction& txn_;
  const StreamRows rows_;
  const StreamId last_;
  const Direction direction_;
  RowRef first_;
  std::optional<Cursor> cursor_;
  bool valid_ = false;
  StreamId base_;
  std::string_view chunk_;
  Status status_;
};

}  // namespace cairn
