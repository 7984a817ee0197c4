// SPDX-License-Identifier: BSD-3-Clause
#include "script/script_cache.h"

#include <mutex>

#include "base/sha.h"

namespace cairn {

std::string Sha1Hex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : Sha1(bytes)) {
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

std::shared_ptr<const Script> ScriptCache::Find(std::string_view sha) const {
  const std::shared_lock lock(mutex_);
  const auto found = scripts_.find(std::string(sha));
  return found == scripts_.end() ? nullptr : found->second;
}

void ScriptCache::Add(std::shared_ptr<const Script> script) {
  const std::unique_lock lock(mutex_);
  const size_t bytes = sizeof(Script) + script->sha.size() + script->body.size();
  std::string sha = script->sha;
  if (scripts_.emplace(std::move(sha), std::move(script)).second) bytes_ += bytes;
}

void ScriptCache::Flush() {
  const std::unique_lock lock(mutex_);
  scripts_.clear();
  bytes_ = 0;
  generation_.fetch_add(1, std::memory_order_acq_rel);
}

size_t ScriptCache::count() const {
  const std::shared_lock lock(mutex_);
  return scripts_.size();
}

size_t ScriptCache::bytes() const {
  const std::shared_lock lock(mutex_);
  return bytes_;
}

}  // namespace cairn
