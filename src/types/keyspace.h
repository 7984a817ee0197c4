// SPDX-License-Identifier: BSD-3-Clause
//
// Keyspace: the keys of one database as one transaction sees them.
//
// It updates, in the same batch, everything that depends on a key row: the count for DBSIZE, the expiry index, the
// owner row of a spread collection. Reads never find an expired key, whether or not it has been deleted yet.
//
//   const Key key = keyspace.Name("k");
//   KeyEntry entry = TRY(keyspace.Find(key));
//   if (entry.exists()) ... entry.type(), entry.payload()
//   keyspace.Write(key, entry, header, payload);      // REQUIRES: the key's stripe is locked
//
// Thread: that of the transaction.
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

// The error for a key of another type (the same text as in resp/errors.h, which types/ must not include).
inline constexpr std::string_view kWrongType = "WRONGTYPE Operation against a key holding the wrong kind of value";

// A key as commands name it, with its row key. Views the caller's bytes.
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

// The result of Find. Views into the row are valid as long as the entry.
class KeyEntry {
 public:
  bool exists() const { return exists_; }
  Type type() const { return exists_ ? record_.header.type : Type::kNone; }
  Encoding encoding() const { return record_.header.encoding; }
  bool grown() const { return record_.header.grown; }
  // Stored, but expired.
  bool IsStoredExpired() const { return stored_ && !exists_; }
  int64_t expire_ms() const { return exists_ ? record_.header.expire_ms : kNoExpiry; }
  // For a hash: no field expires before this (RecordHeader); kNoExpiry if no field expires.
  int64_t fields_expire_ms() const { return exists_ ? record_.header.fields_expire_ms : kNoExpiry; }
  // The header to start from when a value of the same type is changed: it keeps the expiry.
  const RecordHeader& header() const { return record_.header; }
  std::string_view payload() const { return record_.payload; }

 private:
  friend class Keyspace;
  bool exists_ = false;  // stored and not expired
  bool stored_ = false;  // the row is there
  int64_t stored_expire_ms_ = kNoExpiry;
  int64_t stored_fields_expire_ms_ = kNoExpiry;
  CollectionId stored_collection_ = 0;  // the id of a spread value; 0: none
  Record record_;                       // if exists_
  RowRef row_;
};

class Keyspace {
 public:
  Keyspace(Transaction& txn, int db, const Limits& limits) : Keyspace(txn, db, txn.databases().keyspace(db), limits) {}
  // For work on the rows of a keyspace, whether or not it is one of a client's databases.
  static Keyspace ById(Transaction& txn, KeyspaceId id, const Limits& limits) { return Keyspace(txn, -1, id, limits); }

  int db() const { return db_; }  // -1 when made by ById
  KeyspaceId id() const { return id_; }
  Transaction& txn() { return txn_; }
  const Limits& limits() const { return limits_; }
  int64_t now_ms() const { return txn_.command().now_ms(); }

  Key Name(std::string_view key) const { return Key(id_, key); }

  Result<KeyEntry> Find(const Key& key, Access access = Access::kUse);
  // The same, but returns the WRONGTYPE error for a key of another type.
  Result<KeyEntry> FindTyped(const Key& key, Type type);

  // Finds a key whose value is about to be replaced by one of `new_bytes`, whatever it is. The entry has no payload if
  // that is large, because it would be in memory beside the new value. kWouldWait if the new value is too large for the
  // fast lane, before the old one is read.
  Result<KeyEntry> FindReplaced(const Key& key, size_t new_bytes);

  // The entry that Find would return for a live key whose record is at hand, for example in Scan's visitor. The record
  // must outlive the entry.
  static Result<KeyEntry> EntryOf(const Record& record);

  // Stores a new value, replacing what `entry` (the key's last Find) saw. Drops the old collection unless it is the one
  // written. Sets the expiry that `header` has.
  Status Write(const Key& key, const KeyEntry& entry, const RecordHeader& header, std::string_view payload);
  // Deletes the key and drops its collection. REQUIRES: the same transaction found `entry`.
  Status Remove(const Key& key, const KeyEntry& entry);
  // Deletes a key that has expired and whose value is its key row alone (kExpiresOneRow), without reading it.
  // `when_ms`: its expiry. REQUIRES: the key's stripe is locked, and the expiry row exists.
  void RemoveExpiredRow(const Key& key, int64_t when_ms);
  // Changes the expiry only; kNoExpiry removes it. REQUIRES: entry.exists().
  Status SetExpiry(const Key& key, const KeyEntry& entry, int64_t expire_ms);
  // Moves the value to another name (possibly in another database), replacing the value there. O(1) even for a spread
  // collection. The source no longer exists afterwards.
  static Status Move(Keyspace& from, const Key& source, const KeyEntry& entry, Keyspace& to, const Key& target);

  // Whether Find emits `keymiss` for a missing key, as reads do.
  void EmitMisses(bool emits) { emits_misses_ = emits; }
  // Emits `new` for a key whose value replaces another as if that had been removed first: RENAME, COPY, RESTORE.
  void EmitNew(const Key& key);
  // Stops emitting `new`: the key that is written next replaces one that was just removed.
  void OmitNewKeyEvents() { emits_new_ = false; }

  // Notifies a writable replica of an expiry time that its own clients set on this key or its fields
  // (client/writable_replica_expires.h).
  void NotifyExpiry(const Key& key, int64_t when_ms, NotificationKind kind);

  // Exact count of keys, including expired ones that are not deleted yet (as Redis counts).
  int64_t Count() const { return txn_.databases().KeyCount(id_); }

  // Calls visit(key, record) for live keys in position order, from `position` on, until it returns false. Returns the
  // position after the last visited key, or 0 at the end of the keyspace. Keys that share a position are visited
  // together, whatever `visit` returns.
  Result<uint64_t> Scan(uint64_t position, const std::function<bool(std::string_view key, const Record&)>& visit);

  // Returns a random live key, or none. Every key can be returned; the distribution is nearly uniform.
  Result<std::optional<std::string>> RandomKey(Random& random);

 private:
  Keyspace(Transaction& txn, int db, KeyspaceId id, const Limits& limits)
      : txn_(txn), limits_(limits), db_(db), id_(id) {}
  bool IsExpired(const RecordHeader& header) const;
  void DropOld(const Key& key, const KeyEntry& entry, CollectionId kept, const RecordHeader& header);
  void PutExpiryRows(const Key& key, const KeyEntry& entry, const RecordHeader& header);
  void EmitExpired(const Key& key);

  Transaction& txn_;
  const Limits& limits_;
  const int db_;
  const KeyspaceId id_;
  bool emits_misses_ = false;
  bool emits_new_ = true;
  std::string scratch_;  // the header of the record being written
};

}  // namespace cairn
