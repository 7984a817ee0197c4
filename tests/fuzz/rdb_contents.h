// SPDX-License-Identifier: BSD-3-Clause
//
// RdbContents: what a value from a payload means. Two payloads of the same value are equal, whatever the order of a
// set's members and however a filter's bytes are cut into parts.
//
// Thread: any; values.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "encoding/record.h"
#include "tests/rdb/show_stream.h"
#include "types/bloom_chain.h"
#include "types/count_min.h"
#include "types/cuckoo_shape.h"
#include "types/rdb_value.h"
#include "types/sketch_cells.h"
#include "types/topk.h"

namespace cairn {

struct RdbContents {
  // A text with its score or its expiry; of a hash field and value.
  using Element = std::tuple<std::string, std::string, double, int64_t>;

  bool operator==(const RdbContents&) const = default;

  Type type = Type::kNone;
  std::vector<Element> elements;          // sorted, unless their order is a part of the value
  std::string head;                       // of a filter or sketch
  std::map<uint64_t, std::string> pages;  // of its bytes, without those of zeros
  std::string stream;
};

// Writes `bytes` at `offset` of a filter's or sketch's bytes.
inline void WriteToPages(uint64_t offset, std::string_view bytes, std::map<uint64_t, std::string>& pages) {
  constexpr uint64_t kPageBytes = 4096;
  while (!bytes.empty()) {
    const uint64_t at = offset % kPageBytes;
    const std::string_view in_page = bytes.substr(0, kPageBytes - at);
    std::string& page = pages.try_emplace(offset / kPageBytes, kPageBytes, '\0').first->second;
    page.replace(at, in_page.size(), in_page);
    offset += in_page.size();
    bytes.remove_prefix(in_page.size());
  }
}

// The parts of a filter, or the pages of a sketch, begin at an item of the value; their places count in `unit` bytes.
inline void ReadPages(const RdbValue& value, size_t from, uint64_t unit, RdbContents& contents) {
  for (size_t i = from; i + 1 < value.items.size(); i += 2) {
    const auto offset = static_cast<uint64_t>(value.items[i].integer()) * unit;
    WriteToPages(offset, value.items[i + 1].ToString(), contents.pages);
  }
  std::erase_if(contents.pages,
                [](const auto& page) { return page.second.find_first_not_of('\0') == page.second.npos; });
}

inline void ReadElements(const RdbValue& value, RdbContents& contents) {
  const size_t width = value.type == Type::kHash ? 2 : 1;
  for (size_t i = 0; i + width <= value.items.size(); i += width) {
    const size_t at = i / width;
    contents.elements.emplace_back(value.items[i].ToString(), width == 2 ? value.items[i + 1].ToString() : "",
                                   at < value.scores.size() ? value.scores[at] : 0,
                                   at < value.deadlines.size() ? value.deadlines[at] : kNoExpiry);
  }
  if (value.type != Type::kList) std::sort(contents.elements.begin(), contents.elements.end());
}

// What the head of a filter or sketch says. Its bytes may differ: a damaged number may have more of them than it needs.
template <typename Header>
std::string ShowFilter(std::string_view head) {
  const auto header = Header::Decode(head);
  return header.ok() ? header->Encode() : "damaged";
}

inline std::string ShowCountMin(std::string_view head) {
  const auto shape = CountMin::TakeShape(head);
  if (!shape.ok()) return "damaged";
  return std::to_string(shape->width) + " " + std::to_string(shape->depth) + " " + std::to_string(shape->count);
}

inline std::string ShowTopK(std::string_view head) {
  const auto state = TopK::TakeState(head);
  if (!state.ok()) return "damaged";
  std::string line = std::to_string(state->width) + " " + std::to_string(state->depth) + " " +
                     std::to_string(std::bit_cast<uint64_t>(state->decay)) + " " + std::to_string(state->random);
  for (const TopK::Slot& slot : state->heap) {
    line += slot.item ? " " + std::to_string(slot.count) + " " + *slot.item : " -";
  }
  return line;
}

inline RdbContents ContentsOf(const RdbValue& value) {
  RdbContents contents{.type = value.type};
  switch (value.type) {
    case Type::kBloom:
    case Type::kCuckoo:
      contents.head =
          value.type == Type::kBloom ? ShowFilter<BloomChain>(value.head) : ShowFilter<CuckooShape>(value.head);
      ReadPages(value, 0, 1, contents);
      break;
    case Type::kCountMin:
    case Type::kTopK:
      contents.head = value.items[0].ToString();
      contents.head = value.type == Type::kCountMin ? ShowCountMin(contents.head) : ShowTopK(contents.head);
      ReadPages(value, 1, SketchCells::kPageBytes, contents);
      break;
    default: ReadElements(value, contents);
  }
  if (value.stream != nullptr) contents.stream = ShowStream(*value.stream);
  return contents;
}

}  // namespace cairn
