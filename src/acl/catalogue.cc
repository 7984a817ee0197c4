// SPDX-License-Identifier: BSD-3-Clause
#include "acl/catalogue.h"

#include <algorithm>

namespace cairn {

Catalogue::Catalogue(std::vector<CatalogueEntry> entries, std::vector<std::string> categories)
    : entries_(std::move(entries)), categories_(std::move(categories)) {
  for (size_t id = 0; id < entries_.size(); ++id) {
    by_name_.emplace(entries_[id].name, static_cast<uint32_t>(id));
  }
}

std::optional<uint32_t> Catalogue::Find(std::string_view name) const {
  const auto found = by_name_.find(LowerCase(name));
  if (found == by_name_.end()) return std::nullopt;
  return found->second;
}

uint32_t Catalogue::CategoryBit(std::string_view name) const {
  const auto found = std::find(categories_.begin(), categories_.end(), LowerCase(name));
  return found == categories_.end() ? 0 : 1u << (found - categories_.begin());
}

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return lower;
}

}  // namespace cairn
