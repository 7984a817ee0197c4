// SPDX-License-Identifier: BSD-3-Clause
//
// What a Transaction's commands tell those who follow this server.
#include <algorithm>

#include "encoding/log_entry.h"
#include "storage/store.h"
#include "storage/transaction.h"

namespace cairn {

void Transaction::AddEffect(int db, std::span<const std::string_view> argv) {
  AppendLogCommand(effects_, db, argv);
  ++command_effects_;
}

void Transaction::AddStream(std::string_view bytes) { AppendLogStream(effects_, bytes); }

// A key past its time is there until this server says otherwise, for those who carry the effects out. So who follows
// is told first of all such keys that the command has met, be it only as a source (SUNIONSTORE). Not of those whose
// stripe it does not hold, which SORT's patterns and scripts lead to: somebody may be setting them, who tells it then.
void Transaction::PutStaleKeysFirst() {
  std::vector<std::string_view> rows;
  for (const StaleKey& stale : stale_keys_) rows.push_back(stale.row);
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  std::string deletions;
  for (const std::string_view row : rows) {
    KeyRowParts parts;
    if (!ParseKeyRow(row, parts) || !Holds(StripeOf(parts.key))) continue;
    const int db = DatabaseBefore(parts.keyspace);
    if (db < 0) continue;  // nobody has heard of it
    const std::string_view words[] = {interest_ & kUnlinksExpired ? "UNLINK" : "DEL", parts.key};
    AppendLogCommand(deletions, db, words);
    ++command_effects_;
  }
  effects_.insert(effects_before_, deletions);
}

void Transaction::GroupEffects() {
  std::string begin;
  AppendLogMark(begin, LogEntryKind::kBegin);
  effects_.insert(effects_before_, begin);
  AppendLogMark(effects_, LogEntryKind::kEnd);
}

void Transaction::FinishEffects() {
  const bool tells = (command_effects_ > 0 || tells_stale_keys_) && interest_ & kInterestInEffects;
  if (tells && !stale_keys_.empty()) PutStaleKeysFirst();
  if (command_effects_ > 1 && !effects_apart_) GroupEffects();
}

}  // namespace cairn
