// SPDX-License-Identifier: BSD-3-Clause
#include "encoding/row_key.h"

#include "base/hash.h"
#include "encoding/varint.h"

namespace cairn {
namespace {

RowKey StartCollectionRow(Space space, CollectionId id, uint32_t stripe) {
  RowKey row(space, stripe);
  AppendU64(row, id);
  return row;
}

}  // namespace

uint64_t KeyPosition(std::string_view key) { return uint64_t{KeySlot(key)} << 32 | RowHash(key); }

uint32_t StripeOf(std::string_view key) { return RowHash(key) & (kStripeCount - 1); }

RowKey MakeKeyRow(KeyspaceId keyspace, std::string_view key) {
  const uint32_t hash = RowHash(key);
  RowKey row(Space::kKeys, hash & (kStripeCount - 1));
  AppendU32(row, keyspace);
  AppendU16(row, KeySlot(key));
  AppendU32(row, hash);
  row.append(key);
  return row;
}

RowKey MakeKeyBound(KeyspaceId keyspace, uint64_t position) {
  RowKey row(Space::kKeys, 0);
  if (position >> kPositionBits) {
    AppendU32(row, keyspace + 1);
    return row;
  }
  AppendU32(row, keyspace);
  AppendU16(row, static_cast<uint16_t>(position >> 32));
  AppendU32(row, static_cast<uint32_t>(position));
  return row;
}

bool ParseKeyRow(std::string_view row, KeyRowParts& parts) {
  uint16_t slot;
  uint32_t hash;
  if (!ReadU32(row, parts.keyspace) || !ReadU16(row, slot) || !ReadU32(row, hash)) return false;
  parts.position = uint64_t{slot} << 32 | hash;
  parts.key = row;
  return true;
}

RowKey MakeElementRow(CollectionId id, std::string_view member, uint32_t stripe) {
  RowKey row = StartCollectionRow(Space::kElements, id, stripe);
  AppendU32(row, RowHash(member));
  row.append(member);
  return row;
}

RowKey MakeElementBound(CollectionId id, uint64_t hash, uint32_t stripe) {
  if (hash >> 32) return MakeCollectionEnd(Space::kElements, id, stripe);
  RowKey row = StartCollectionRow(Space::kElements, id, stripe);
  AppendU32(row, static_cast<uint32_t>(hash));
  return row;
}

bool ParseElementRow(std::string_view row, CollectionId& id, uint32_t& hash, std::string_view& member) {
  if (!ReadU64(row, id) || !ReadU32(row, hash)) return false;
  member = row;
  return true;
}

RowKey MakeChunkRow(CollectionId id, int64_t seq, uint32_t stripe) {
  RowKey row = StartCollectionRow(Space::kElements, id, stripe);
  AppendU64(row, OrderedFromInt64(seq));
  return row;
}

bool ParseChunkRow(std::string_view row, CollectionId& id, int64_t& seq) {
  uint64_t ordered;
  if (row.size() != 16 || !ReadU64(row, id) || !ReadU64(row, ordered)) return false;
  seq = Int64FromOrdered(ordered);
  return true;
}

RowKey MakeScoreRow(CollectionId id, double score, std::string_view member, uint32_t stripe) {
  RowKey row = StartCollectionRow(Space::kScores, id, stripe);
  AppendU64(row, OrderedFromDouble(score));
  row.append(member);
  return row;
}

bool ParseScoreRow(std::string_view row, CollectionId& id, double& score, std::string_view& member) {
  uint64_t ordered;
  if (!ReadU64(row, id) || !ReadU64(row, ordered)) return false;
  score = DoubleFromOrdered(ordered);
  member = row;
  return true;
}

RowKey MakeCollectionEnd(Space space, CollectionId id, uint32_t stripe) {
  return StartCollectionRow(space, id + 1, stripe);
}

RowKey MakeCollectionStart(Space space, CollectionId id, uint32_t stripe) {
  return StartCollectionRow(space, id, stripe);
}

RowKey MakeOwnerRow(CollectionId id, uint32_t stripe) { return StartCollectionRow(Space::kOwners, id, stripe); }

RowKey MakeExpiryRow(int64_t when_ms, std::string_view key_row, uint32_t stripe) {
  RowKey row(Space::kExpiries, stripe);
  AppendU64(row, static_cast<uint64_t>(when_ms));
  row.append(key_row);
  return row;
}

bool ParseExpiryRow(std::string_view row, int64_t& when_ms, std::string_view& key_row) {
  uint64_t when;
  if (!ReadU64(row, when)) return false;
  when_ms = static_cast<int64_t>(when);
  key_row = row;
  return true;
}

RowKey MakeMetaRow(std::string_view name) {
  RowKey row(Space::kMeta, 0);
  row.append(name);
  return row;
}

}  // namespace cairn
