// SPDX-License-Identifier: BSD-3-Clause
#include "replication/stream_prefetcher.h"

#include "storage/store.h"
#include "types/keyspace.h"

namespace cairn {
namespace {

// A larger argument list is freed before the next command.
constexpr size_t kMostKept = 1024;

}  // namespace

RequestParser::Outcome StreamPrefetcher::Read(RequestParser& parser, Transaction& txn, int db) {
  const RequestLimits limits{.max_bulk_bytes = INT64_MAX};
  const KeyspaceId keyspace = txn.databases().keyspace(db);
  auto outcome = RequestParser::Outcome::kRequest;
  size_t row_count = 0;
  for (count_ = 0; count_ < kMost; ++count_) {
    outcome = parser.Next(limits);
    if (outcome != RequestParser::Outcome::kRequest) break;
    Request& request = requests_[count_];
    if (request.argv.capacity() > kMostKept) std::vector<std::string_view>().swap(request.argv);
    request.argv.assign(parser.argv().begin(), parser.argv().end());
    request.raw = parser.request_bytes();
    // Nearly all commands that write have their first key there. A wrong guess only costs some time.
    if (request.argv.size() > 1) rows_[row_count++] = txn.store().Prefetch(Key(keyspace, request.argv[1]).row());
  }
  for (size_t i = 0; i < row_count; ++i) txn.store().cache().PrefetchRow(rows_[i]);
  return outcome;
}

}  // namespace cairn
