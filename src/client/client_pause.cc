// SPDX-License-Identifier: BSD-3-Clause
#include "client/client_pause.h"

#include <algorithm>

#include "client/client_registry.h"

namespace cairn {

void ClientPause::Begin(Purpose purpose, Mode mode, int64_t now_ms, int64_t until_ms) {
  const MutexLock lock(mutex_);
  Pause& pause = pauses_[static_cast<size_t>(purpose)];
  if (now_ms >= pause.until_ms) pause = {};
  pause = {std::max(pause.mode, mode), std::max(pause.until_ms, until_ms)};
  Publish();
}

void ClientPause::End(Purpose purpose) {
  {
    const MutexLock lock(mutex_);
    pauses_[static_cast<size_t>(purpose)] = {};
    Publish();
  }
  WakeClients();
}

void ClientPause::EndIfOver(int64_t now_ms) {
  if (!is_set()) return;
  bool any_over = false;
  {
    const MutexLock lock(mutex_);
    for (Pause& pause : pauses_) {
      if (pause.mode == Mode::kNone || now_ms < pause.until_ms) continue;
      pause = {};
      any_over = true;
    }
    if (any_over) Publish();
  }
  if (any_over) WakeClients();
}

// An expired pause that has not been ended yet is harmless: it adds a time in the past.
void ClientPause::Publish() {
  int64_t writes_until_ms = 0;
  int64_t others_until_ms = 0;
  for (const Pause& pause : pauses_) {
    writes_until_ms = std::max(writes_until_ms, pause.until_ms);
    if (pause.mode == Mode::kAll) others_until_ms = std::max(others_until_ms, pause.until_ms);
  }
  writes_until_ms_ = writes_until_ms;
  others_until_ms_ = others_until_ms;
  const auto stops_expiry = [](const Pause& pause) { return pause.mode != Mode::kNone; };
  conditions_.Set(kPausesExpiry,
                  std::any_of(std::begin(pauses_), &pauses_[static_cast<int>(Purpose::kSizeLimit)], stops_expiry));
}

void ClientPause::WakeClients() {
  for (const auto& session : clients_.All()) session->Wake();
}

}  // namespace cairn
