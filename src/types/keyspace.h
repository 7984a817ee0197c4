// SPDX-License-Identifier: BSD-3-Clause
//
// Keyspace: the keys of one database as one transaction sees them.
//
// It keeps what every key row owes to the rest of the store in step, in the same batch: the count behind
// DBSIZE, the expiry index, the owner row of a spread collection. A key past its expiry is not there for
// anybody who asks, whether or not it has been deleted yet.
//
//   const Key key = keyspace.Name("k");
//   KeyEntry entry = TRY(keyspace.Find(key));
//   if (entry.exists()) ... entry.type(), entry.payload()
//   keyspace.Write(key, entry, header, payload);      // REQUIRES: the key's stripe is locked
//
// Thread: the transaction's.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/random.h"
#include "base/result.h"
#include "encoding/record.h"
#include "encoding/row_key.h"
#include "storage/transaction.h"
#include "types/limits.h"

namespace cairn {

// The client's words for a key of another type (resp/errors.h has the same; types/ does not see it).
inline constexpr std::string_view kWrongType = "WRONGTYPE Operation against a key holding the wrong kind of value";

// A key as commands name it, with its row. Views the caller's bytes.
class Key {
 public:
  Key(KeyspaceId keyspace, std::string_view bytes) : bytes_(bytes), row_(MakeKeyRow(keyspace, bytes)) {}
  std::string_view bytes() const { return bytes_; }
  const RowKey& row() const { return row_; }
  uint32_t stripe() const { return row_.stripe(); }

 private:
  std::string_view bytes_;
  RowKey row_;
};

// What Find found. Views into the row stay good as long as the entry.
class KeyEntry {
 public:
  bool exists() const { return exists_; }
  Type type() const { return exists_ ? record_.header.type : Type::kNone; }
  Encoding encoding() const { return record_.header.encoding; }
  bool grown() const { return record_.header.grown; }
  // There, but its time has passed.
  bool IsStoredExpired() const { return stored_ && !exists_; }
  int64_t expire_ms() const { return exists_ ? record_.header.expire_ms : kNoExpiry; }
  // Of a hash: no field is gone before (RecordHeader); kNoExpiry when none will be.
  int64_t fields_expire_ms() const { return exists_ ? record_.header.fields_expire_ms : kNoExpiry; }
  // The header to start from for a changed value of the same type: the expiry is kept.
  const RecordHeader& header() const { return record_.header; }
  std::string_view payload() const { return record_.payload; }

 private:
  friend class Keyspace;
  bool exists_ = false;  // there and not past its expiry
  bool stored_ = false;  // there
  int64_t stored_expire_ms_ = kNoExpiry;
  int64_t stored_fields_expire_ms_ = kNoExpiry;
  CollectionId stored_collection_ = 0;  // of a spread value; 0: none
  Record record_;                       // when exists_
  RowRef row_;
};

class Keyspace {
 public:
  Keyspace(Transaction& txn, int db, const Limits& limits) : Keyspace(txn, db, txn.databases().keyspace(db), limits) {}
  // For work that goes by what is on disk rather than by a client's database.
  static Keyspace ById(Transaction& txn, KeyspaceId id, const Limits& limits) { return Keyspace(txn, -1, id, limits); }

  int db() const { return db_; }  // -1 when made by ById
  KeyspaceId id() const { return id_; }
  Transaction& txn() { return txn_; }
  const Limits& limits() const { return limits_; }
  int64_t now_ms() const { return txn_.command().now_ms(); }

  Key Name(std::string_view key) const { return Key(id_, key); }

  Result<KeyEntry> Find(const Key& key, Access access = Access::kUse);
  // The same, but a key that exists with another type is the WRONGTYPE error.
  Result<KeyEntry> FindTyped(const Key& key, Type type);

  // What Find would have found for a live key whose record is at hand, in Scan's visitor say. The record must outlive
  // the entry.
  static Result<KeyEntry> EntryOf(const Record& record);

  // Stores a new value, replacing whatever `entry` (the key's last Find) saw. An old collection that is not the
  // one written is dropped. The expiry is what `header` says.
  Status Write(const Key& key, const KeyEntry& entry, const RecordHeader& header, std::string_view payload);
  // Deletes the key and drops its collection. REQUIRES: entry was found by the same transaction.
  Status Remove(const Key& key, const KeyEntry& entry);
  // Changes the expiry only; kNoExpiry removes it. REQUIRES: entry.exists().
  Status SetExpiry(const Key& key, const KeyEntry& entry, int64_t expire_ms);
  // Moves the value to another name (maybe in another database), replacing what is there. O(1) also for a
  // spread collection. The source is gone afterwards.
  static Status Move(Keyspace& from, const Key& source, const KeyEntry& entry, Keyspace& to, const Key& target);

  // Whether a key that Find does not find is told of as missed: in reads it is.
  void TellMisses(bool tell) { tells_misses_ = tell; }
  // A value takes the place of another as if that had been removed first: RENAME, COPY, RESTORE.
  void TellNew(const Key& key);
  // A key that is written now is not told of as new: it takes the place of one that was just removed.
  void TellNoNewKeys() { tells_new_ = false; }

  // Tells a writable replica of a time that its own clients gave this key, or fields of it (storage/transaction.h).
  void AnnounceExpiry(const Key& key, int64_t when_ms, NotificationKind kind);

  // Exact count of keys, those past their expiry and not yet deleted included (as Redis counts).
  int64_t Count() const { return txn_.databases().KeyCount(id_); }

  // Calls visit(key, record) for live keys in position order from `position` on until it answers false.
  // Returns the position after the last key visited, or 0 when the keyspace's end was reached. Keys that share
  // a position are visited together whatever `visit` says.
  Result<uint64_t> Scan(uint64_t position, const std::function<bool(std::string_view key, const Record&)>& visit);

  // A random live key, or none: any key can come, nearly uniformly.
  Result<std::optional<std::string>> RandomKey(Random& random);

 private:
  Keyspace(Transaction& txn, int db, KeyspaceId id, const Limits& limits)
      : txn_(txn), limits_(limits), db_(db), id_(id) {}
  bool IsExpired(const RecordHeader& header) const;
  void DropOld(const Key& key, const KeyEntry& entry, CollectionId kept, const RecordHeader& header);
  void PutExpiryRows(const Key& key, const KeyEntry& entry, const RecordHeader& header);
  void TellExpired(const Key& key);

  Transaction& txn_;
  const Limits& limits_;
  const int db_;
  const KeyspaceId id_;
  bool tells_misses_ = false;
  bool tells_new_ = true;
  std::string scratch_;  // the record being written
};

}  // namespace cairn
