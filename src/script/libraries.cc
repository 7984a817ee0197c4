// SPDX-License-Identifier: BSD-3-Clause
#include "script/libraries.h"

#include "acl/catalogue.h"
#include "command/args.h"
#include "script/flags.h"

namespace cairn {

const Function* Library::Find(std::string_view wanted) const {
  for (const Function& function : functions) {
    if (function.name == wanted) return &function;
  }
  return nullptr;
}

size_t Library::bytes() const {
  size_t bytes = sizeof(Library) + name.size() + code.size();
  for (const Function& function : functions) bytes += function.bytes();
  return bytes;
}

Libraries::Found Libraries::FindFunction(std::string_view name) const {
  const auto found = functions_.find(LowerCase(name));
  if (found == functions_.end()) return {};
  for (const Function& function : found->second->functions) {
    if (EqualsIgnoreCase(function.name, name)) return {found->second, &function};
  }
  return {};
}

const std::shared_ptr<const Library>* Libraries::Find(std::string_view library) const {
  const auto found = libraries_.find(library);
  return found == libraries_.end() ? nullptr : &found->second;
}

size_t Libraries::bytes() const {
  size_t bytes = 0;
  for (const auto& [name, library] : libraries_) bytes += library->bytes();
  return bytes;
}

void Libraries::Remove(std::string_view library) {
  const auto found = libraries_.find(library);
  if (found == libraries_.end()) return;
  for (const Function& function : found->second->functions) functions_.erase(LowerCase(function.name));
  libraries_.erase(found);
}

Status Libraries::Add(std::shared_ptr<const Library> library) {
  Remove(library->name);
  for (const Function& function : library->functions) {
    if (!functions_.emplace(LowerCase(function.name), library).second) {
      return Status::Reply("ERR Function " + function.name + " already exists");
    }
  }
  std::string name = library->name;
  libraries_.emplace(std::move(name), std::move(library));
  return Ok();
}

}  // namespace cairn
