// SPDX-License-Identifier: BSD-3-Clause
#include "check/salvage.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/words.h"
#include "check/collection.h"
#include "check/row_check.h"
#include "encoding/varint.h"
#include "storage/format.h"

namespace cairn {
namespace {

constexpr std::string_view kLibraryPrefix = "function/";

// Whether spread values of the type read missing rows as zeros.
bool IsInFragments(Type type) {
  constexpr Type kTypes[] = {Type::kString, Type::kBloom, Type::kCuckoo, Type::kCountMin, Type::kTopK};
  return std::ranges::find(kTypes, type) != std::end(kTypes);
}

}  // namespace

OfflineRows Salvage::Walk(Space space) {
  return {from_, space, [this](Space of, std::string_view first, std::string_view last, std::string_view why) {
            ++gaps_;
            findings_.Damage("stretches of lost rows",
                             fmt::format("Lost: {} ({}).", DescribeGap(of, first, last), why));
          }};
}

Result<uint64_t> Salvage::CopyTo(const std::string& to) {
  TRY(to_.Open(to));
  TRY(to_.Put(Space::kMeta, kFormatRow, EncodeUnfinishedFormat()));
  TRY(to_.Flush());
  TRY(CopyMeta());
  OfflineRows elements = Walk(Space::kElements);
  OfflineRows scores = Walk(Space::kScores);
  for (OfflineRows rows = Walk(Space::kKeys); rows.Valid(); rows.Next()) {
    TRY(CopyKey(elements, scores, rows.row(), rows.value()));
  }
  TRY(PutMeta());
  TRY(to_.Flush());
  TRY(to_.Put(Space::kMeta, kFormatRow, EncodeFormat()));
  TRY(to_.Finish());
  return keys_;
}

Status Salvage::CopyMeta() {
  for (OfflineRows rows = Walk(Space::kMeta); rows.Valid(); rows.Next()) {
    std::string_view value = rows.value();
    if (rows.row() == kDatabasesRow) {
      knows_databases_ = DecodeDatabases(value, keyspaces_, next_keyspace_).ok();
      if (!knows_databases_) keyspaces_.clear();
    } else if (rows.row() == kCollectionsRow) {
      CollectionId next = 0;
      if (ReadVarint(value, next) && next < kCollectionsEnd) next_collection_ = next;
    } else if (rows.row().starts_with(kLibraryPrefix) || rows.row() == kUnservedRow) {
      TRY(to_.Put(Space::kMeta, rows.row(), value));
    }
  }
  if (!knows_databases_) {
    findings_.Damage("lost meta rows", "The table of databases is lost: the numbers of databases are guessed.");
  }
  return Ok();
}

bool Salvage::Takes(KeyspaceId keyspace) {
  if (std::find(keyspaces_.begin(), keyspaces_.end(), keyspace) != keyspaces_.end()) return true;
  if (knows_databases_) return false;
  keyspaces_.push_back(keyspace);
  return true;
}

void Salvage::Lose(std::string_view row, std::string_view what) {
  findings_.Damage("keys with losses", fmt::format("The {} {}.", NameKey(row, keyspaces_), what));
}

Status Salvage::CopyKey(OfflineRows& elements, OfflineRows& scores, std::string_view row, std::string_view value) {
  KeyRowParts parts;
  if (!ParseKeyRow(row, parts) || !Takes(parts.keyspace)) return Ok();
  const Result<Record> record = DecodeRecord(value);
  if (!record.ok() || KeyPosition(parts.key) != parts.position || !CheckPacked(*record).ok()) {
    Lose(row, "is lost: its record does not decode");
    return Ok();
  }
  if (record->header.encoding != Encoding::kSpread) return PutKey(row, value);
  const std::string fitting = TRY(CopyCollection(elements, scores, row, *record));
  return fitting.empty() ? Ok() : PutKey(row, fitting);
}

Result<std::string> Salvage::CopyCollection(OfflineRows& elements, OfflineRows& scores, std::string_view row,
                                            const Record& record) {
  const uint64_t gaps_before = gaps_;
  CollectionReader reader(
      elements, scores,
      [this](Space space, std::string_view element, std::string_view value) { return to_.Put(space, element, value); },
      [&](const std::string& phrase) { Lose(row, "has damaged rows: " + phrase); });
  Result<std::string> fitting = reader.Read(record);
  if (!fitting.ok()) {
    if (fitting.status().Is(Code::kIo)) return fitting;
    Lose(row, "is lost: " + std::string(fitting.status().text()));
    return std::string();
  }
  const Record fits = TRY(DecodeRecord(*fitting));
  const SpreadPayload before = TRY(DecodeSpreadPayload(record.payload));
  const SpreadPayload after = TRY(DecodeSpreadPayload(fits.payload));
  if (after.count == 0 && record.header.type != Type::kStream) {
    Lose(row, "is lost: it has no elements left");
    return std::string();
  }
  if (after.count != before.count) {
    Lose(row, fmt::format("has {} elements of the {} that it had", after.count, before.count));
  } else if (gaps_ != gaps_before && IsInFragments(record.header.type)) {
    Lose(row, "has zeros in place of lost bytes");
  }
  next_collection_ = std::max(next_collection_, NumberOfCollection(after.id) + 1);
  TRY(to_.Put(Space::kOwners, MakeOwnerRow(after.id, 0).row(), row));
  return fitting;
}

Status Salvage::PutKey(std::string_view row, std::string_view bytes) {
  KeyRowParts parts;
  if (!ParseKeyRow(row, parts)) return Ok();
  const Record record = TRY(DecodeRecord(bytes));
  for (const int64_t when_ms : {record.header.expire_ms, record.header.fields_expire_ms}) {
    if (when_ms != kNoExpiry) TRY(to_.Put(Space::kExpiries, MakeExpiryRow(when_ms, row, 0).row(), {}));
  }
  ++counts_[parts.keyspace];
  next_keyspace_ = std::max(next_keyspace_, NumberOfKeyspace(parts.keyspace) + 1);
  if (++keys_ % 4096 == 0) on_progress_(keys_);
  return to_.Put(Space::kKeys, row, bytes);
}

Status Salvage::PutMeta() {
  TRY(to_.Put(Space::kMeta, kDatabasesRow, EncodeDatabases(keyspaces_, next_keyspace_)));
  std::string collections;
  AppendVarint(collections, next_collection_);
  TRY(to_.Put(Space::kMeta, kCollectionsRow, collections));
  for (const auto& [keyspace, count] : counts_) {
    TRY(to_.Put(Space::kMeta, MakeCountRow(0, keyspace).row(), EncodeCount(count)));
  }
  return Ok();
}

}  // namespace cairn
