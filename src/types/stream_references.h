// SPDX-License-Identifier: BSD-3-Clause
//
// StreamReferences: the consumer groups of a stream, read at once, to find and delete their references to its entries.
//
// A group refers to an entry if the entry is pending in it, or if the group has not read as far. XDELEX, XACKDEL, XADD
// and XTRIM delete an entry with one of three policies (ReferencePolicy).
//
//   StreamReferences references = TRY(StreamReferences::Load(stream));
//   if (!TRY(references.Include(id))) ...
//   references.Save();
//
// Thread: that of the transaction. The stream must outlive the object, and its groups must not be changed otherwise.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "types/stream.h"
#include "types/stream_group.h"

namespace cairn {

// What deleting an entry does about the references of groups.
enum class ReferencePolicy : uint8_t {
  kKeep,   // KEEPREF: the entry stays pending
  kDrop,   // DELREF: the entry is no longer pending in any group
  kAcked,  // ACKED: an entry with references is not deleted
};

class StreamReferences {
 public:
  struct Group {
    StreamGroup group;
    std::vector<StreamId> released;  // no longer pending because of Release
  };

  static Result<StreamReferences> Load(const Stream& stream);

  // Whether a group refers to the entry.
  Result<bool> Include(StreamId id) const;
  // Makes the entry pending in no group. Returns whether it was pending in one.
  Result<bool> Release(StreamId id);
  // The same in one group.
  static Result<bool> ReleaseIn(Group& group, StreamId id);
  // Returns the group of this name, or null.
  Group* Find(std::string_view name);
  const std::vector<Group>& groups() const { return groups_; }

  // Deletes the entries that `trim` selects, with the policy. Returns their ids.
  Result<std::vector<StreamId>> Trim(Stream& stream, const StreamTrim& trim, ReferencePolicy policy);

  // Writes the groups in which an entry was released.
  void Save();

 private:
  std::vector<Group> groups_;
};

}  // namespace cairn
