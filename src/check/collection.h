// SPDX-License-Identifier: BSD-3-Clause
//
// CollectionReader: reads the rows of one spread value (docs/format.md, section 5) and states the record that fits
// them. cairn-check compares that with the stored record; its salvage writes it, with the rows that decode.
//
// Thread: that of its user.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "encoding/record.h"
#include "encoding/row_key.h"
#include "storage/offline_rows.h"

namespace cairn {

class CollectionReader {
 public:
  // Gets each row that decodes; may be empty.
  using OnRow = std::function<Status(Space space, std::string_view row, std::string_view value)>;
  // Gets a phrase for each row that does not.
  using OnBadRow = std::function<void(const std::string& phrase)>;

  CollectionReader(OfflineRows& elements, OfflineRows& scores, OnRow on_row, OnBadRow on_bad_row)
      : elements_(elements), scores_(scores), on_row_(std::move(on_row)), on_bad_row_(std::move(on_bad_row)) {}

  // Reads the rows of the record, whose encoding is spread, and returns the record that fits them; its count is 0 if
  // nothing is left of the value. `elements` and `scores` are moved behind them. kCorruption if the payload does not
  // decode; otherwise an error of `on_row`. A row that can be made from other rows (score rows, rows of consumer
  // groups) is passed on as these say.
  Result<std::string> Read(const Record& record);

 private:
  using OnElement = std::function<Status(std::string_view row, std::string_view value)>;
  // Calls visit for each row of the collection; its error makes the row a bad one.
  Status ForEach(OfflineRows& rows, Space space, CollectionId id, const OnElement& visit);
  Status ReadMembers(const SpreadPayload& payload, const Record& record, std::string& result);
  Status ReadScored(const SpreadPayload& payload, std::string& result);
  Status AddFromScores(CollectionId id, uint64_t& count);
  Status ReadList(const SpreadPayload& payload, std::string& result);
  Status ReadStream(const SpreadPayload& payload, std::string& result);
  // Returns the number of consumer groups. `expected`: the number in the record.
  Result<uint64_t> ReadGroups(CollectionId id, uint64_t expected);
  Status ReadFragments(const Record& record, const SpreadPayload& payload, std::string& result);
  Status Pass(Space space, std::string_view row, std::string_view value) {
    return on_row_ ? on_row_(space, row, value) : Ok();
  }

  OfflineRows& elements_;
  OfflineRows& scores_;
  const OnRow on_row_;
  const OnBadRow on_bad_row_;
};

// Whether the payload of a value that is one row decodes. kCorruption says what does not.
Status CheckPacked(const Record& record);

}  // namespace cairn
