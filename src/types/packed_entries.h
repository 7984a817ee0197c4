// SPDX-License-Identifier: BSD-3-Clause
//
// PackedEntries: a packed set or hash that is searched and edited in its encoded form (encoding/packed.h).
//
// An entry is one item (a set's member) or two (a hash's field and value). Reads use the payload in place. The first
// change copies it, and payload() then returns the changed bytes. Nothing is decoded into a structure: at these sizes a
// walk over the bytes is cheaper than building one.
//
// Thread: that of its user.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "encoding/packed.h"

namespace cairn {

class PackedEntries {
 public:
  // Offsets into payload(), valid until the next change.
  struct Entry {
    size_t begin = 0;
    size_t value_begin = 0;  // start of the second item; equals end if there is none
    size_t end = 0;
    Item value;
  };

  // Makes an empty collection of entries of `width` items: 1 or 2.
  explicit PackedEntries(int width) : width_(width), owned_(1, '\0'), is_owned_(true) {}

  // Opens `payload`, which must outlive this object or its first change.
  Status Open(std::string_view payload);

  uint64_t count() const { return count_; }
  std::string_view payload() const { return is_owned_ ? std::string_view(owned_) : payload_; }

  // Returns the entry whose first item is `name`, or none.
  Result<std::optional<Entry>> Find(const Item& name) const;
  // Returns the entry at `rank` and its name. REQUIRES: rank < count().
  Status At(uint64_t rank, Entry& entry, Item& name) const;

  // REQUIRES: no entry has this name; a value is given if and only if the width is 2.
  void Append(const Item& name);
  void Append(const Item& name, std::string_view value);
  void ReplaceValue(const Entry& entry, std::string_view value);
  void Erase(const Entry& entry);

 private:
  void Own();
  void SetCount(uint64_t count);
  Status ReadValue(PackedReader& reader, Entry& entry) const;

  int width_;
  uint64_t count_ = 0;
  std::string_view payload_;
  std::string owned_;
  bool is_owned_ = false;
};

}  // namespace cairn
