// SPDX-License-Identifier: BSD-3-Clause
#include "types/key_rows.h"

#include <string>

#include "encoding/varint.h"

namespace cairn {
namespace {

constexpr size_t kIdBytes = sizeof(CollectionId);

Status Damaged() { return Status::Corruption("key rows: the bytes are not a piece of a key"); }

void AppendText(std::string& out, std::string_view text) {
  AppendVarint(out, text.size());
  out.append(text);
}

bool ReadText(std::string_view& in, std::string_view& text) {
  uint64_t size = 0;
  if (!ReadVarint(in, size) || size > in.size()) return false;
  text = in.substr(0, size);
  in.remove_prefix(size);
  return true;
}

// Writes the record as the key's own, with a new collection if the value is spread. Returns the collection; 0: none.
Result<CollectionId> StoreRecord(Keyspace& keyspace, const Key& key, std::string_view bytes) {
  const Record record = TRY(DecodeRecord(bytes));
  const KeyEntry entry = TRY(keyspace.Find(key, Access::kPeek));
  keyspace.OmitNewKeyEvents();
  if (record.header.encoding != Encoding::kSpread) {
    TRY(keyspace.Write(key, entry, record.header, record.payload));
    return CollectionId{0};
  }
  const SpreadPayload spread = TRY(DecodeSpreadPayload(record.payload));
  const CollectionId id = keyspace.txn().NewCollectionId(keyspace.id());
  std::string payload;
  AppendSpreadPayload(payload, id, spread.count);
  payload.append(spread.rest);
  TRY(keyspace.Write(key, entry, record.header, payload));
  return id;
}

Result<CollectionId> FindCollection(Keyspace& keyspace, const Key& key) {
  const KeyEntry entry = TRY(keyspace.Find(key, Access::kPeek));
  if (!entry.exists() || entry.encoding() != Encoding::kSpread) return Damaged();
  return TRY(DecodeSpreadPayload(entry.payload())).id;
}

}  // namespace

Status EmitKeyRows(Keyspace& keyspace, const Key& key, const Record& record, size_t piece_bytes,
                   const std::function<Status(std::string_view piece)>& emit) {
  std::string bytes;
  AppendRecordHeader(bytes, record.header);
  bytes.append(record.payload);
  std::string piece;
  AppendText(piece, bytes);
  if (record.header.encoding == Encoding::kSpread) {
    const CollectionId id = TRY(DecodeSpreadPayload(record.payload)).id;
    for (const Space space : {Space::kElements, Space::kScores}) {
      Cursor rows =
          keyspace.txn().Scan(MakeCollectionStart(space, id, key.stripe()), MakeCollectionEnd(space, id, key.stripe()));
      for (; rows.Valid(); rows.Next()) {
        if (rows.row().size() < kIdBytes) return Status::Corruption("a row of a collection is cut short");
        if (piece.size() >= piece_bytes) {
          TRY(emit(piece));
          piece.assign(1, '\0');
        }
        piece.push_back(static_cast<char>(space));
        AppendText(piece, rows.row().substr(kIdBytes));
        AppendText(piece, rows.value());
      }
      TRY(rows.TakeStatus());
    }
  }
  return emit(piece);
}

Status StoreKeyRows(Keyspace& keyspace, const Key& key, std::string_view piece) {
  std::string_view record;
  if (!ReadText(piece, record)) return Damaged();
  const CollectionId id = TRY(record.empty() ? FindCollection(keyspace, key) : StoreRecord(keyspace, key, record));
  while (!piece.empty()) {
    const auto space = static_cast<Space>(piece.front());
    piece.remove_prefix(1);
    std::string_view suffix;
    std::string_view value;
    const bool is_row = (space == Space::kElements || space == Space::kScores) && id != 0 && ReadText(piece, suffix) &&
                        ReadText(piece, value);
    if (!is_row) return Damaged();
    RowKey row = MakeCollectionStart(space, id, key.stripe());
    row.append(suffix);
    keyspace.txn().Put(row, value);
  }
  return Ok();
}

}  // namespace cairn
