// SPDX-License-Identifier: BSD-3-Clause
#include "storage/log_tail.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/clock.h"

namespace cairn {
namespace {

constexpr uint64_t kBatchBytes = 64;  // overhead per batch, besides its log data

}  // namespace

uint64_t LogTail::SizeOf(const Batch& batch) {
  return kBatchBytes + (batch.entries == nullptr ? 0 : batch.entries->size());
}

void LogTail::Turn(bool on) {
  const MutexLock lock(mutex_);
  if (on_ == on) return;
  Clear();
  on_ = on;
}

void LogTail::Clear() {
  batches_.clear();
  waiting_.clear();
  waiting_bytes_ = next_ = 0;
  bytes_ = 0;
}

void LogTail::Note(uint64_t sequence, uint64_t count, std::string_view entries) {
  if (count == 0) return;
  Batch batch{sequence, sequence + count, nullptr};
  if (!entries.empty()) batch.entries = std::make_shared<const std::string>(entries);
  bool tells;
  {
    const MutexLock lock(mutex_);
    if (!is_on()) return;
    if (batch.next > newest_) newest_.store(batch.next, std::memory_order_release);
    Take(std::move(batch));
    tells = awaiting_ > 0;
  }
  if (tells) arrived_.NotifyAll();
  news_.Notify();
}

void LogTail::Take(Batch batch) {
  if (batch.sequence < next_) return;
  if (next_ == 0) next_ = batch.sequence;
  if (batch.sequence == next_) {
    Append(std::move(batch));
    TakeWaiting();
    return;
  }
  if (waiting_.empty()) gap_since_us_ = MonotonicUs();
  waiting_bytes_ += SizeOf(batch);
  waiting_.emplace(batch.sequence, std::move(batch));
  if (waiting_bytes_ > most_bytes_ || MonotonicUs() - gap_since_us_ > kLongestGapUs) SkipGap();
}

void LogTail::Append(Batch batch) {
  next_ = batch.next;
  bytes_ += SizeOf(batch);
  batches_.push_back(std::move(batch));
  while (bytes_ > most_bytes_ && batches_.size() > 1) {
    bytes_ -= SizeOf(batches_.front());
    batches_.pop_front();
  }
}

void LogTail::TakeWaiting() {
  for (auto first = waiting_.begin(); first != waiting_.end() && first->first == next_; first = waiting_.begin()) {
    waiting_bytes_ -= SizeOf(first->second);
    Append(std::move(first->second));
    waiting_.erase(first);
    gap_since_us_ = MonotonicUs();
  }
}

void LogTail::SkipGap() {
  batches_.clear();
  bytes_ = 0;
  next_ = waiting_.begin()->first;
  TakeWaiting();
}

LogTail::Place LogTail::Find(uint64_t sequence, bool enters, Batch& batch) const {
  const MutexLock lock(mutex_);
  if (!is_on() || batches_.empty() || sequence < batches_.front().sequence) return Place::kGone;
  if (sequence >= next_) return Place::kAhead;
  auto found = std::lower_bound(batches_.begin(), batches_.end(), sequence,
                                [](const Batch& one, uint64_t wanted) { return one.sequence < wanted; });
  // Positions inside a batch are only known to the log's files.
  if (found == batches_.end() || found->sequence != sequence) return Place::kGone;
  const auto oldest_entered = batches_.begin() + static_cast<std::ptrdiff_t>(batches_.size() / 2);
  if (enters && found < oldest_entered) return Place::kGone;
  while (found->entries == nullptr && found + 1 != batches_.end()) ++found;
  batch = *found;
  return Place::kHere;
}

bool LogTail::Await(uint64_t sequence, int64_t most_us) {
  const MutexLock lock(mutex_);
  ++awaiting_;
  const bool came =
      arrived_.WaitFor(mutex_, std::chrono::microseconds(most_us),
                       [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !is_on() || next_ > sequence; });
  --awaiting_;
  return came;
}

}  // namespace cairn
