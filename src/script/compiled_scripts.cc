// SPDX-License-Identifier: BSD-3-Clause
#include "script/compiled_scripts.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "script/lua_state.h"

namespace cairn {

const Script* CompiledScripts::FindCached(const ScriptMap& map, std::string_view key) {
  const auto found = map.find(key);
  if (found == map.end() || found->second.script->is_evicted.load(std::memory_order_relaxed)) return nullptr;
  return found->second.script.get();
}

const Script* CompiledScripts::Find(const Script& script) const {
  const auto found = by_sha_.find(std::string_view(script.sha));
  return found == by_sha_.end() ? nullptr : found->second.script.get();
}

void CompiledScripts::Forget(const Script& script) {
  const auto found = by_sha_.find(std::string_view(script.sha));
  if (found == by_sha_.end()) return;
  const Compiled compiled = found->second;  // the keys view its strings
  luaL_unref(state_, LUA_REGISTRYINDEX, compiled.function);
  bytes_ -= compiled.script->bytes();
  by_body_.erase(compiled.script->body);
  by_sha_.erase(found);
}

void CompiledScripts::ForgetEvicted() {
  if (by_sha_.size() < forget_at_ && bytes_ < forget_at_bytes_) return;
  std::vector<std::shared_ptr<const Script>> evicted;
  for (const auto& [sha, compiled] : by_sha_) {
    if (compiled.script->is_evicted.load(std::memory_order_relaxed)) evicted.push_back(compiled.script);
  }
  for (const auto& script : evicted) Forget(*script);
  forget_at_ = std::max(kFewScripts, 2 * by_sha_.size());
  forget_at_bytes_ = bytes_ + kFewBytes;
}

void CompiledScripts::Add(std::shared_ptr<const Script> script, int function) {
  const Compiled compiled{std::move(script), function};
  bytes_ += compiled.script->bytes();
  by_sha_.emplace(compiled.script->sha, compiled);
  by_body_.emplace(compiled.script->body, compiled);
}

}  // namespace cairn
