// SPDX-License-Identifier: BSD-3-Clause
//
// ScriptCache: the scripts of EVAL and SCRIPT LOAD by SHA-1, until SCRIPT FLUSH or the end of the server. Each Lua
// state compiles its scripts itself; `generation` tells it when to drop them.
//
// The cache is bounded. Scripts that only EVAL added are evicted, the least recently used first, when there are more
// than kMostEvaluated or their bytes exceed the limit; a state that has compiled one sees `is_evicted`. Scripts of
// SCRIPT LOAD are never evicted, as in Redis, so one that does not fit is refused. A script that is refused, or whose
// text another object in the cache has, counts as evicted, so no state keeps it.
//
// Thread: any; guarded by mutex_.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/mutex.h"

namespace cairn {

struct Script {
  Script(std::string sha_hex, std::string_view text, size_t head, uint32_t script_flags)
      : sha(std::move(sha_hex)), body(text), head_size(head), flags(script_flags) {}

  const std::string sha;  // 40 hexadecimal digits in lower case
  const std::string body;
  const size_t head_size;
  const uint32_t flags;                         // ScriptFlag
  mutable std::atomic<int64_t> used_us{0};      // monotonic time of the last start
  mutable std::atomic<bool> is_evicted{false};  // no longer in the cache

  std::string_view code() const { return std::string_view(body).substr(head_size); }
  size_t bytes() const { return sizeof(Script) + sha.size() + body.size(); }
};

// 40 hexadecimal digits.
std::string Sha1Hex(std::string_view bytes);

class ScriptCache {
 public:
  explicit ScriptCache(uint64_t most_bytes) : most_bytes_(most_bytes) {}

  // `sha` must be in lower case. Returns null if there is none.
  std::shared_ptr<const Script> Find(std::string_view sha) const;
  // Adds a script of EVAL, and evicts others to make room. A script larger than the limit is evicted at once.
  void AddEvaluated(std::shared_ptr<const Script> script);
  // Adds a script of SCRIPT LOAD. Returns false if there is no room.
  bool AddLoaded(std::shared_ptr<const Script> script);
  void Flush();

  // A lower limit takes effect when the next script is added.
  void set_most_bytes(uint64_t bytes) {
    const WriterLock lock(mutex_);
    most_bytes_ = bytes;
  }

  uint64_t generation() const { return generation_.load(std::memory_order_acquire); }
  size_t count() const;
  size_t bytes() const;

 private:
  static constexpr size_t kMostEvaluated = 500;
  using Scripts = std::unordered_map<std::string, std::shared_ptr<const Script>>;

  void EvictOne() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool MakeRoom(size_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Count(const Script& script) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns whether `scripts` has the text of `script`. If it is in another object, `script` counts as evicted.
  static bool Has(const Scripts& scripts, const Script& script);

  mutable SharedMutex mutex_;
  uint64_t most_bytes_ ABSL_GUARDED_BY(mutex_);
  Scripts loaded_ ABSL_GUARDED_BY(mutex_);
  Scripts evaluated_ ABSL_GUARDED_BY(mutex_);  // without those in loaded_
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;   // of both
  std::atomic<uint64_t> generation_{1};
};

}  // namespace cairn
