// SPDX-License-Identifier: BSD-3-Clause
#include "stats/hot_keys.h"

#include <sys/resource.h>

#include <algorithm>

namespace cairn {
namespace {

// More keys are kept than a client asks for, which makes the sums of those more exact.
constexpr uint64_t kKeptForEach = 10;

int64_t InMs(const timeval& time) { return int64_t{time.tv_sec} * 1000 + time.tv_usec / 1000; }

}  // namespace

ProcessCpu ProcessCpu::Read() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return {InMs(usage.ru_utime), InMs(usage.ru_stime)};
}

bool HotKeys::Start(const Options& options, int64_t now_ms) {
  const MutexLock lock(mutex_);
  if (IsRunning(now_ms)) return false;
  const size_t capacity = options.count * kKeptForEach;
  session_.emplace(Session{.options = options,
                           .started_ms = now_ms,
                           .cpu_at_start = ProcessCpu::Read(),
                           .random = Random(static_cast<uint64_t>(now_ms)),
                           .by_nsec = TopKeys(capacity),
                           .by_bytes = TopKeys(capacity)});
  is_on_.store(true, std::memory_order_relaxed);
  return true;
}

bool HotKeys::Stop(int64_t now_ms) {
  const MutexLock lock(mutex_);
  if (!IsRunning(now_ms)) return false;
  End(now_ms);
  return true;
}

bool HotKeys::Reset(int64_t now_ms) {
  const MutexLock lock(mutex_);
  if (IsRunning(now_ms)) return false;
  session_.reset();
  return true;
}

bool HotKeys::IsRunning(int64_t now_ms) {
  if (!session_ || !session_->is_active) return false;
  const int64_t duration_ms = session_->options.duration_ms;
  if (duration_ms == 0 || now_ms - session_->started_ms < duration_ms) return true;
  End(session_->started_ms + duration_ms);
  return false;
}

void HotKeys::End(int64_t now_ms) {
  is_on_.store(false, std::memory_order_relaxed);
  session_->is_active = false;
  session_->took_ms = now_ms - session_->started_ms;
  session_->cpu = CpuSinceStart();
}

ProcessCpu HotKeys::CpuSinceStart() const {
  const ProcessCpu now = ProcessCpu::Read();
  return {now.user_ms - session_->cpu_at_start.user_ms, now.sys_ms - session_->cpu_at_start.sys_ms};
}

std::optional<HotKeys::Results> HotKeys::Get(int64_t now_ms) {
  const MutexLock lock(mutex_);
  const bool is_running = IsRunning(now_ms);
  if (!session_) return {};
  Results results{.options = session_->options,
                  .is_active = is_running,
                  .started_ms = session_->started_ms,
                  .took_ms = is_running ? now_ms - session_->started_ms : session_->took_ms,
                  .usec = session_->usec,
                  .bytes = session_->bytes,
                  .sampled_bytes = session_->sampled_bytes,
                  .cpu = is_running ? CpuSinceStart() : session_->cpu,
                  .by_usec = session_->by_nsec.Largest(session_->options.count),
                  .by_bytes = session_->by_bytes.Largest(session_->options.count)};
  for (TopKeys::Sum& key : results.by_usec) key.sum /= 1000;
  std::erase_if(results.by_usec, [](const TopKeys::Sum& key) { return key.sum == 0; });
  std::erase_if(results.by_bytes, [](const TopKeys::Sum& key) { return key.sum == 0; });
  return results;
}

void HotKeys::Note(std::span<const std::string_view> keys, int64_t usec, uint64_t bytes, int64_t now_ms) {
  const MutexLock lock(mutex_);
  if (!IsRunning(now_ms)) return;
  Session& session = *session_;
  const auto spent_us = static_cast<uint64_t>(std::max<int64_t>(0, usec));
  session.usec += spent_us;
  session.bytes += bytes;
  if (session.options.sample_ratio > 1 && session.random.Below(session.options.sample_ratio) != 0) return;
  session.sampled_bytes += bytes;
  for (const std::string_view key : keys) {
    if (session.options.cpu) session.by_nsec.Add(key, spent_us * 1000 / keys.size());
    if (session.options.net) session.by_bytes.Add(key, bytes / keys.size());
  }
}

}  // namespace cairn
