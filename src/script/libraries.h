// SPDX-License-Identifier: BSD-3-Clause
//
// Libraries: the functions of all loaded libraries, as one immutable set. A change makes a new set, which other threads
// see after its rows are committed (`Scripting::Adopt`). A library never changes.
//
// On disk a library is a meta row `function/` name -> code (docs/format.md, section 6).
//
// Thread: any; objects do not change after construction.
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

// All libraries together may use this part of the scripts' memory.
inline constexpr uint64_t kLibrariesPart = 4;
inline constexpr std::string_view kLibrariesTooLarge = "OOM the libraries of functions would exceed their memory limit";

struct Function {
  std::string name;
  std::optional<std::string> description;
  uint32_t flags = 0;  // ScriptFlag

  size_t bytes() const { return sizeof(Function) + name.size() + (description ? description->size() : 0); }
};

struct Library {
  uint64_t id = 0;  // never reused: the key of a Lua state's compiled code
  std::string name;
  std::string code;  // including its first line
  size_t head_size = 0;
  std::vector<Function> functions;

  const Function* Find(std::string_view name) const;  // case-sensitive
  // The bytes of code, names and descriptions.
  size_t bytes() const;
};

class Libraries {
 public:
  struct Found {
    std::shared_ptr<const Library> library;
    const Function* function = nullptr;
  };

  // Finds a function by its name, ignoring case; the library is null if there is none.
  Found FindFunction(std::string_view name) const;
  const std::shared_ptr<const Library>* Find(std::string_view library) const;
  const std::map<std::string, std::shared_ptr<const Library>, std::less<>>& all() const { return libraries_; }
  size_t function_count() const { return functions_.size(); }
  // The sum of the libraries' bytes.
  size_t bytes() const;

  void Remove(std::string_view library);
  // Adds a library, replacing one of the same name. If another library has a function of the same name, returns the
  // client's error, and the set must not be used.
  Status Add(std::shared_ptr<const Library> library);

 private:
  std::map<std::string, std::shared_ptr<const Library>, std::less<>> libraries_;
  std::map<std::string, std::shared_ptr<const Library>, std::less<>> functions_;  // by lower-case name
};

}  // namespace cairn
