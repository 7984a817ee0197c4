// SPDX-License-Identifier: BSD-3-Clause
//
// StreamPrefetcher: parses several commands of a replication stream ahead, and prefetches the memory that the later
// ones will touch while the earlier ones run. Otherwise a replica, which runs commands on cold keys one after the
// other, would wait for memory at each of them.
//
// Thread: the one that applies the stream.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "resp/request_parser.h"
#include "storage/transaction.h"

namespace cairn {

class StreamPrefetcher {
 public:
  struct Request {
    std::vector<std::string_view> argv;  // empty: nothing to run
    std::string_view raw;                // the request's bytes in the stream
  };

  // Parses complete requests, up to a limit; returns how it ended: kRequest if there may be more. `db` is the selected
  // database. Whatever it returns, run requests() first.
  RequestParser::Outcome Read(RequestParser& parser, Transaction& txn, int db);
  // Valid until the next Read or the parser's next Reserve.
  std::span<const Request> requests() const { return {requests_.data(), count_}; }

 private:
  static constexpr size_t kMost = 16;
  std::array<Request, kMost> requests_;
  std::array<uint64_t, kMost> rows_;  // hashes of the rows that the requests are likely to use
  size_t count_ = 0;
};

}  // namespace cairn
