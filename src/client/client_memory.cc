// SPDX-License-Identifier: BSD-3-Clause
#include "client/client_memory.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "stats/process_memory.h"

namespace cairn {
namespace {

constexpr uint64_t kLeastLimit = 128 << 10;  // leaves enough to change the limit by a command
constexpr size_t kManyClients = 1000;
constexpr uint64_t kStrangersPart = 32;  // the divisor of memory-budget
constexpr int64_t kRetryUs = 10000;      // pause after no client could be evicted

uint64_t LimitOf(const Settings& settings) {
  const int64_t setting = settings.maxmemory_clients;
  if (setting == 0) return 0;
  if (setting > 0) return std::max(static_cast<uint64_t>(setting), kLeastLimit);
  // Not of maxmemory, which limits the data on disk.
  return std::max(MemoryBudget(settings) / 100 * static_cast<uint64_t>(-setting), kLeastLimit);
}

bool IsSpared(const std::shared_ptr<Session>& session) {
  return session->no_evict || session->is_replica || session->close == CloseRequest::kNow;
}

}  // namespace

void ClientMemory::Count(Session& session) {
  const bool counts = !session.is_replica && session.close.load(std::memory_order_relaxed) != CloseRequest::kNow;
  const uint64_t now = counts ? session.memory_bytes() : 0;
  const uint64_t before = session.memory.counted_bytes.exchange(now, std::memory_order_relaxed);
  if (now == before) return;
  counted_.fetch_add(now - before, std::memory_order_relaxed);
  if (now > before && is_too_much()) Evict();
}

void ClientMemory::CountStranger(Session& session, uint64_t bytes) {
  if (session.close.load(std::memory_order_relaxed) == CloseRequest::kNow) bytes = 0;
  const uint64_t before = session.memory.stranger_bytes.exchange(bytes, std::memory_order_relaxed);
  if (bytes == before) return;
  strangers_.fetch_add(bytes - before, std::memory_order_relaxed);
  if (bytes > before && strangers_.load(std::memory_order_relaxed) > most_of_strangers_) EvictStrangers();
}

void ClientMemory::Forget(Session& session) {
  strangers_.fetch_sub(session.memory.stranger_bytes.exchange(0, std::memory_order_relaxed), std::memory_order_relaxed);
  counted_.fetch_sub(session.memory.counted_bytes.exchange(0, std::memory_order_relaxed), std::memory_order_relaxed);
}

void ClientMemory::Reconsider() {
  idle_until_us_ = 0;
  if (is_too_much()) Evict();
}

void ClientMemory::FollowSettings() {
  limit_ = LimitOf(settings_);
  most_of_strangers_ = MemoryBudget(settings_) / kStrangersPart;
  Reconsider();
}

bool ClientMemory::is_too_much() const {
  const uint64_t limit = limit_.load(std::memory_order_relaxed);
  return limit != 0 && counted_.load(std::memory_order_relaxed) > limit;
}

void ClientMemory::Evict() {
  const MutexLock lock(mutex_);
  if (!is_too_much() || MonotonicUs() < idle_until_us_) return;
  std::vector<std::shared_ptr<Session>> sessions = clients_.All();
  std::erase_if(sessions, IsSpared);
  std::vector<std::pair<uint64_t, Session*>> by_size;
  for (const auto& session : sessions) by_size.emplace_back(session->memory.counted_bytes, session.get());
  std::sort(by_size.begin(), by_size.end(), std::greater<>());
  const uint64_t spare = sessions.size() < kManyClients ? 0 : limit_ / 16;
  for (const auto& [bytes, session] : by_size) {
    if (counted_.load(std::memory_order_relaxed) + spare <= limit_) return;
    Log(LogSeverity::kNotice, "Evicting client: id={} addr={} tot-mem={}", session->id(), session->socket.peer, bytes);
    Disconnect(*session);
  }
  if (is_too_much()) idle_until_us_ = MonotonicUs() + kRetryUs;
}

void ClientMemory::Disconnect(Session& session) {
  session.close = CloseRequest::kNow;
  Forget(session);
  evicted_.fetch_add(1, std::memory_order_relaxed);
  session.Wake();
}

// Writes one log line for all evicted clients, so that an attacker cannot flood the log by connecting.
void ClientMemory::EvictStrangers() {
  const MutexLock lock(mutex_);
  if (strangers_.load(std::memory_order_relaxed) <= most_of_strangers_) return;
  struct Stranger {
    uint64_t bytes;
    Session* session;
  };
  const std::vector<std::shared_ptr<Session>> sessions = clients_.All();
  std::vector<Stranger> strangers;
  for (const auto& session : sessions) {
    if (session->memory.stranger_bytes > 0) strangers.push_back({session->memory.stranger_bytes, session.get()});
  }
  std::stable_sort(strangers.begin(), strangers.end(),
                   [](const Stranger& a, const Stranger& b) { return a.bytes > b.bytes; });
  size_t count = 0;
  for (const Stranger& stranger : strangers) {
    if (strangers_.load(std::memory_order_relaxed) <= most_of_strangers_ / 2) break;
    Disconnect(*stranger.session);
    ++count;
  }
  Log(LogSeverity::kNotice, "Evicting {} clients that have not authenticated: together they used more than {} bytes",
      count, most_of_strangers_);
}

ClientMemory::Totals ClientMemory::totals() const {
  Totals totals;
  for (const auto& session : clients_.All()) {
    (session->is_replica ? totals.replicas : totals.normal) += session->memory_bytes();
  }
  return totals;
}

}  // namespace cairn
