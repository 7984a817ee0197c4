// SPDX-License-Identifier: BSD-3-Clause
#include "check/row_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/words.h"
#include "check/collection.h"
#include "encoding/varint.h"
#include "storage/format.h"
#include "storage/offline_rows.h"

namespace cairn {
namespace {

constexpr char kUnread[] = "stretches of unreadable rows";

OfflineRows::OnGap ReportGap(Findings& findings) {
  return [&findings](Space space, std::string_view first, std::string_view last, std::string_view why) {
    findings.Damage(kUnread, fmt::format("{} cannot be read: {}.", DescribeGap(space, first, last), why));
  };
}

}  // namespace

std::string NameKey(std::string_view key_row, const std::vector<KeyspaceId>& keyspaces) {
  KeyRowParts parts;
  if (!ParseKeyRow(key_row, parts)) return "key row " + ShowWord(key_row);
  const auto database = std::find(keyspaces.begin(), keyspaces.end(), parts.keyspace);
  if (database == keyspaces.end()) return fmt::format("key {} of keyspace {}", ShowWord(parts.key), parts.keyspace);
  return fmt::format("key {} of database {}", ShowWord(parts.key), database - keyspaces.begin());
}

void RowCheck::Run() {
  CheckMeta();
  CheckKeys();
  CheckCollections();
  CheckExpiries();
  CheckCounts();
  // The row is the first that a server writes. A power loss may take all rows of a new directory.
  const auto format = database_.Get(Space::kMeta, kFormatRow);
  if (rows_ != 0 && format.ok() && !*format) findings_.Damage("damaged meta rows", "Meta row format is missing.");
  int64_t keys = 0;
  for (const auto& [keyspace, count] : keys_) keys += count;
  Findings::Note(
      fmt::format("{} keys in {} rows; {} rows are garbage that compaction will drop.", keys, rows_, garbage_));
}

std::string RowCheck::NameOf(std::string_view key_row) const { return NameKey(key_row, keyspaces_); }

bool RowCheck::IsLive(KeyspaceId keyspace) const {
  return std::find(keyspaces_.begin(), keyspaces_.end(), keyspace) != keyspaces_.end();
}

void RowCheck::CheckMeta() {
  const auto damage = [this](std::string_view text) { findings_.Damage("damaged meta rows", std::string(text) + "."); };
  for (OfflineRows rows(database_, Space::kMeta, ReportGap(findings_)); rows.Valid(); rows.Next()) {
    Count();
    std::string_view value = rows.value();
    Status status;
    uint32_t worker = 0;
    KeyspaceId keyspace = 0;
    if (rows.row() == kFormatRow) {
      status = CheckFormat(value);
    } else if (rows.row() == kDatabasesRow) {
      KeyspaceId next = 0;
      status = DecodeDatabases(value, keyspaces_, next);
    } else if (rows.row() == kCollectionsRow) {
      if (!ReadVarint(value, collections_end_)) damage("Meta row collections is cut short");
    } else if (ParseCountRow(rows.row(), worker, keyspace)) {
      const Result<int64_t> count = DecodeCount(value);
      if (count.ok()) stored_counts_[keyspace] += *count;
      if (!count.ok()) status = Status::Corruption(count.status().text());
    }
    if (!status.ok()) damage(status.text());
  }
}

void RowCheck::CheckKeys() {
  for (OfflineRows rows(database_, Space::kKeys, ReportGap(findings_)); rows.Valid(); rows.Next()) {
    Count();
    CheckKey(rows.row(), rows.value());
  }
}

void RowCheck::CheckKey(std::string_view row, std::string_view value) {
  KeyRowParts parts;
  if (!ParseKeyRow(row, parts)) {
    findings_.Damage("damaged keys", "A row of the space keys is cut short: " + ShowWord(row) + ".");
    return;
  }
  if (!IsLive(parts.keyspace)) {
    ++garbage_;
    return;
  }
  ++keys_[parts.keyspace];
  const auto damage = [&](std::string_view what) {
    findings_.Damage("damaged keys", fmt::format("The {} is damaged: {}.", NameOf(row), what));
  };
  if (KeyPosition(parts.key) != parts.position) damage("its row has another slot or hash");
  const Result<Record> record = DecodeRecord(value);
  if (!record.ok()) return damage(record.status().text());
  if (record->header.expire_ms != kNoExpiry) CheckExpiry(row, record->header.expire_ms);
  if (record->header.fields_expire_ms != kNoExpiry) CheckExpiry(row, record->header.fields_expire_ms);
  if (record->header.encoding == Encoding::kSpread) return CheckOwner(row, record->payload);
  if (const Status packed = CheckPacked(*record); !packed.ok()) damage(packed.text());
}

void RowCheck::CheckOwner(std::string_view row, std::string_view record_payload) {
  const Result<SpreadPayload> payload = DecodeSpreadPayload(record_payload);
  if (!payload.ok()) {
    findings_.Damage("damaged keys", fmt::format("The {} is damaged: {}.", NameOf(row), payload.status().text()));
    return;
  }
  const auto owner = database_.Get(Space::kOwners, MakeOwnerRow(payload->id, 0).row());
  if (owner.ok() && *owner && **owner == row) return;
  findings_.Damage("collections without an owner row",
                   fmt::format("Collection {} of the {} has no owner row.", payload->id, NameOf(row)));
}

void RowCheck::CheckExpiry(std::string_view row, int64_t when_ms) {
  const auto found = database_.Get(Space::kExpiries, MakeExpiryRow(when_ms, row, 0).row());
  if (found.ok() && *found) return;
  findings_.Damage("missing expiries", fmt::format("The {} has no row that expires it at {}.", NameOf(row), when_ms));
}

bool RowCheck::FindRecord(std::string_view key_row, std::string& bytes, Record& record) const {
  auto found = database_.Get(Space::kKeys, key_row);
  if (!found.ok() || !*found) return false;
  bytes = std::move(**found);
  const Result<Record> decoded = DecodeRecord(bytes);
  if (decoded.ok()) record = *decoded;
  return decoded.ok();
}

void RowCheck::CheckCollections() {
  OfflineRows elements(database_, Space::kElements, ReportGap(findings_));
  OfflineRows scores(database_, Space::kScores, ReportGap(findings_));
  std::string_view key_row;
  CollectionReader reader(elements, scores, nullptr, [&](const std::string& phrase) {
    findings_.Damage("damaged collections", fmt::format("The {} is damaged: {}.", NameOf(key_row), phrase));
  });
  CollectionId id = 0;
  CollectionId last = 0;
  for (OfflineRows owners(database_, Space::kOwners, ReportGap(findings_)); owners.Valid(); owners.Next()) {
    Count();
    std::string_view id_bytes = owners.row();
    key_row = owners.value();
    KeyRowParts parts;
    if (!ReadU64(id_bytes, id) || !ParseKeyRow(key_row, parts)) {
      findings_.Damage("damaged owner rows", "An owner row does not decode: " + ShowWord(owners.row()) + ".");
    } else if (!IsLive(parts.keyspace)) {
      ++garbage_;
    } else {
      last = std::max(last, NumberOfCollection(id));
      SkipGarbage(elements, owners.row());
      SkipGarbage(scores, owners.row());
      CheckCollection(reader, id, key_row);
    }
  }
  SkipGarbage(elements, {});
  SkipGarbage(scores, {});
  if (last >= collections_end_ && last != 0) {
    findings_.Damage(
        "damaged meta rows",
        fmt::format("Collection {} exists, but the meta row collections says that ids from {} on are unused.", last,
                    collections_end_));
  }
}

void RowCheck::SkipGarbage(OfflineRows& rows, std::string_view start) {
  for (; rows.Valid() && (start.empty() || rows.row() < start); rows.Next()) {
    Count();
    ++garbage_;
  }
}

void RowCheck::CheckCollection(CollectionReader& reader, CollectionId id, std::string_view key_row) {
  std::string bytes;
  Record record;
  const bool is_spread = FindRecord(key_row, bytes, record) && record.header.encoding == Encoding::kSpread;
  const auto payload = DecodeSpreadPayload(record.payload);
  if (!is_spread || !payload.ok() || payload->id != id) {
    findings_.Damage("orphans", fmt::format("Collection {} is owned by the {}, which is another value or missing.", id,
                                            NameOf(key_row)));
    return;
  }
  const Result<std::string> fitting = reader.Read(record);
  if (!fitting.ok()) {
    findings_.Damage("damaged collections",
                     fmt::format("The {} is damaged: {}.", NameOf(key_row), fitting.status().text()));
    return;
  }
  if (*fitting == bytes) return;
  const auto fits = DecodeRecord(*fitting);
  const auto found = DecodeSpreadPayload(fits.ok() ? fits->payload : std::string_view());
  findings_.Damage("wrong counts",
                   fmt::format("The record of the {} does not fit its rows: its count is {}, the rows have {}.",
                               NameOf(key_row), payload->count, found.ok() ? found->count : 0));
}

void RowCheck::CheckExpiries() {
  for (OfflineRows rows(database_, Space::kExpiries, ReportGap(findings_)); rows.Valid(); rows.Next()) {
    Count();
    int64_t when_ms = 0;
    std::string_view key_row;
    KeyRowParts parts;
    if (!ParseExpiryRow(rows.row(), when_ms, key_row) || !ParseKeyRow(key_row, parts)) {
      findings_.Damage("damaged expiry rows", "An expiry row does not decode: " + ShowWord(rows.row()) + ".");
      continue;
    }
    if (!IsLive(parts.keyspace)) {
      ++garbage_;
      continue;
    }
    std::string bytes;
    Record record;
    const bool exists = FindRecord(key_row, bytes, record);
    if (exists && (record.header.expire_ms == when_ms || record.header.fields_expire_ms == when_ms)) {
      CheckValueOfExpiry(key_row, record.header, rows.value());
      continue;
    }
    findings_.Damage("expiries of nothing",
                     fmt::format("An expiry row names the {}, which does not expire at {}.", NameOf(key_row), when_ms));
  }
}

void RowCheck::CheckValueOfExpiry(std::string_view key_row, const RecordHeader& header, std::string_view value) {
  const bool is_one_row = header.encoding != Encoding::kSpread && header.fields_expire_ms == kNoExpiry;
  if (value.empty() || (value == kExpiresOneRow && is_one_row)) return;
  findings_.Damage("damaged expiry rows",
                   fmt::format("The value of an expiry row does not fit the {}.", NameOf(key_row)));
}

void RowCheck::CheckCounts() {
  for (size_t db = 0; db < keyspaces_.size(); ++db) {
    const int64_t stored = stored_counts_[keyspaces_[db]];
    const int64_t found = keys_[keyspaces_[db]];
    if (stored == found) continue;
    findings_.Damage("wrong counts of databases",
                     fmt::format("Database {} has {} keys, but its count says {}.", db, found, stored));
  }
}

}  // namespace cairn
