// SPDX-License-Identifier: BSD-3-Clause
#include "server/client_memory.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "server/process_memory.h"

namespace cairn {
namespace {

constexpr uint64_t kLeastLimit = 128 << 10;  // so that the limit can still be changed
constexpr int64_t kRetryUs = 10000;          // after all were spared

uint64_t LimitOf(const Settings& settings) {
  const int64_t setting = settings.maxmemory_clients;
  if (setting == 0) return 0;
  if (setting > 0) return std::max(static_cast<uint64_t>(setting), kLeastLimit);
  const auto most = static_cast<uint64_t>(settings.maxmemory.load());
  const uint64_t whole = most == 0 ? MemoryBudget(settings) : most;
  return std::max(whole / 100 * static_cast<uint64_t>(-setting), kLeastLimit);
}

bool IsSpared(const std::shared_ptr<Session>& session) {
  return session->no_evict || session->is_replica || session->close == CloseRequest::kNow;
}

}  // namespace

void ClientMemory::Count(Session& session) {
  const bool counts = !session.is_replica && session.close.load(std::memory_order_relaxed) != CloseRequest::kNow;
  const uint64_t now = counts ? session.memory_bytes() : 0;
  const uint64_t before = session.counted_bytes.exchange(now, std::memory_order_relaxed);
  if (now == before) return;
  counted_.fetch_add(now - before, std::memory_order_relaxed);
  if (now > before && is_too_much()) Evict();
}

void ClientMemory::Forget(Session& session) {
  counted_.fetch_sub(session.counted_bytes.exchange(0, std::memory_order_relaxed), std::memory_order_relaxed);
}

void ClientMemory::Reconsider() {
  idle_until_us_ = 0;
  if (is_too_much()) Evict();
}

void ClientMemory::FollowSettings() {
  limit_ = LimitOf(settings_);
  Reconsider();
}

bool ClientMemory::is_too_much() const {
  const uint64_t limit = limit_.load(std::memory_order_relaxed);
  return limit != 0 && counted_.load(std::memory_order_relaxed) > limit;
}

void ClientMemory::Evict() {
  const std::lock_guard lock(mutex_);
  if (!is_too_much() || MonotonicUs() < idle_until_us_) return;
  std::vector<std::shared_ptr<Session>> sessions = clients_.All();
  std::erase_if(sessions, IsSpared);
  std::vector<std::pair<uint64_t, Session*>> by_size;
  for (const auto& session : sessions) by_size.emplace_back(session->counted_bytes, session.get());
  std::sort(by_size.begin(), by_size.end(), std::greater<>());
  for (const auto& [bytes, session] : by_size) {
    if (!is_too_much()) return;
    Log(LogSeverity::kNotice, "Evicting client: id=" + std::to_string(session->id()) + " addr=" + session->peer +
                                  " tot-mem=" + std::to_string(bytes));
    session->close = CloseRequest::kNow;
    Forget(*session);
    evicted_.fetch_add(1, std::memory_order_relaxed);
    session->Wake();
  }
  if (is_too_much()) idle_until_us_ = MonotonicUs() + kRetryUs;
}

ClientMemory::Totals ClientMemory::totals() const {
  Totals totals;
  for (const auto& session : clients_.All()) {
    (session->is_replica ? totals.replicas : totals.normal) += session->memory_bytes();
  }
  return totals;
}

}  // namespace cairn
