// SPDX-License-Identifier: BSD-3-Clause
//
// PackedEntries: a packed set or hash that is searched and edited as the bytes it is
// (encoding/packed.h).
//
// An entry is one item (a set's member) or two (a hash's field and value). Reading looks at the payload where it
// lies; the first change copies it, and payload() is from then on the changed bytes. Nothing is decoded into a
// structure in between: at these sizes a walk over the bytes is cheaper than building one.
//
// Thread: that of its user.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "encoding/packed.h"

namespace cairn {

// What one of Limits says right now; nothing less than zero.
inline uint64_t ReadLimit(const std::atomic<int64_t>& limit) {
  const int64_t value = limit.load(std::memory_order_relaxed);
  return value < 0 ? 0 : static_cast<uint64_t>(value);
}

class PackedEntries {
 public:
  // Offsets into payload(), good until the next change.
  struct Entry {
    size_t begin = 0;
    size_t value_begin = 0;  // of the second item; without one, the same as end
    size_t end = 0;
    Item value;
  };

  // No entries, `width` items each: 1 or 2.
  explicit PackedEntries(int width) : width_(width), owned_(1, '\0'), is_owned_(true) {}

  // From here on the entries of `payload`, which must outlive this unless a change comes first.
  Status Open(std::string_view payload);

  uint64_t count() const { return count_; }
  std::string_view payload() const { return is_owned_ ? std::string_view(owned_) : payload_; }

  // The entry whose first item is `name`, or none.
  Result<std::optional<Entry>> Find(const Item& name) const;
  // The entry at `rank`, and its name. REQUIRES: rank < count().
  Status At(uint64_t rank, Entry& entry, Item& name) const;

  // REQUIRES: no entry has that name; a value exactly when the width is 2.
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
