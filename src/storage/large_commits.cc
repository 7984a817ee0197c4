// SPDX-License-Identifier: BSD-3-Clause
#include "storage/large_commits.h"

#include "storage/engine.h"

namespace cairn {
namespace {

// The part of the memtables' share that a value may take without a turn.
constexpr uint64_t kPart = 8;

}  // namespace

bool LargeCommits::Includes(uint64_t bytes) const { return bytes > engine_.MostMemtableBytes() / kPart; }

// If a flush fails, the commit, or a later one, will fail too and say why.
LargeCommits::Turn::Turn(LargeCommits& commits) : commits_(commits) {
  {
    const MutexLock lock(commits_.mutex_);
    while (commits_.is_taken_) commits_.ended_.Wait(commits_.mutex_);
    commits_.is_taken_ = true;
  }
  if (commits_.HasFullMemtables()) (void)commits_.engine_.Flush();
}

LargeCommits::Turn::~Turn() {
  if (commits_.HasFullMemtables()) (void)commits_.engine_.Flush(false);
  {
    const MutexLock lock(commits_.mutex_);
    commits_.is_taken_ = false;
  }
  commits_.ended_.NotifyOne();
}

bool LargeCommits::HasFullMemtables() const { return engine_.MemtableBytes() > engine_.MostMemtableBytes(); }

}  // namespace cairn
