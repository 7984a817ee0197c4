// SPDX-License-Identifier: BSD-3-Clause
//
// PackedZset: what can be asked of, and made from, a packed sorted set's payload
// (encoding/packed.h). The entries are kept sorted, so a walk is a read from the front and an
// insertion cuts the bytes in one place.
//
// Nothing is changed in place: a change answers a new payload, in which the bytes of untouched
// entries are copied as they are.
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
    size_t begin = 0;  // the entry's bytes within the payload
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

  // The payload with `member` at `score`; `replaced` is what Find said of it, null when it is new.
  Result<std::string> With(std::string_view member, double score, const Entry* replaced) const;
  // The payload without `removed` entries whose bytes are [begin, end).
  Result<std::string> Without(size_t begin, size_t end, uint64_t removed) const;

 private:
  std::string_view payload_;
};

// Builds a payload from elements that come sorted by score, then by member.
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
