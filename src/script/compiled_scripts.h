// SPDX-License-Identifier: BSD-3-Clause
//
// CompiledScripts: the scripts that a Lua state has compiled, found by text and by SHA-1. Each is in both maps, and
// Lua's registry keeps its function until it is removed. Scripts that the cache has evicted are removed when there are
// many scripts, or many bytes of them.
//
// Thread: that of the state.
#pragma once

#include <memory>
#include <string_view>
#include <unordered_map>

#include "script/script_cache.h"

struct lua_State;

namespace cairn {

class CompiledScripts {
 public:
  explicit CompiledScripts(lua_State* L) : state_(L) {}

  // Null: not compiled here, or evicted from the cache.
  const Script* FindBody(std::string_view body) const { return FindCached(by_body_, body); }
  const Script* FindSha(std::string_view sha) const { return FindCached(by_sha_, sha); }
  // The compiled script that equals `script`, evicted or not; null: not compiled here.
  const Script* Find(const Script& script) const;
  // The reference to its function. REQUIRES: the script is compiled here.
  int FunctionOf(const Script& script) const { return by_sha_.find(std::string_view(script.sha))->second.function; }

  // Removes the script that equals `script`, if it is compiled here.
  void Forget(const Script& script);
  // Removes scripts that the cache has evicted, if many were added since the last time. No run may use a script.
  void ForgetEvicted();
  void Add(std::shared_ptr<const Script> script, int function);

 private:
  struct Compiled {
    std::shared_ptr<const Script> script;
    int function = 0;  // reference in Lua's registry
  };
  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  using ScriptMap = std::unordered_map<std::string_view, Compiled, TextHash, std::equal_to<>>;
  static constexpr size_t kFewScripts = 600;
  static constexpr size_t kFewBytes = 1 << 20;

  static const Script* FindCached(const ScriptMap& map, std::string_view key);

  lua_State* const state_;
  ScriptMap by_body_;  // the keys view the scripts' strings
  ScriptMap by_sha_;
  size_t bytes_ = 0;  // of the scripts
  // At this number or these bytes, scripts that the cache has evicted are removed.
  size_t forget_at_ = kFewScripts;
  size_t forget_at_bytes_ = kFewBytes;
};

}  // namespace cairn
