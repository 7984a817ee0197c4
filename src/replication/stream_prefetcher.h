// SPDX-License-Identifier: BSD-3-Clause
//
// StreamPrefetcher: the next commands of a replication stream, some of them at once, so that the memory the later ones
// will touch is fetched while the earlier ones are carried out. A replica carries out commands of keys it has not met
// for long one after the other, and would wait for the memory again and again otherwise.
//
// Thread: that which carries out the stream.
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
    std::string_view raw;                // its bytes in the stream
  };

  // Takes the whole requests that have come, as many as are taken at once; says how it ended: kRequest when there may
  // be more. `db` is the database that is selected now. Whatever is said, requests() are to be run first.
  RequestParser::Outcome Read(RequestParser& parser, Transaction& txn, int db);
  // Valid until the next Read or the parser's next Reserve.
  std::span<const Request> requests() const { return {requests_.data(), count_}; }

 private:
  static constexpr size_t kMost = 16;
  std::array<Request, kMost> requests_;
  std::array<uint64_t, kMost> rows_;  // hashes of the rows that are likely to be asked for
  size_t count_ = 0;
};

}  // namespace cairn
