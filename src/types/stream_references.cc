// SPDX-License-Identifier: BSD-3-Clause
#include "types/stream_references.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace cairn {

Result<StreamReferences> StreamReferences::Load(const Stream& stream) {
  StreamReferences references;
  TRY(StreamGroup::ForEach(stream, [&](StreamGroup& group) -> Result<bool> {
    references.groups_.push_back({.group = std::move(group), .released = {}});
    return true;
  }));
  return references;
}

Result<bool> StreamReferences::Include(StreamId id) const {
  for (const Group& each : groups_) {
    if (each.group.last_id() < id) return true;
  }
  for (const Group& each : groups_) {
    if (each.group.pending() > 0 && TRY(each.group.Pending(id))) return true;
  }
  return false;
}

Result<bool> StreamReferences::ReleaseIn(Group& group, StreamId id) {
  if (group.group.pending() == 0 || !TRY(group.group.Release(id))) return false;
  group.released.push_back(id);
  return true;
}

Result<bool> StreamReferences::Release(StreamId id) {
  bool released = false;
  for (Group& each : groups_) {
    if (TRY(ReleaseIn(each, id))) released = true;
  }
  return released;
}

StreamReferences::Group* StreamReferences::Find(std::string_view name) {
  const auto found = std::ranges::find_if(groups_, [&](const Group& each) { return each.group.name() == name; });
  return found == groups_.end() ? nullptr : &*found;
}

Result<std::vector<StreamId>> StreamReferences::Trim(Stream& stream, const StreamTrim& trim, ReferencePolicy policy) {
  const auto may_go = [&](StreamId id) -> Result<bool> {
    if (policy == ReferencePolicy::kAcked) return !TRY(Include(id));
    if (policy == ReferencePolicy::kDrop) TRY(Release(id));
    return true;
  };
  std::vector<StreamId> ids = TRY(stream.FindTrimmed(trim, may_go));
  if (policy == ReferencePolicy::kAcked) {
    for (const StreamId id : ids) {
      if (!TRY(stream.Delete(id))) return Status::Corruption("stream: an entry disappeared");
    }
  } else {
    TRY(stream.Trim(trim));
  }
  return ids;
}

void StreamReferences::Save() {
  for (Group& each : groups_) {
    if (!each.released.empty()) each.group.Save();
  }
}

}  // namespace cairn
