// SPDX-License-Identifier: BSD-3-Clause
#include "replication/history.h"

#include <random>

#include "encoding/varint.h"

namespace cairn {
namespace {

constexpr uint64_t kVersion = 1;
constexpr uint64_t kLogs = 1;
constexpr uint64_t kFollows = 2;
constexpr uint64_t kMostAnchors = 1 << 16;

Status CutShort() { return Status::Corruption("meta row replication: cut short"); }

bool ReadSigned(std::string_view& bytes, int64_t& value) {
  uint64_t folded;
  if (!ReadVarint(bytes, folded)) return false;
  value = UnZigZag(folded);
  return true;
}

bool ReadText(std::string_view& bytes, uint64_t size, std::string& text) {
  if (size > bytes.size()) return false;
  text = bytes.substr(0, size);
  bytes.remove_prefix(size);
  return true;
}

}  // namespace

std::string DrawReplicationId() {
  static constexpr char kHexDigits[] = "0123456789abcdef";
  std::random_device random;
  std::string id;
  for (size_t i = 0; i < kReplicationIdDigits; ++i) id.push_back(kHexDigits[random() % 16]);
  return id;
}

std::string EncodeApplied(const Applied& applied) {
  std::string bytes;
  AppendVarint(bytes, applied.offset);
  AppendVarint(bytes, ZigZag(applied.db));
  return bytes;
}

Result<Applied> DecodeApplied(std::string_view bytes) {
  Applied applied;
  int64_t db;
  if (!ReadVarint(bytes, applied.offset) || !ReadSigned(bytes, db)) return CutShort();
  applied.db = static_cast<int>(db);
  return applied;
}

void History::Fork(uint64_t offset) {
  previous_id = id;
  previous_end = static_cast<int64_t>(offset) + 1;
  id = DrawReplicationId();
}

bool History::Covers(std::string_view of, uint64_t next) const {
  if (of == id) return true;
  return of == previous_id && previous_end >= 0 && next <= static_cast<uint64_t>(previous_end);
}

const Anchor* History::AnchorBefore(uint64_t offset) const {
  const Anchor* found = nullptr;
  for (const Anchor& anchor : anchors) {
    if (anchor.offset <= offset) found = &anchor;
  }
  return found;
}

std::string EncodeHistory(const History& history) {
  std::string bytes;
  AppendVarint(bytes, kVersion);
  bytes.append(history.id).append(history.previous_id);
  AppendVarint(bytes, ZigZag(history.previous_end));
  AppendVarint(bytes, (history.logs ? kLogs : 0) | (history.follows ? kFollows : 0));
  AppendVarint(bytes, history.boot.size());
  bytes.append(history.boot);
  AppendVarint(bytes, history.anchors.size());
  for (const Anchor& anchor : history.anchors) {
    AppendVarint(bytes, anchor.offset);
    AppendVarint(bytes, anchor.sequence);
    AppendVarint(bytes, ZigZag(anchor.db));
  }
  return bytes;
}

Result<History> DecodeHistory(std::string_view bytes) {
  History history;
  uint64_t version;
  uint64_t flags;
  uint64_t boot_size;
  uint64_t count;
  if (!ReadVarint(bytes, version)) return CutShort();
  if (version != kVersion) return Status::Corruption("meta row replication: of an unknown version");
  if (!ReadText(bytes, kReplicationIdDigits, history.id) ||
      !ReadText(bytes, kReplicationIdDigits, history.previous_id) ||
      !ReadSigned(bytes, history.previous_end) || !ReadVarint(bytes, flags) ||
      !ReadVarint(bytes, boot_size) || !ReadText(bytes, boot_size, history.boot) ||
      !ReadVarint(bytes, count) || count > kMostAnchors) {
    return CutShort();
  }
  history.logs = flags & kLogs;
  history.follows = flags & kFollows;
  for (; count > 0; --count) {
    Anchor anchor;
    int64_t db;
    if (!ReadVarint(bytes, anchor.offset) || !ReadVarint(bytes, anchor.sequence) || !ReadSigned(bytes, db)) {
      return CutShort();
    }
    anchor.db = static_cast<int>(db);
    history.anchors.push_back(anchor);
  }
  return history;
}

}  // namespace cairn
