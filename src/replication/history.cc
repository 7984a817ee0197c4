// SPDX-License-Identifier: BSD-3-Clause
#include "replication/history.h"

#include <algorithm>
#include <random>
#include <utility>

#include "encoding/varint.h"

namespace cairn {
namespace {

constexpr uint64_t kVersion = 2;
constexpr uint64_t kLogs = 1;
constexpr uint64_t kIsReplica = 2;
constexpr uint64_t kMostAnchors = 1 << 16;
// A primary's stream gets a new id at each start, so a replica may miss this many starts and still resume.
constexpr size_t kMostFormer = 16;

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

bool ReadFormer(std::string_view& bytes, std::vector<FormerStream>& former) {
  uint64_t count;
  if (!ReadVarint(bytes, count) || count > kMostFormer) return false;
  former.resize(count);
  for (FormerStream& stream : former) {
    if (!ReadText(bytes, kReplicationIdDigits, stream.id) || !ReadVarint(bytes, stream.end)) return false;
  }
  return true;
}

// Version 1 has at most one former stream.
bool ReadOneFormer(std::string_view& bytes, std::vector<FormerStream>& former) {
  FormerStream stream;
  int64_t end;
  if (!ReadText(bytes, kReplicationIdDigits, stream.id) || !ReadSigned(bytes, end)) return false;
  if (end < 0) return true;
  stream.end = static_cast<uint64_t>(end);
  former.push_back(std::move(stream));
  return true;
}

// Version 1 has the machine's boot id here, which is no longer used.
bool SkipBoot(std::string_view& bytes) {
  uint64_t size;
  std::string boot;
  return ReadVarint(bytes, size) && ReadText(bytes, size, boot);
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

void History::Fork(uint64_t offset, std::string new_id) {
  // After a power loss the stream may fork at an earlier offset than its last fork.
  for (FormerStream& stream : former) stream.end = std::min(stream.end, offset + 1);
  former.insert(former.begin(), {std::exchange(id, std::move(new_id)), offset + 1});
  if (former.size() > kMostFormer) former.resize(kMostFormer);
}

void History::TakeForkBack(uint64_t offset) {
  if (!former.empty() && former.front().end == offset + 1) std::swap(id, former.front().id);
}

void History::StartAnew(std::string new_id) {
  id = std::move(new_id);
  former.clear();
}

bool History::Covers(std::string_view of, uint64_t next) const {
  if (of == id) return true;
  return std::any_of(former.begin(), former.end(),
                     [&](const FormerStream& stream) { return of == stream.id && next <= stream.end; });
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
  bytes.append(history.id);
  AppendVarint(bytes, history.former.size());
  for (const FormerStream& stream : history.former) {
    bytes.append(stream.id);
    AppendVarint(bytes, stream.end);
  }
  AppendVarint(bytes, (history.logs ? kLogs : 0) | (history.is_replica ? kIsReplica : 0));
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
  if (!ReadVarint(bytes, version)) return CutShort();
  if (version == 0 || version > kVersion) return Status::Corruption("meta row replication: of an unknown version");
  if (!ReadText(bytes, kReplicationIdDigits, history.id)) return CutShort();
  if (!(version == 1 ? ReadOneFormer(bytes, history.former) : ReadFormer(bytes, history.former))) return CutShort();
  uint64_t flags;
  uint64_t count;
  if (!ReadVarint(bytes, flags) || (version == 1 && !SkipBoot(bytes)) || !ReadVarint(bytes, count) ||
      count > kMostAnchors) {
    return CutShort();
  }
  history.logs = flags & kLogs;
  history.is_replica = flags & kIsReplica;
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
