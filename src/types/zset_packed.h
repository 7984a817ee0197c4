// SPDX-License-Identifier: BSD-3-Clause
//
// PackedZset: reads the payload of a packed sorted set and makes changed ones (encoding/packed.h). Entries are sorted,
// so a walk reads from the front, and an insertion cuts the bytes in one place.
//
// Nothing is changed in place: a change returns a new payload, into which the bytes of unchanged entries are copied.
//
// Thread: any; the payload's bytes belong to the caller.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "encoding/packed.h"

namespace cairn {

class PackedZset {
 public:
  struct Entry {
    Item member;
    double score = 0;
    size_t begin = 0;  // the entry's bytes in the payload
    size_t end = 0;
  };
  struct Found {
    Entry entry;
    uint64_t rank = 0;
  };

  // An empty payload is an empty set.
  explicit PackedZset(std::string_view payload) : payload_(payload) {}

  Result<std::optional<Found>> Find(std::string_view member) const;
  // All entries, ascending.
  Result<std::vector<Entry>> Read() const;

  // Returns the payload with `member` at `score`. `replaced` is the member's entry from Find, null if it is new.
  Result<std::string> With(std::string_view member, double score, const Entry* replaced) const;
  // Returns the payload without the `removed` entries in the bytes [begin, end).
  Result<std::string> Without(size_t begin, size_t end, uint64_t removed) const;

 private:
  std::string_view payload_;
};

// Builds a payload from elements sorted by score, then by member.
class PackedZsetWriter {
 public:
  void Add(std::string_view member, double score);
  size_t bytes() const { return entries_.size(); }
  std::string Take() const;

 private:
  uint64_t count_ = 0;
  std::string entries_;
};

}  // namespace cairn
