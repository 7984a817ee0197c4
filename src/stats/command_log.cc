// SPDX-License-Identifier: BSD-3-Clause
#include "stats/command_log.h"

#include <algorithm>

#include "base/clock.h"

namespace cairn {
namespace {

constexpr size_t kMaxArguments = 32;
constexpr size_t kMaxArgumentBytes = 128;

std::string Shorten(std::string_view argument) {
  if (argument.size() <= kMaxArgumentBytes) return std::string(argument);
  std::string shortened(argument.substr(0, kMaxArgumentBytes));
  shortened.append("... (").append(std::to_string(argument.size() - kMaxArgumentBytes)).append(" more bytes)");
  return shortened;
}

std::vector<std::string> Shorten(std::span<const std::string_view> argv) {
  const bool cut = argv.size() > kMaxArguments;
  const size_t kept = cut ? kMaxArguments - 1 : argv.size();
  std::vector<std::string> shortened;
  for (const std::string_view argument : argv.first(kept)) shortened.push_back(Shorten(argument));
  if (cut) shortened.push_back("... (" + std::to_string(argv.size() - kept) + " more arguments)");
  return shortened;
}

}  // namespace

void CommandLog::Add(std::span<const std::string_view> argv, int64_t value, const std::string& peer,
                     const std::string& client_name) {
  CommandLogEntry entry{.unix_s = WallMs() / 1000,
                        .value = value,
                        .argv = Shorten(argv),
                        .peer = peer,
                        .client_name = Shorten(client_name)};
  const auto bound = static_cast<size_t>(max_entries_.load(std::memory_order_relaxed));
  const MutexLock lock(mutex_);
  entry.id = next_id_++;
  entries_.push_front(std::move(entry));
  while (entries_.size() > bound) entries_.pop_back();
}

std::vector<CommandLogEntry> CommandLog::Newest(int64_t count) const {
  const MutexLock lock(mutex_);
  const size_t n = count < 0 ? entries_.size() : std::min(entries_.size(), static_cast<size_t>(count));
  return {entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(n)};
}

size_t CommandLog::size() const {
  const MutexLock lock(mutex_);
  return entries_.size();
}

void CommandLog::Reset() {
  const MutexLock lock(mutex_);
  entries_.clear();
}

void CommandLogs::Add(std::span<const std::string_view> argv, const Sizes& sizes, const std::string& peer,
                      const std::string& client_name) {
  if (slow.Takes(sizes.duration_us)) slow.Add(argv, sizes.duration_us, peer, client_name);
  if (large_requests.Takes(sizes.request_bytes)) large_requests.Add(argv, sizes.request_bytes, peer, client_name);
  if (large_replies.Takes(sizes.reply_bytes)) large_replies.Add(argv, sizes.reply_bytes, peer, client_name);
}

size_t CommandLogs::HeaderBytes(size_t count) { return std::to_string(count).size() + 3; }

}  // namespace cairn
