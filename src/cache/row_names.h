// SPDX-License-Identifier: BSD-3-Clause
//
// RowNames: many tagged row keys in one block of memory. HotRows: those of the rows of a key cache that are used most.
//
// Thread: their owner's.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cairn {

class RowNames {
 public:
  // Names are not added beyond 4 GB.
  bool Add(std::string_view name) {
    if (bytes_.size() + name.size() > UINT32_MAX) return false;
    places_.emplace_back(static_cast<uint32_t>(bytes_.size()), static_cast<uint32_t>(name.size()));
    bytes_.append(name);
    return true;
  }
  size_t size() const { return places_.size(); }
  std::string_view operator[](size_t i) const { return NameAt(places_[i]); }
  // The memory that a name of this size takes, in bytes.
  static size_t MemoryOf(size_t size) { return size + sizeof(Place); }
  size_t memory() const { return bytes_.size() + places_.size() * sizeof(Place); }
  // The same with the space for further names.
  size_t allocated() const { return bytes_.capacity() + places_.capacity() * sizeof(Place); }
  void Sort() {
    std::sort(places_.begin(), places_.end(), [this](Place a, Place b) { return NameAt(a) < NameAt(b); });
  }

 private:
  using Place = std::pair<uint32_t, uint32_t>;  // offset in bytes_, size
  std::string_view NameAt(Place place) const { return std::string_view(bytes_).substr(place.first, place.second); }

  std::string bytes_;
  std::vector<Place> places_;
};

struct HotRows {
  RowNames kept;   // of the kept queues: used more than once
  RowNames young;  // of the young queues

  size_t size() const { return kept.size() + young.size(); }
};

}  // namespace cairn
