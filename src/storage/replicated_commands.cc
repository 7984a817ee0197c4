// SPDX-License-Identifier: BSD-3-Clause
#include "storage/replicated_commands.h"

#include <algorithm>
#include <unordered_set>

#include "encoding/log_entry.h"
#include "encoding/row_key.h"
#include "storage/batch.h"

namespace cairn {
namespace {

constexpr size_t kArgumentBytes = 24;   // most overhead per argument: its length as text and line ends
constexpr size_t kKeptBytes = 1 << 20;  // kept from one transaction to the next

}  // namespace

void ReplicatedCommands::BeginCommand(InterestMask interest) {
  interest_ = interest;
  is_silenced_ = is_apart_ = replicates_stale_keys_ = false;
  command_begin_ = bytes_.size();
  count_ = 0;
  stale_keys_.clear();
}

void ReplicatedCommands::Add(int db, std::span<const std::string_view> argv) {
  size_t bytes = bytes_.size() + kArgumentBytes;
  for (const std::string_view arg : argv) bytes += arg.size() + kArgumentBytes;
  if (bytes > kMostLogDataBytes) [[unlikely]] {
    command_.Refuse(kReplicatedTooLarge);
    return;
  }
  AppendLogCommand(bytes_, db, argv);
  ++count_;
}

void ReplicatedCommands::AddStream(std::string_view bytes) { AppendLogStream(bytes_, bytes); }

void ReplicatedCommands::RollbackTo(const Mark& mark) {
  bytes_.resize(std::min(bytes_.size(), mark.bytes));
  count_ = mark.count;
  for (auto stale = stale_keys_.rbegin(); stale != stale_keys_.rend() && stale->place > bytes_.size(); ++stale) {
    stale->place = bytes_.size();
  }
}

void ReplicatedCommands::Clear() {
  bytes_.clear();
  if (bytes_.capacity() > kKeptBytes) std::string().swap(bytes_);
}

// A replica keeps an expired key until its primary deletes it. So the replicated commands include a DEL for every
// expired key that the command met, even one that it only read (a source of SUNIONSTORE). The DEL stands where the
// command met the key, because an earlier command of the same EXEC may have set a deadline in the past. Keys whose
// stripe the transaction does not hold (read by SORT's patterns and by scripts) are left out: another transaction may
// be setting them, and then replicates the deletion.
void ReplicatedCommands::PutStaleKeys() {
  std::string told;
  size_t copied = command_begin_;
  std::unordered_set<std::string_view> here;
  for (const StaleKey& stale : stale_keys_) {
    KeyRowParts parts;
    if (stale.db < 0 || !ParseKeyRow(stale.row, parts) || !stripes_.Has(StripeOf(parts.key))) continue;
    if (stale.place > copied) {
      told.append(bytes_, copied, stale.place - copied);
      copied = stale.place;
      here.clear();
    }
    if (!here.insert(stale.row).second) continue;
    const std::string_view words[] = {interest_ & kUnlinksExpired ? "UNLINK" : "DEL", parts.key};
    AppendLogCommand(told, stale.db, words);
    ++count_;
  }
  told.append(bytes_, copied);
  bytes_.replace(command_begin_, std::string::npos, told);
}

void ReplicatedCommands::Group() {
  std::string begin;
  AppendLogMark(begin, LogEntryKind::kBegin);
  bytes_.insert(command_begin_, begin);
  AppendLogMark(bytes_, LogEntryKind::kEnd);
}

void ReplicatedCommands::FinishCommand() {
  const bool replicates = (count_ > 0 || replicates_stale_keys_) && !is_muted_ && interest_ & kInterestInReplication;
  if (replicates && !stale_keys_.empty()) PutStaleKeys();
  if (count_ > 1 && !is_apart_) Group();
  if (bytes_.size() > kMostLogDataBytes) [[unlikely]]
    command_.Refuse(kReplicatedTooLarge);
}

}  // namespace cairn
