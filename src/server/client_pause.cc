// SPDX-License-Identifier: BSD-3-Clause
#include "server/client_pause.h"

#include <algorithm>

namespace cairn {

void ClientPause::Begin(Mode mode, int64_t now_ms, int64_t until_ms) {
  std::lock_guard lock(mutex_);
  const Mode before = ModeAt(now_ms);
  until_ms_ = before == Mode::kNone ? until_ms : std::max(until_ms_.load(), until_ms);
  mode_ = std::max(before, mode);
  conditions_.Set(kPausesExpiry, true);
}

void ClientPause::End() {
  std::lock_guard lock(mutex_);
  EndLocked();
}

void ClientPause::EndIfOver(int64_t now_ms) {
  if (!is_set()) return;
  std::lock_guard lock(mutex_);
  if (now_ms >= until_ms_) EndLocked();
}

void ClientPause::EndLocked() {
  until_ms_ = 0;
  mode_ = Mode::kNone;
  conditions_.Set(kPausesExpiry, false);
}

ClientPause::Mode ClientPause::ModeAt(int64_t now_ms) const {
  const Mode mode = mode_.load(std::memory_order_relaxed);
  if (mode == Mode::kNone || now_ms >= until_ms_.load(std::memory_order_relaxed))
    return Mode::kNone;
  return mode;
}

}  // namespace cairn
