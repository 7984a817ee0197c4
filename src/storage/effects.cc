// SPDX-License-Identifier: BSD-3-Clause
//
// What a Transaction's commands tell those who follow this server.
#include <string>
#include <unordered_set>

#include "encoding/log_entry.h"
#include "storage/batch.h"
#include "storage/store.h"
#include "storage/transaction.h"

namespace cairn {
namespace {

constexpr size_t kArgumentBytes = 24;  // at most, of an argument's own: its length, written out, and line ends

}  // namespace

void Transaction::AddEffect(int db, std::span<const std::string_view> argv) {
  size_t bytes = effects_.size() + kArgumentBytes;
  for (const std::string_view arg : argv) bytes += arg.size() + kArgumentBytes;
  if (bytes > kMostLogDataBytes) [[unlikely]] {
    refusal_ = kEffectsTooLarge;
    return;
  }
  AppendLogCommand(effects_, db, argv);
  ++command_effects_;
}

void Transaction::AddStream(std::string_view bytes) { AppendLogStream(effects_, bytes); }

void Transaction::NoteStaleKey(std::string_view key_row, KeyspaceId keyspace, bool missed) {
  stale_keys_.push_back({std::string(key_row), missed, effects_.size(), DatabaseOf(keyspace)});
}

// A key past its time is there until this server says otherwise, for those who carry the effects out. So who follows
// is told of all such keys that the command has met, be it only as a source (SUNIONSTORE), where it met them: what a
// transaction did before may have been of a key that it has itself given a time long past. Not of those whose stripe it
// does not hold, which SORT's patterns and scripts lead to: somebody may be setting them, who tells it then.
void Transaction::PutStaleKeys() {
  std::string told;
  size_t copied = effects_before_;
  std::unordered_set<std::string_view> here;
  for (const StaleKey& stale : stale_keys_) {
    KeyRowParts parts;
    if (stale.db < 0 || !ParseKeyRow(stale.row, parts) || !Holds(StripeOf(parts.key))) continue;
    if (stale.place > copied) {
      told.append(effects_, copied, stale.place - copied);
      copied = stale.place;
      here.clear();
    }
    if (!here.insert(stale.row).second) continue;
    const std::string_view words[] = {interest_ & kUnlinksExpired ? "UNLINK" : "DEL", parts.key};
    AppendLogCommand(told, stale.db, words);
    ++command_effects_;
  }
  told.append(effects_, copied);
  effects_.replace(effects_before_, std::string::npos, told);
}

void Transaction::GroupEffects() {
  std::string begin;
  AppendLogMark(begin, LogEntryKind::kBegin);
  effects_.insert(effects_before_, begin);
  AppendLogMark(effects_, LogEntryKind::kEnd);
}

void Transaction::FinishEffects() {
  const bool tells = (command_effects_ > 0 || tells_stale_keys_) && interest_ & kInterestInEffects;
  if (tells && !stale_keys_.empty()) PutStaleKeys();
  if (command_effects_ > 1 && !effects_apart_) GroupEffects();
  if (effects_.size() > kMostLogDataBytes) [[unlikely]] refusal_ = kEffectsTooLarge;
}

}  // namespace cairn
