// SPDX-License-Identifier: BSD-3-Clause
#include "script/script_cache.h"

#include <algorithm>

#include "base/mutex.h"
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
  const std::string key(sha);
  const ReaderLock lock(mutex_);
  for (const Scripts* scripts : {&loaded_, &evaluated_}) {
    const auto found = scripts->find(key);
    if (found != scripts->end()) return found->second;
  }
  return nullptr;
}

void ScriptCache::EvictOne() {
  const auto last_use = [](const auto& entry) { return entry.second->used_us.load(std::memory_order_relaxed); };
  const auto oldest = std::min_element(evaluated_.begin(), evaluated_.end(),
                                       [&](const auto& a, const auto& b) { return last_use(a) < last_use(b); });
  oldest->second->is_evicted.store(true, std::memory_order_relaxed);
  bytes_ -= oldest->second->bytes();
  evaluated_.erase(oldest);
}

bool ScriptCache::MakeRoom(size_t bytes) {
  while (!evaluated_.empty() && bytes_ + bytes > most_bytes_) EvictOne();
  return bytes_ + bytes <= most_bytes_;
}

bool ScriptCache::Has(const Scripts& scripts, const Script& script) {
  const auto found = scripts.find(script.sha);
  if (found == scripts.end()) return false;
  if (found->second.get() != &script) script.is_evicted.store(true, std::memory_order_relaxed);
  return true;
}

void ScriptCache::Count(const Script& script) {
  bytes_ += script.bytes();
  script.is_evicted.store(false, std::memory_order_relaxed);  // it may have been evicted since it was found here
}

void ScriptCache::AddEvaluated(std::shared_ptr<const Script> script) {
  const WriterLock lock(mutex_);
  if (Has(loaded_, *script) || Has(evaluated_, *script)) return;
  if (!MakeRoom(script->bytes())) {
    script->is_evicted.store(true, std::memory_order_relaxed);
    return;
  }
  if (evaluated_.size() >= kMostEvaluated) EvictOne();
  Count(*script);
  std::string sha = script->sha;
  evaluated_.emplace(std::move(sha), std::move(script));
}

bool ScriptCache::AddLoaded(std::shared_ptr<const Script> script) {
  const WriterLock lock(mutex_);
  if (Has(loaded_, *script)) return true;
  if (Has(evaluated_, *script)) {
    loaded_.insert(evaluated_.extract(script->sha));
    return true;
  }
  if (!MakeRoom(script->bytes())) {
    script->is_evicted.store(true, std::memory_order_relaxed);
    return false;
  }
  Count(*script);
  std::string sha = script->sha;
  loaded_.emplace(std::move(sha), std::move(script));
  return true;
}

void ScriptCache::Flush() {
  const WriterLock lock(mutex_);
  loaded_.clear();
  evaluated_.clear();
  bytes_ = 0;
  generation_.fetch_add(1, std::memory_order_acq_rel);
}

size_t ScriptCache::count() const {
  const ReaderLock lock(mutex_);
  return loaded_.size() + evaluated_.size();
}

size_t ScriptCache::bytes() const {
  const ReaderLock lock(mutex_);
  return bytes_;
}

}  // namespace cairn
