// SPDX-License-Identifier: BSD-3-Clause
//
// Catalogue: the commands that access rules can name, their subcommands, and the categories of commands. It is made
// once from the command table; a command's id is its index there.
//
// Thread: any; it is immutable.
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
  uint32_t categories = 0;         // bits by position in the list of categories
};

class Catalogue {
 public:
  // `entries` by id; `categories` without "@".
  Catalogue(std::vector<CatalogueEntry> entries, std::vector<std::string> categories);

  size_t size() const { return entries_.size(); }
  const CatalogueEntry& at(uint32_t id) const { return entries_[id]; }
  // By full name, ignoring case.
  std::optional<uint32_t> Find(std::string_view name) const;
  // The bit of a category, by its name, ignoring case; 0 if there is none.
  uint32_t CategoryBit(std::string_view name) const;

 private:
  std::vector<CatalogueEntry> entries_;
  std::vector<std::string> categories_;
  std::map<std::string, uint32_t, std::less<>> by_name_;
};

// The text with A to Z in lower case.
std::string LowerCase(std::string_view text);

}  // namespace cairn
