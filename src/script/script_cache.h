// SPDX-License-Identifier: BSD-3-Clause
//
// ScriptCache: the scripts that EVAL and SCRIPT LOAD have seen, by SHA-1, until SCRIPT FLUSH or the server's end. Each
// Lua state compiles for itself what it runs; `generation` tells it that what it has kept is to be forgotten.
//
// Thread: any; guarded by mutex_.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace cairn {

struct Script {
  std::string sha;  // 40 hexadecimal digits in lower case
  std::string body;
  size_t head_size = 0;
  uint32_t flags = 0;  // ScriptFlag

  std::string_view code() const { return std::string_view(body).substr(head_size); }
};

// 40 hexadecimal digits.
std::string Sha1Hex(std::string_view bytes);

class ScriptCache {
 public:
  // `sha` in lower case; null when there is none.
  std::shared_ptr<const Script> Find(std::string_view sha) const;
  void Add(std::shared_ptr<const Script> script);
  void Flush();

  uint64_t generation() const { return generation_.load(std::memory_order_acquire); }
  size_t count() const;
  size_t bytes() const;

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const Script>> scripts_;  // guarded by mutex_
  size_t bytes_ = 0;                                                        // guarded by mutex_
  std::atomic<uint64_t> generation_{1};
};

}  // namespace cairn
