// SPDX-License-Identifier: BSD-3-Clause
#include "types/copy.h"

#include <string>

#include "base/assert.h"
#include "encoding/varint.h"
#include "types/value_types.h"

namespace cairn {
namespace {

constexpr size_t kIdBytes = 8;  // rows of a collection start with its id

// Copies every row of `from` in `space` to `into`. A new collection has no rank index yet, so none is updated.
Status CopyRows(Transaction& txn, Space space, CollectionId from, uint32_t from_stripe, CollectionId into,
                uint32_t into_stripe) {
  Cursor cursor = txn.Scan(MakeCollectionStart(space, from, from_stripe), MakeCollectionEnd(space, from, from_stripe));
  for (; cursor.Valid(); cursor.Next()) {
    RowKey row(space, into_stripe);
    AppendU64(row, into);
    row.append(cursor.row().substr(kIdBytes));
    txn.Put(row, cursor.value());
  }
  return cursor.TakeStatus();
}

}  // namespace

Status CopyValue(const Key& source_key, const KeyEntry& source, Keyspace& to, const Key& target,
                 const KeyEntry& target_entry) {
  ASSERT(source.exists(), "a missing key has no value to copy");
  if (source.encoding() != Encoding::kSpread) {
    return to.Write(target, target_entry, source.header(), source.payload());
  }
  const SpreadPayload spread = TRY(DecodeSpreadPayload(source.payload()));
  Transaction& txn = to.txn();
  const CollectionId id = txn.NewCollectionId(to.id());
  TRY(CopyRows(txn, Space::kElements, spread.id, source_key.stripe(), id, target.stripe()));
  if (ValueTypeOf(source).has_scores || source.fields_expire_ms() != kNoExpiry) {
    TRY(CopyRows(txn, Space::kScores, spread.id, source_key.stripe(), id, target.stripe()));
  }
  std::string payload;
  AppendSpreadPayload(payload, id, spread.count);
  payload.append(spread.rest);
  return to.Write(target, target_entry, source.header(), payload);
}

Status MoveValue(Keyspace& from, const Key& source_key, const KeyEntry& source, Keyspace& to, const Key& target) {
  if (ModeOfKeyspace(from.id()) == ModeOfKeyspace(to.id())) return Keyspace::Move(from, source_key, source, to, target);
  const KeyEntry old = TRY(to.Find(target, Access::kPeek));
  if (old.exists()) to.EmitNew(target);
  TRY(CopyValue(source_key, source, to, target, old));
  return from.Remove(source_key, source);
}

}  // namespace cairn
