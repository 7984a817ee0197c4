// SPDX-License-Identifier: BSD-3-Clause
//
// StreamGroupsReader: reads the rows of a stream's consumer groups (docs/format.md, section 5.4) and states the rows
// that fit the pending entries. cairn-check compares these with the stored rows; its salvage writes them.
//
// The rows of pending entries decide, because they have the consumer's name and the delivery time. The rows by consumer
// and by delivery time, and the numbers in the rows of the group and its consumers, are made from them. A consumer
// without a row that has pending entries gets a new row. A group without a row is lost: only its row has its name.
// Rows by delivery time may be missing: the server deletes those of entries that are no longer in the stream.
//
// Memory grows with the number of groups and consumers of the stream, but not with that of pending entries.
// Thread: that of its user.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "base/result.h"
#include "types/stream_group_rows.h"
#include "types/stream_rows.h"

namespace cairn {

class StreamGroupsReader {
 public:
  // Gets each row that fits; its error is returned.
  using OnRow = std::function<Status(std::string_view row, std::string_view value)>;
  // Gets a phrase for each group whose rows disagree.
  using OnBadGroup = std::function<void(const std::string& phrase)>;

  StreamGroupsReader(CollectionId id, OnRow on_row) : rows_{.id = id}, on_row_(std::move(on_row)) {}

  // Reads a row of the stream in the space `scores`; the rows come in their order. Rows of producers are passed on as
  // they are. kCorruption if the row does not decode.
  Status Add(std::string_view row, std::string_view value);
  // Passes on the rows of groups and consumers, and returns the number of groups. Call it once, after the last row.
  Result<uint64_t> Finish(const OnBadGroup& on_bad_group);

 private:
  struct Consumer {
    StreamConsumer stored;
    uint64_t pending = 0;  // by the rows of pending entries
  };
  // Rows that are compared without keeping them.
  struct RowSum {
    uint64_t count = 0;
    uint64_t hashes = 0;  // the sum of their hashes

    void Add(std::string_view row) {
      ++count;
      hashes += Hash64(row);
    }
    bool operator==(const RowSum&) const = default;
  };
  struct Group {
    std::string name;
    std::optional<StreamGroupState> stored;  // none: there is no row of the group
    std::map<std::string, Consumer, std::less<>> consumers;
    uint64_t stored_consumers = 0;  // the number of rows
    uint64_t pending = 0;
    uint64_t nacked = 0;
    RowSum owned;  // the rows by consumer that fit
    RowSum stored_owned;
    RowSum timed;  // the rows by time that fit
    RowSum stored_timed;
  };

  Status AddGroup(std::string_view name, std::string_view value);
  Status AddPending(Group& group, std::string_view row, std::string_view value);
  // Counts a row that is made from a pending entry, and passes it on.
  Status Make(RowSum& sum, const RowKey& row);
  static bool IsConsistent(const Group& group);
  Status PassGroup(const Group& group);

  const StreamRows rows_;
  const OnRow on_row_;
  std::map<uint32_t, Group> groups_;  // by number
};

}  // namespace cairn
