// SPDX-License-Identifier: BSD-3-Clause
//
// Libraries: the functions that FUNCTION LOAD has made known, as one immutable set. A change makes a new set, which
// others see once its rows are committed (`Scripting::Adopt`); a library itself never changes.
//
// On disk a library is a meta row `function/` name -> code (docs/format.md, section 6).
//
// Thread: any; nothing here changes after it was made.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cairn {

struct Function {
  std::string name;
  std::optional<std::string> description;
  uint32_t flags = 0;  // ScriptFlag
};

struct Library {
  uint64_t id = 0;  // never used twice: under which a Lua state keeps what it compiled
  std::string name;
  std::string code;  // with its first line
  size_t head_size = 0;
  std::vector<Function> functions;

  const Function* Find(std::string_view name) const;  // the exact name
};

class Libraries {
 public:
  struct Found {
    std::shared_ptr<const Library> library;
    const Function* function = nullptr;
  };

  // A function by its name in any case; no library when there is none.
  Found FindFunction(std::string_view name) const;
  const std::shared_ptr<const Library>* Find(std::string_view library) const;
  const std::map<std::string, std::shared_ptr<const Library>, std::less<>>& all() const { return libraries_; }
  size_t function_count() const { return functions_.size(); }
  // Bytes of code and names.
  size_t bytes() const;

  void Remove(std::string_view library);
  // Adds a library in the place of one of its name. The error is the client's: another one has a function of the same
  // name; then the set is not to be used.
  Status Add(std::shared_ptr<const Library> library);

 private:
  std::map<std::string, std::shared_ptr<const Library>, std::less<>> libraries_;
  std::map<std::string, std::shared_ptr<const Library>, std::less<>> functions_;  // by name in lower case
};

}  // namespace cairn
