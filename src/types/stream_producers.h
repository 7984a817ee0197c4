// SPDX-License-Identifier: BSD-3-Clause
//
// StreamProducers: the ids with which a stream recognizes an entry that was added already (XADD IDMP and IDMPAUTO).
// Each producer of entries has its own ids; each id names the entry that was added with it.
//
// An id expires some time after its entry's own time, and a producer has only its latest ids (StreamIdempotence). The
// rows of expired ids are deleted when their producer adds an entry, and those of a producer that adds nothing any more
// when new producers come. The values of the rows (docs/format.md, section 5.4; types/stream_rows.h has the keys):
//
//   producer   number count last_ms last_seq   all varints; count: of its ids; last: the entry of the latest id
//   id         ms seq                          varints: the entry
//   entry      the id
//
// The caller saves the stream. Thread: that of the transaction; the stream's state must outlive the object.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "types/stream.h"

namespace cairn {

class StreamProducers {
 public:
  // An id of a producer, and its entry. Returns whether to continue.
  using Visitor = std::function<Result<bool>(std::string_view producer, std::string_view id, StreamId entry)>;

  StreamProducers(Transaction& txn, const StreamRows& rows, StreamIdempotence& state)
      : txn_(txn), rows_(rows), state_(state) {}

  // The entry that was added with the id; none if there is none, or if the id has expired at the time `now_ms`.
  Result<std::optional<StreamId>> Find(std::string_view producer, std::string_view id, int64_t now_ms) const;
  // Stores the id of the new entry `entry`, and deletes the ids that have expired at the time `now_ms`.
  Status Add(std::string_view producer, std::string_view id, StreamId entry, int64_t now_ms);
  // Deletes all ids.
  Status Clear();
  // Visits the ids that have not expired at the time `now_ms`, producer by producer, in the order of their entries.
  Status ForEach(int64_t now_ms, const Visitor& visit) const;

 private:
  struct Producer {
    uint32_t number = 0;
    uint64_t count = 0;
    StreamId last;
  };

  bool HasExpired(StreamId entry, int64_t now_ms) const;
  static Result<Producer> Decode(std::string_view value);
  Result<Producer> FindOrMake(std::string_view name, int64_t now_ms);
  // Deletes the producer's expired and surplus ids, the earliest first.
  Status Shorten(Producer& producer, int64_t now_ms);
  // Deletes the producers all of whose ids have expired.
  Status Sweep(int64_t now_ms);

  Transaction& txn_;
  const StreamRows rows_;
  StreamIdempotence& state_;
};

}  // namespace cairn
