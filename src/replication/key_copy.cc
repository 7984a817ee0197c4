// SPDX-License-Identifier: BSD-3-Clause
#include "replication/key_copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "encoding/stream_id.h"
#include "storage/command_memory.h"

namespace cairn {
namespace {

using Kind = RemoteReply::Kind;

constexpr std::string_view kKeysOfPage = "100";
constexpr std::string_view kElements = "1000";  // of one read
constexpr int64_t kElementsNumber = 1000;
constexpr std::string_view kReadTypes[] = {"string", "bitmap", "hash", "set", "zset", "list", "stream", "ReJSON-RL"};
constexpr std::string_view kTemporaryGroup = "cairn-copy";  // creates an empty stream
constexpr int64_t kNoKey = -2;                              // a reply of PTTL
constexpr int64_t kLastMomentUs = 3000;                     // in the last millisecond of a key, PTTL replies 0

Status Unexpected(std::string_view command, const std::string& key) {
  return Status::Io(fmt::format("the reply to {} {} has another form than Redis's", command, key));
}

// Whether the error of a DUMP is one that every other key would get too.
bool LacksDump(std::string_view error) {
  return error.starts_with("ERR unknown command") || error.starts_with("NOPERM");
}

// Whether a target with this error of RESTORE may take the value by commands: it does not know the payload's form, or
// has no memory for all of it at once.
bool RefusesPayload(std::string_view error) {
  return error.starts_with("ERR ") || error.starts_with("NOPERM") || error.starts_with(CommandMemory::kTooMuch);
}

// The value behind a name in the flat array of an XINFO.
const RemoteReply* FindField(const RemoteReply& reply, std::string_view name) {
  for (size_t i = 0; i + 1 < reply.items.size(); i += 2) {
    if (reply.items[i].text == name) return &reply.items[i + 1];
  }
  return nullptr;
}

}  // namespace

Status KeyCopy::Run(const std::function<void(uint64_t)>& on_progress) {
  std::string cursor = "0";  // opaque: some servers do not use numbers
  do {
    std::vector<std::string_view> scan = {"SCAN", cursor, "COUNT", kKeysOfPage};
    if (!options_.pattern.empty()) scan.insert(scan.end(), {"MATCH", options_.pattern});
    RemoteReply page = TRY(from_.Call(scan));
    if (page.items.size() != 2 || !page.items[1].Is(Kind::kArray)) return Unexpected("SCAN", cursor);
    TRY(CopyPage(page.items[1].items));
    cursor = std::move(page.items[0].text);
    on_progress(totals_.copied);
  } while (cursor != "0");
  return Ok();
}

Status KeyCopy::CopyPage(const std::vector<RemoteReply>& keys) {
  const bool has_dump = options_.uses_dump;
  for (const RemoteReply& key : keys) {
    from_.Queue({"TYPE", key.text});
    from_.Queue({"PTTL", key.text});
    if (has_dump) from_.Queue({"DUMP", key.text});
  }
  const int64_t asked_ms = MonotonicMs();
  TRY(from_.Flush());
  std::vector<Found> page;
  for (const RemoteReply& key : keys) {
    Found found = TRY(ReceiveFound(key.text, has_dump));
    if (found.type != "none") page.push_back(std::move(found));
  }
  return RestorePage(page, asked_ms);
}

Result<KeyCopy::Found> KeyCopy::ReceiveFound(const std::string& key, bool has_dump) {
  const RemoteReply type = TRY(from_.Receive());
  const RemoteReply ttl = TRY(from_.Receive());
  for (const RemoteReply& reply : {type, ttl}) {
    if (reply.Is(Kind::kError)) return Status::Io(fmt::format("the source replied for {}: {}", key, reply.text));
  }
  Found found{.key = key, .type = type.text, .ttl_ms = ttl.number};
  if (!type.Is(Kind::kText) || !ttl.Is(Kind::kInteger)) return Unexpected("TYPE and PTTL", key);
  if (!has_dump) return found;
  RemoteReply dump = TRY(from_.Receive());
  if (dump.Is(Kind::kError)) {
    NoteRefusal("DUMP", key, dump.text);
    if (LacksDump(dump.text)) options_.uses_dump = false;  // from the next page on
  }
  if (dump.Is(Kind::kNil)) found.type = "none";  // expired or deleted meanwhile
  // A key that expired and was created again between PTTL and DUMP has another time to live.
  found.has_payload = dump.Is(Kind::kText) && found.ttl_ms != 0 && found.ttl_ms != kNoKey;
  found.payload = std::move(dump.text);
  return found;
}

Status KeyCopy::RestorePage(std::vector<Found>& page, int64_t asked_ms) {
  for (Found& found : page) {
    int64_t ttl_ms = std::max<int64_t>(found.ttl_ms, 0);
    if (ttl_ms > 0) {  // a page of large payloads takes a while
      ttl_ms -= MonotonicMs() - asked_ms;
      if (ttl_ms <= 0) found.has_payload = false;
    }
    if (found.has_payload) to_.Queue({"RESTORE", found.key, std::to_string(ttl_ms), found.payload, "REPLACE"});
  }
  TRY(to_.Flush());
  std::vector<const Found*> remaining;
  for (const Found& found : page) {
    RemoteReply restored;
    if (found.has_payload) restored = TRY(to_.Receive());
    if (found.has_payload && !restored.Is(Kind::kError)) {
      ++totals_.copied;
      continue;
    }
    if (restored.Is(Kind::kError)) {
      if (!RefusesPayload(restored.text)) {
        return Status::Io(fmt::format("the target replied to RESTORE {}: {}", found.key, restored.text));
      }
      NoteRefusal("RESTORE", found.key, restored.text);
    }
    remaining.push_back(&found);
  }
  for (const Found* found : remaining) TRY(CopyOrSkip(*found));
  return Ok();
}

Status KeyCopy::CopyOrSkip(const Found& found) {
  is_replaced_ = false;
  Status copied = CopyByCommands(found);
  if (!copied.Is(Code::kReply)) return copied;
  if (is_replaced_) TRY(to_.Call({"DEL", found.key}));  // a part of the value would pass for all of it
  Skip(found.key, copied.text());
  return Ok();
}

void KeyCopy::NoteRefusal(std::string_view command, const std::string& key, std::string_view error) {
  if (totals_.first_refusal.empty()) totals_.first_refusal = fmt::format("{} {}: {}", command, key, error);
}

void KeyCopy::Skip(const std::string& key, std::string_view why) {
  if (totals_.skipped++ == 0) totals_.first_skipped = fmt::format("{} ({})", key, why);
}

Result<RemoteReply> KeyCopy::Read(std::initializer_list<std::string_view> argv) {
  from_.Queue(argv);
  TRY(from_.Flush());
  RemoteReply reply = TRY(from_.Receive());
  if (!reply.Is(Kind::kError)) return reply;
  return Status::Reply(fmt::format("the source replied to {}: {}", *argv.begin(), reply.text));
}

Status KeyCopy::Replace(const std::string& key) {
  if (!std::exchange(is_replaced_, true)) TRY(to_.Call({"DEL", key}));
  return Ok();
}

Status KeyCopy::CopyByCommands(const Found& found) {
  const std::string& key = found.key;
  if (std::ranges::find(kReadTypes, found.type) == std::end(kReadTypes)) {
    Skip(key, "no command here reads the type " + found.type);
    return Ok();
  }
  if (found.type == "hash") {
    TRY(CopyScanned(key, "HSCAN", "HSET"));
  } else if (found.type == "set") {
    TRY(CopyScanned(key, "SSCAN", "SADD"));
  } else if (found.type == "zset") {
    TRY(CopyScanned(key, "ZSCAN", "ZADD"));
  } else if (found.type == "list") {
    TRY(CopyList(key));
  } else if (found.type == "stream") {
    TRY(CopyStream(key));
  } else {  // a string, of which Kvrocks calls those with SETBIT bitmaps, or a JSON document
    const bool is_json = found.type == "ReJSON-RL";
    const RemoteReply value = TRY(Read({is_json ? "JSON.GET" : "GET", key}));
    TRY(Replace(key));
    if (value.Is(Kind::kNil)) return Ok();  // expired or deleted meanwhile
    TRY(is_json ? to_.Call({"JSON.SET", key, "$", value.text}) : to_.Call({"SET", key, value.text}));
  }
  const int64_t ttl_ms = TRY(ReadTtl(key));  // again: the value may have taken long
  if (ttl_ms > 0) TRY(to_.Call({"PEXPIRE", key, std::to_string(ttl_ms)}));
  if (ttl_ms == kNoKey) {
    TRY(to_.Call({"DEL", key}));
    return Ok();
  }
  ++totals_.copied;
  ++totals_.by_commands;
  return Ok();
}

Result<int64_t> KeyCopy::ReadTtl(const std::string& key) {
  const int64_t until_us = MonotonicUs() + kLastMomentUs;
  int64_t ttl_ms = 0;
  do {
    ttl_ms = TRY(Read({"PTTL", key})).number;
  } while (ttl_ms == 0 && MonotonicUs() < until_us);
  return ttl_ms;
}

Status KeyCopy::CopyScanned(const std::string& key, std::string_view scan, std::string_view write) {
  std::string cursor = "0";
  do {
    RemoteReply page = TRY(Read({scan, key, cursor, "COUNT", kElements}));
    if (page.items.size() != 2 || !page.items[1].Is(Kind::kArray)) return Unexpected(scan, key);
    std::vector<RemoteReply>& items = page.items[1].items;
    if (write == "ZADD") {  // ZSCAN has members first, ZADD scores
      for (size_t i = 0; i + 1 < items.size(); i += 2) std::swap(items[i], items[i + 1]);
    }
    std::vector<std::string_view> argv = {write, key};
    for (const RemoteReply& item : items) argv.push_back(item.text);
    if (!items.empty()) {
      TRY(Replace(key));
      TRY(to_.Call(argv));
    }
    cursor = std::move(page.items[0].text);
  } while (cursor != "0");
  return Ok();
}

Status KeyCopy::CopyList(const std::string& key) {
  for (int64_t first = 0;; first += kElementsNumber) {
    const RemoteReply page =
        TRY(Read({"LRANGE", key, std::to_string(first), std::to_string(first + kElementsNumber - 1)}));
    std::vector<std::string_view> argv = {"RPUSH", key};
    for (const RemoteReply& item : page.items) argv.push_back(item.text);
    if (page.items.empty()) return Ok();
    TRY(Replace(key));
    TRY(to_.Call(argv));
  }
}

Status KeyCopy::CopyStream(const std::string& key) {
  std::optional<StreamId> start = StreamId();
  while (start) {
    const RemoteReply page = TRY(Read({"XRANGE", key, start->ToString(), "+", "COUNT", kElements}));
    if (page.items.empty()) break;
    TRY(Replace(key));
    for (const RemoteReply& entry : page.items) {
      if (entry.items.size() != 2) return Unexpected("XRANGE", key);
      std::vector<std::string_view> argv = {"XADD", key, entry.items[0].text};
      for (const RemoteReply& word : entry.items[1].items) argv.push_back(word.text);
      to_.Queue(argv);
    }
    TRY(to_.Flush());
    for (size_t i = 0; i < page.items.size(); ++i) {
      const RemoteReply added = TRY(to_.Receive());
      if (added.Is(Kind::kError)) return Status::Io(fmt::format("the target replied to XADD {}: {}", key, added.text));
    }
    const std::optional<StreamId> last = ParseStreamId(page.items.back().items[0].text, 0);
    if (!last) return Unexpected("XRANGE", key);
    start = NextStreamId(*last);  // an exclusive range needs Redis 6.2
  }
  return CopyGroups(key);
}

Result<RemoteReply> KeyCopy::ReadInfo(std::string_view what, const std::string& key) {
  Result<RemoteReply> info = Read({"XINFO", what, key});
  if (!info.ok() && TRY(ReadTtl(key)) == kNoKey) return RemoteReply();
  return info;
}

Status KeyCopy::CopyGroups(const std::string& key) {
  const RemoteReply groups = TRY(ReadInfo("GROUPS", key));
  for (const RemoteReply& group : groups.items) {
    const RemoteReply* const name = FindField(group, "name");
    const RemoteReply* const last = FindField(group, "last-delivered-id");
    if (name == nullptr || last == nullptr) return Unexpected("XINFO GROUPS", key);
    TRY(Replace(key));
    TRY(to_.Call({"XGROUP", "CREATE", key, name->text, last->text, "MKSTREAM"}));
  }
  const RemoteReply stream = TRY(ReadInfo("STREAM", key));
  if (stream.Is(Kind::kNil)) return Ok();
  const RemoteReply* const last = FindField(stream, "last-generated-id");
  if (last == nullptr) return Unexpected("XINFO STREAM", key);
  TRY(Replace(key));
  if (TRY(to_.Call({"EXISTS", key})).number == 0) {  // it has no entry and no group
    TRY(to_.Call({"XGROUP", "CREATE", key, kTemporaryGroup, "$", "MKSTREAM"}));
    TRY(to_.Call({"XGROUP", "DESTROY", key, kTemporaryGroup}));
  }
  TRY(to_.Call({"XSETID", key, last->text}));
  return Ok();
}

}  // namespace cairn
