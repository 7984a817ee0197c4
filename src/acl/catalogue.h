// SPDX-License-Identifier: BSD-3-Clause
//
// Catalogue: the commands that access rules speak of: their names, which are subcommands of which,
// and the categories that hold many at once. It is made once from the command table; a command's
// id is its index there.
//
// Thread: any; it never changes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cairn {

struct CatalogueEntry {
  std::string name;  // lower case: "get", "config|get"
  bool is_subcommand = false;
  std::vector<uint32_t> children;  // ids of the subcommands
  uint32_t categories = 0;         // bits by position in the categories' names
};

class Catalogue {
 public:
  // `entries` by id; `categories` without the @.
  Catalogue(std::vector<CatalogueEntry> entries, std::vector<std::string> categories);

  size_t size() const { return entries_.size(); }
  const CatalogueEntry& at(uint32_t id) const { return entries_[id]; }
  // By full name in any case.
  std::optional<uint32_t> Find(std::string_view name) const;
  // The bit of a category by its name in any case; 0 when there is none.
  uint32_t CategoryBit(std::string_view name) const;

 private:
  std::vector<CatalogueEntry> entries_;
  std::vector<std::string> categories_;
  std::map<std::string, uint32_t, std::less<>> by_name_;
};

// The text with A to Z made small.
std::string LowerCase(std::string_view text);

}  // namespace cairn
