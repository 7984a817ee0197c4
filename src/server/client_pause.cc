// SPDX-License-Identifier: BSD-3-Clause
#include "server/client_pause.h"

#include <algorithm>

namespace cairn {

void ClientPause::Begin(Purpose purpose, Mode mode, int64_t now_ms, int64_t until_ms) {
  const std::lock_guard lock(mutex_);
  Pause& pause = pauses_[static_cast<size_t>(purpose)];
  if (now_ms >= pause.until_ms) pause = {};
  pause = {std::max(pause.mode, mode), std::max(pause.until_ms, until_ms)};
  Publish();
}

void ClientPause::End(Purpose purpose) {
  const std::lock_guard lock(mutex_);
  pauses_[static_cast<size_t>(purpose)] = {};
  Publish();
}

void ClientPause::EndIfOver(int64_t now_ms) {
  if (!is_set()) return;
  const std::lock_guard lock(mutex_);
  for (Pause& pause : pauses_) {
    if (now_ms >= pause.until_ms) pause = {};
  }
  Publish();
}

void ClientPause::Publish() {
  Pause all;
  for (const Pause& pause : pauses_) {
    all = {std::max(all.mode, pause.mode), std::max(all.until_ms, pause.until_ms)};
  }
  until_ms_ = all.until_ms;
  mode_ = all.mode;
  conditions_.Set(kPausesExpiry, all.mode != Mode::kNone);
}

ClientPause::Mode ClientPause::ModeAt(int64_t now_ms) const {
  const Mode mode = mode_.load(std::memory_order_relaxed);
  if (mode == Mode::kNone || now_ms >= until_ms_.load(std::memory_order_relaxed))
    return Mode::kNone;
  return mode;
}

}  // namespace cairn
