// SPDX-License-Identifier: BSD-3-Clause
//
// KeyCopy: copies the keys of one database of any server that speaks Redis's protocol to another server, over the wire:
// SCAN finds the keys, DUMP and RESTORE move them. Where the source has no DUMP or refuses it for a key, or the target
// refuses its payload, the value is read and written by the commands of its type, a thousand elements at a time.
//
// It is not a snapshot: a key that changes meanwhile is copied as some of its states, and a key that is created
// meanwhile may be missed. By commands a stream keeps its entries, its last id and its groups, not their pending
// entries.
//
// Thread: one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "replication/redis_client.h"

namespace cairn {

class KeyCopy {
 public:
  struct Options {
    bool uses_dump = true;
    std::string pattern;  // of SCAN's MATCH; empty: all keys
  };
  struct Totals {
    uint64_t copied = 0;
    uint64_t by_commands = 0;  // of them, without DUMP
    uint64_t skipped = 0;      // of types that no command here reads
    std::string first_skipped;
  };

  KeyCopy(RedisClient& from, RedisClient& to, Options options) : from_(from), to_(to), options_(std::move(options)) {}

  // `on_progress` gets the number of keys copied so far.
  Status Run(const std::function<void(uint64_t)>& on_progress);
  const Totals& totals() const { return totals_; }

 private:
  struct Found {
    std::string key;
    std::string type;
    int64_t ttl_ms = -1;
    std::string payload;
    bool has_payload = false;
  };

  Status CopyPage(const std::vector<RemoteReply>& keys);
  Result<Found> ReceiveFound(const std::string& key, bool has_dump);
  Status RestorePage(const std::vector<Found>& page);
  Status CopyByCommands(const Found& found);
  // Returns 0 for a key without a time to live in Ardb, where Redis replies -1.
  Result<int64_t> ReadTtl(const std::string& key);
  // Reads with HSCAN, SSCAN or ZSCAN and writes with `write`.
  Status CopyScanned(const std::string& key, std::string_view scan, std::string_view write);
  Status CopyList(const std::string& key);
  Status CopyStream(const std::string& key);
  Status CopyGroups(const std::string& key);
  // XINFO; nil if the key has expired or was deleted meanwhile.
  Result<RemoteReply> ReadInfo(std::string_view what, const std::string& key);

  RedisClient& from_;
  RedisClient& to_;
  Options options_;
  Totals totals_;
};

}  // namespace cairn
