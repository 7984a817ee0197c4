// SPDX-License-Identifier: BSD-3-Clause
//
// Stream chunks: entries of a stream that share a row (docs/format.md, section 5.4).
//
//   chunk   count:varint, the fields of the first entry ever in it as a packed list, count entries
//   entry   ms:varint seq:varint fields
//             ms      the entry's less the base's
//             seq     the entry's; less the base's where ms is 0
//             fields  00, then one item, the value, per field of the chunk's; or n:varint of 1 and
//                     more, then n times field item, value item
//
// The base is the id in the row's key: that of the first entry ever in the chunk, which may have been deleted.
// Successive entries mostly have the same fields, so these are stored once per chunk.
//
// A decoder returns kCorruption for truncated data. Thread: any; a reader belongs to its user.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "encoding/packed.h"
#include "encoding/stream_entry.h"
#include "encoding/stream_id.h"

namespace cairn {

// Reads the entries of a chunk in order.
class StreamChunkReader {
 public:
  StreamChunkReader(StreamId base, std::string_view chunk);

  uint64_t count() const { return count_; }  // of all entries
  // Returns false at the end and on corruption; TakeStatus() tells which.
  bool Next();
  const StreamEntry& entry() const { return entry_; }
  Status TakeStatus() { return std::move(status_); }

  // The field names behind the count: the head for another chunk with the same fields.
  std::string_view head() const { return chunk_.substr(count_end_, entries_ - count_end_); }
  // The bytes of the entry read last.
  std::string_view entry_bytes() const { return chunk_.substr(entry_start_, next_ - entry_start_); }
  // The bytes from the next entry on.
  std::string_view rest() const { return chunk_.substr(next_); }

 private:
  bool Fail();
  bool ReadEntry();

  const StreamId base_;
  const std::string_view chunk_;
  uint64_t count_ = 0;
  uint64_t read_ = 0;
  size_t count_end_ = 0;
  size_t entries_ = 0;
  size_t entry_start_ = 0;
  size_t next_ = 0;
  std::vector<Item> fields_;  // of the chunk
  StreamEntry entry_;
  Status status_;
};

// Returns the chunk with the entry appended; kCorruption if it does not decode. REQUIRES: `id` is above all in it.
Result<std::string> AppendToStreamChunk(StreamId base, std::string_view chunk, StreamId id,
                                        std::span<const std::string_view> fields);

// Builds a chunk from entries in order.
class StreamChunkBuilder {
 public:
  uint64_t count() const { return count_; }
  size_t size_bytes() const { return head_.size() + entries_.size(); }
  StreamId base() const { return base_; }
  StreamId last() const { return last_; }
  // REQUIRES: `id` is above those added before. `fields`: field, value, field, value ...
  void Add(StreamId id, std::span<const std::string_view> fields);
  // Returns the chunk and empties the builder. REQUIRES: count() > 0.
  std::string Take();

 private:
  bool SharesFields(std::span<const std::string_view> fields) const;

  uint64_t count_ = 0;
  StreamId base_;
  StreamId last_;
  std::vector<std::string> fields_;  // of the chunk
  std::string head_;
  std::string entries_;
};

// Makes a chunk of `count` entries from bytes that readers of chunks with this head returned.
std::string JoinStreamChunk(uint64_t count, std::string_view head, std::string_view entries);

}  // namespace cairn
