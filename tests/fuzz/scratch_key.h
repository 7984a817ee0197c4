// SPDX-License-Identifier: BSD-3-Clause
//
// ScratchKey: a key of a temporary store. Each run starts without it, and what a run writes is dropped.
//
// Thread: one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "base/assert.h"
#include "fuzz/targets/target.h"
#include "tests/fuzz/restorer.h"
#include "types/keyspace.h"

namespace cairn {

class ScratchKey {
 public:
  static constexpr int64_t kNowMs = 1'000'000;

  void Run(const std::function<void(Keyspace& keys, const Key& key)>& use) {
    Transaction& txn = store_.txn();
    txn.BeginCommand(Lane::kSlow, kNowMs, false);
    Keyspace keys(txn, 0, limits_);
    const Key key = keys.Name("key");
    const uint32_t stripe = key.stripe();
    const Status locked = txn.Lock({&stripe, 1});
    ASSERT(locked.ok(), "nothing else locks the key");
    use(keys, key);
    txn.AbandonCommand();
    txn.Discard();
  }

  Store& store() { return store_.store(); }

 private:
  Limits limits_;
  TemporaryStore store_;
};

// A target that runs one of the checks, which the first byte of the input chooses, on the other bytes. `checks` must
// outlive it.
inline std::function<void(std::string_view)> ChosenCheck(
    std::span<void (*const)(ScratchKey& scratch, std::string_view input)> checks) {
  return [checks, scratch = std::make_shared<ScratchKey>()](std::string_view input) {
    const uint8_t choice = TakeChoice(input);
    checks[choice % checks.size()](*scratch, input);
  };
}

}  // namespace cairn
