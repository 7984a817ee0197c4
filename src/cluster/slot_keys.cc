// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/slot_keys.h"

#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "base/clock.h"
#include "base/hash.h"
#include "client/notifier.h"
#include "encoding/log_entry.h"
#include "encoding/record.h"
#include "storage/hidden_slots.h"
#include "storage/overlay.h"
#include "storage/store.h"
#include "storage/stripes.h"
#include "storage/transaction.h"
#include "types/keyspace.h"

namespace cairn {
namespace {

constexpr size_t kKeysPerChunk = 4096;  // about 5 ms
constexpr size_t kKeysPerDel = 64;      // for replicas

// Calls visit(slot, key) for the keys at `position` and later, to the end of the slot `last`, until it returns false.
Status ForEachKeyOf(Store& store, const Limits& limits, uint64_t position, int last,
                    const std::function<bool(int, std::string_view)>& visit) {
  const auto txn = std::make_unique<Transaction>(store);
  txn->BeginCommand(Lane::kSlow, WallMs(), true);
  Keyspace keyspace(*txn, 0, limits);
  bool goes_on = true;
  do {
    position = TRY(keyspace.Scan(position, [&](std::string_view key, const Record&) {
      const int slot = KeySlot(key);
      goes_on = goes_on && slot <= last && visit(slot, key);
      return goes_on;
    }));
  } while (goes_on && position != 0 && position < PositionOfSlot(last + 1));
  txn->AbandonCommand();
  return Ok();
}

Status AddTo(KeyRange& range, std::vector<std::string>& names, std::string_view row, std::string_view value) {
  KeyRowParts parts;
  if (!ParseKeyRow(row, parts)) return Status::Corruption("key row: shorter than its head");
  const Record record = TRY(DecodeRecord(value));
  for (const int64_t when_ms : {record.header.expire_ms, record.header.fields_expire_ms}) {
    if (when_ms != kNoExpiry) range.side_rows.push_back(MakeExpiryRow(when_ms, row, 0));
  }
  if (record.header.encoding == Encoding::kSpread) {
    range.collections.push_back(TRY(DecodeSpreadPayload(record.payload)).id);
  }
  names.emplace_back(parts.key);
  return Ok();
}

// The log entries that delete the keys on replicas.
std::string DeletionOf(const std::vector<std::string>& names) {
  std::string entries;
  std::vector<std::string_view> del;
  for (size_t i = 0; i < names.size(); ++i) {
    if (del.empty()) del.push_back("DEL");
    del.push_back(names[i]);
    if (del.size() <= kKeysPerDel && i + 1 < names.size()) continue;
    AppendLogCommand(entries, 0, del);
    del.clear();
  }
  return entries;
}

// A FLUSHALL.
Status EmptyDatabases(Transaction& txn) {
  TRY(BeginAlone(txn, WallMs()));
  for (int db = 0; db < txn.store().databases().size(); ++db) TRY(txn.databases().Replace(db));
  const InterestMask interest = txn.replicated_commands().interest();
  if (interest & kInterestInKeys) txn.notifications().Add({NotificationKind::kAllChanged, {}, {}});
  const std::string_view flush[] = {"FLUSHALL"};
  if (interest & kInterestInReplication) txn.replicated_commands().Add(0, flush);
  TRY(txn.FinishCommand());
  return txn.Commit(CommitMode::kWait);
}

// Removes a deleted row of a slot from the key cache. As in a commit, the version of its stripe changes: a thread that
// has read the row before its deletion must not insert it into the cache afterwards. Waits for the holder of the
// stripe. REQUIRES: `owner` holds no stripe.
void EraseCached(Store& store, int slot, const RowKey& row, const Transaction* owner) {
  Stripes& stripes = store.stripes();
  stripes.Lock(row.stripe(), owner);
  stripes.Advance(row.stripe());
  // If a controller has given the slot back during the wait, a client may have written the key again.
  if (!store.staging().hidden_slots().Has(slot)) store.cache().NoteUnknownRows();
  store.cache().Erase(row.tagged(), Overlay::HashOf(row.tagged()));
  stripes.Advance(row.stripe());
  stripes.Unlock(row.stripe(), owner);
}

// After a commit, notifies subscribers of the changed keys. After an error, empties the transaction.
Status Conclude(Status status, Transaction& txn, const Notifier& notifier) {
  if (status.ok()) {
    notifier.Deliver(txn);
  } else {
    txn.AbandonCommand();
    txn.Discard();
  }
  return status;
}

}  // namespace

bool HasKeys(Store& store, const Limits& limits) {
  const auto txn = std::make_unique<Transaction>(store);
  txn->BeginCommand(Lane::kSlow, WallMs(), false);
  const int64_t count = Keyspace(*txn, 0, limits).Count();
  txn->AbandonCommand();
  return count > 0;
}

Result<std::vector<int64_t>> CountSlotKeys(Store& store, const Limits& limits, int first, int last) {
  std::vector<int64_t> counts(static_cast<size_t>(last - first + 1));
  TRY(ForEachKeyOf(store, limits, PositionOfSlot(first), last,
                   [&](int slot, std::string_view) { return ++counts[static_cast<size_t>(slot - first)] > 0; }));
  return counts;
}

Status ForEachSlotKey(Store& store, const Limits& limits, int slot, std::atomic<uint64_t>& first_key,
                      const std::function<bool(std::string_view)>& visit) {
  const uint64_t begin = PositionOfSlot(slot);
  const uint64_t known = first_key;
  const uint64_t start = known > begin && known < PositionOfSlot(slot + 1) ? known : begin;
  bool has_any = false;
  bool goes_on = true;
  TRY(ForEachKeyOf(store, limits, start, slot, [&](int, std::string_view key) {
    if (!std::exchange(has_any, true)) first_key = KeyPosition(key);
    goes_on = visit(key);
    return goes_on;
  }));
  if (!goes_on || start == begin) return Ok();
  return ForEachKeyOf(store, limits, begin, slot,
                      [&](int, std::string_view key) { return KeyPosition(key) < start && visit(key); });
}

Status DeleteEverything(Store& store, const Notifier& notifier) {
  const auto txn = std::make_unique<Transaction>(store);
  return Conclude(EmptyDatabases(*txn), *txn, notifier);
}

Result<std::vector<std::string>> SlotKeyDrops::DropRows(Transaction& txn, int slot) {
  KeyRange range{.keyspace = txn.databases().keyspace(0)};
  const RowKey lower = MakeKeyBound(range.keyspace, PositionOfSlot(slot));
  const RowKey upper = MakeKeyBound(range.keyspace, PositionOfSlot(slot + 1));
  std::vector<std::string> names;
  {
    Cursor cursor = txn.Scan(lower, upper);
    for (; cursor.Valid() && names.size() < kKeysPerChunk; cursor.Next()) {
      TRY(AddTo(range, names, cursor.row(), cursor.value()));
    }
    range.lower = lower.row();
    range.upper = cursor.Valid() ? cursor.row() : upper.row();
    TRY(cursor.TakeStatus());
  }
  range.keys = static_cast<int64_t>(names.size());
  if (!names.empty()) TRY(drops_.Drop(range, [&names] { return DeletionOf(names); }));
  return names;
}

Result<bool> SlotKeyDrops::DropSome(int slot, Mutex& mutex, const std::function<bool()>& may_drop) {
  const auto txn = std::make_unique<Transaction>(store_);
  txn->BeginCommand(Lane::kSlow, WallMs(), false);
  // No other thread uses these rows, so any lock will do: it excludes FLUSHALL.
  const uint32_t stripes[] = {0};
  TRY(txn->Lock(stripes));
  const KeyspaceId keyspace = txn->databases().keyspace(0);
  std::vector<std::string> names;
  {
    const MutexLock lock(mutex);
    if (!may_drop()) return false;
    names = TRY(DropRows(*txn, slot));
  }
  if (names.empty()) return false;
  txn->AbandonCommand();
  txn->Discard();  // of stripe 0: no stripe is held during a wait for another
  txn->BeginCommand(Lane::kSlow, WallMs(), false);
  for (const std::string& name : names) EraseCached(store_, slot, MakeKeyRow(keyspace, name), txn.get());
  if (txn->replicated_commands().interest() & kInterestInKeys) {
    for (std::string& name : names) txn->notifications().Add({NotificationKind::kKeyChanged, std::move(name), {}});
  }
  notifier_.Deliver(*txn);
  return true;
}

}  // namespace cairn
