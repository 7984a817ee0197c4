// SPDX-License-Identifier: BSD-3-Clause
//
// KeyCopy: copies the keys of one database of any server that speaks Redis's protocol to another server, over the wire:
// SCAN finds the keys, DUMP and RESTORE move them. Where the source has no DUMP or refuses it for a key, or the target
// refuses its payload, the value is read and written by the commands of its type, a thousand elements at a time. A key
// whose value the source refuses to show is skipped, and stays in the target as it is or, if a part of it was written,
// is deleted there. Any other error of the target ends the copy.
//
// It is not a snapshot: a key that changes meanwhile is copied as some of its states, and a key that is created
// meanwhile may be missed. By commands a stream keeps its entries, its last id and its groups, not their pending
// entries.
//
// Thread: one.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
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
    uint64_t by_commands = 0;   // of them, without DUMP
    std::string first_refusal;  // why the first of these could not be moved by DUMP and RESTORE; empty: see the Options
    uint64_t skipped = 0;
    std::string first_skipped;  // its key, and why
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
  // `asked_ms`: the monotonic time at which the source was asked for the times to live.
  Status RestorePage(std::vector<Found>& page, int64_t asked_ms);
  Status CopyOrSkip(const Found& found);
  Status CopyByCommands(const Found& found);
  void NoteRefusal(std::string_view command, const std::string& key, std::string_view error);
  void Skip(const std::string& key, std::string_view why);
  // Reads from the source. Its error reply is Code::kReply, and concerns this key alone.
  Result<RemoteReply> Read(std::initializer_list<std::string_view> argv);
  // Deletes the key in the target, once, before the first part of its value is written.
  Status Replace(const std::string& key);
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
  bool is_replaced_ = false;  // the key that is copied by commands
};

}  // namespace cairn
