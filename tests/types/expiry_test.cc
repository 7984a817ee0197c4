// SPDX-License-Identifier: BSD-3-Clause
//
// Active expiry makes progress past rows that it cannot handle: rows of dropped keyspaces, of databases that this run
// does not have, of a data set that is being loaded.
#include "types/expiry.h"

#include <rocksdb/db.h>
#include <rocksdb/statistics.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "storage/store_fixture.h"
#include "types/events.h"
#include "types/hash.h"

namespace cairn {
namespace {

constexpr int64_t kFirstMs = 5000;
constexpr int64_t kLaterMs = 6000;

class ExpiryTest : public StoreFixture {
 protected:
  void PutKey(Transaction& txn, Keyspace keyspace, const std::string& name, int64_t expire_ms) {
    txn.BeginCommand(Lane::kSlow, 0, false);
    const Key key = keyspace.Name(name);
    const uint32_t stripes[] = {key.stripe()};
    ASSERT_TRUE(txn.Lock(stripes).ok());
    const auto entry = keyspace.Find(key);
    ASSERT_TRUE(entry.ok());
    RecordHeader header;
    header.type = Type::kString;
    header.expire_ms = expire_ms;
    ASSERT_TRUE(keyspace.Write(key, *entry, header, "v").ok());
    ASSERT_TRUE(txn.FinishCommand().ok());
    ASSERT_TRUE(txn.Commit(CommitMode::kWait).ok());
  }
  // Sets fields of a hash, whose key then expires at kFirstMs.
  void SetFields(uint64_t first, uint64_t end, const std::string& name = "h") {
    txn().BeginCommand(Lane::kSlow, 0, false);
    Keyspace keyspace(txn(), 0, limits_);
    const Key key = keyspace.Name(name);
    Lock(key);
    Hash hash(keyspace, key);
    ASSERT_TRUE(hash.Open().ok());
    for (uint64_t i = first; i < end; ++i) ASSERT_TRUE(hash.Set("f" + std::to_string(i), "v").ok());
    ASSERT_TRUE(hash.Save().ok());
    const auto entry = keyspace.Find(key);
    ASSERT_TRUE(entry.ok());
    ASSERT_TRUE(keyspace.SetExpiry(key, *entry, kFirstMs).ok());
    Finish();
    Commit();
  }
  // The value of the expiry row of a key that expires at kFirstMs; "none" if it does not exist.
  std::string ExpiryRowOf(const std::string& name) {
    Begin();
    const Key key = Keyspace(txn(), 0, limits_).Name(name);
    const auto row = txn().Get(MakeExpiryRow(kFirstMs, key.row().row(), key.stripe()));
    EXPECT_TRUE(row.ok());
    return row.ok() && *row ? std::string(row->bytes()) : "none";
  }
  uint64_t Expire(Transaction& txn, uint64_t most) {
    const Result<uint64_t> done = ExpireDue(txn, limits_, now_ms(), most, [] { return true; });
    EXPECT_TRUE(done.ok()) << done.status().text();
    return done.ok() ? *done : 0;
  }
  int64_t CountOf(KeyspaceId keyspace) {
    Begin();
    return txn().databases().KeyCount(keyspace);
  }

  Limits limits_;
};

// A full round of rows with the same millisecond: the next round must not read them again.
TEST_F(ExpiryTest, RowsOfAFlushedDatabaseAreSkipped) {
  constexpr uint64_t kMost = 10;
  for (uint64_t i = 0; i < 2 * kMost; ++i) {
    PutKey(txn(), Keyspace(txn(), 0, limits_), "dead" + std::to_string(i), kFirstMs);
  }
  ASSERT_TRUE(BeginAlone(txn(), 0).ok());
  ASSERT_TRUE(txn().databases().Replace(0).ok());
  Finish();
  Commit();
  PutKey(txn(), Keyspace(txn(), 0, limits_), "live", kLaterMs);
  for (int round = 0; round < 3; ++round) Expire(txn(), kMost);
  EXPECT_EQ(CountOf(txn().databases().keyspace(0)), 0);
  EXPECT_FALSE(store().expiry_start(StorageMode::kSsd).IsDue(now_ms()));
}

// A primary that becomes a replica during a round leaves the rest to its primary.
TEST_F(ExpiryTest, ARoundEndsWhenKeysMayNotExpireAnyLonger) {
  constexpr uint64_t kKeys = 200;
  for (uint64_t i = 0; i < kKeys; ++i) PutKey(txn(), Keyspace(txn(), 0, limits_), "k" + std::to_string(i), kFirstMs);
  int commits = 0;
  const Result<uint64_t> done = ExpireDue(txn(), limits_, now_ms(), kKeys, [&] { return ++commits == 1; });
  ASSERT_TRUE(done.ok()) << done.status().text();
  EXPECT_EQ(commits, 2);
  EXPECT_GT(*done, 0U);
  EXPECT_EQ(CountOf(txn().databases().keyspace(0)), static_cast<int64_t>(kKeys - *done));
  EXPECT_EQ(Expire(txn(), kKeys), kKeys - *done);
  EXPECT_EQ(CountOf(txn().databases().keyspace(0)), 0);
}

// One key with a damaged row kept all later ones from expiring, with 50 lines a second in the log.
TEST_F(ExpiryTest, AKeyThatCannotBeReadDoesNotHoldUpOthers) {
  limits_.hash_max_listpack_entries = 3;
  limits_.packed_large_max_bytes = 60;  // so each hash has several rows, and the row of its key must be read
  constexpr uint64_t kKeys = 200;
  for (uint64_t i = 0; i < kKeys; ++i) {
    SetFields(0, 20, "h" + std::to_string(i));
  }
  const std::vector<std::string> damaged = {"h3", "h77", "h78", "h199"};
  Begin();
  for (const std::string& name : damaged) {
    const Key key = Keyspace(txn(), 0, limits_).Name(name);
    Lock(key);
    txn().Put(key.row(), "\xff, which no record begins with");
  }
  Finish();
  Commit();
  const Result<uint64_t> done = ExpireDue(txn(), limits_, now_ms(), kKeys, [] { return true; });
  EXPECT_TRUE(done.status().Is(Code::kCorruption));
  EXPECT_EQ(CountOf(txn().databases().keyspace(0)), static_cast<int64_t>(damaged.size()));
  EXPECT_FALSE(store().expiry_start(StorageMode::kSsd).IsDue(now_ms()));
  store().expiry_start(StorageMode::kSsd).RetrySkipped(MonotonicMs() + 59'000);
  EXPECT_FALSE(store().expiry_start(StorageMode::kSsd).IsDue(now_ms()));
  store().expiry_start(StorageMode::kSsd).RetrySkipped(MonotonicMs() + 61'000);
  EXPECT_TRUE(store().expiry_start(StorageMode::kSsd).IsDue(now_ms()));
}

// As a block of such rows that cannot be read: those behind it are tried again, and later ones expire in their time.
TEST_F(ExpiryTest, ADamagedExpiryRowHoldsUpOnlyWhatIsDueBehindIt) {
  PutKey(txn(), Keyspace(txn(), 0, limits_), "before", kFirstMs);
  PutKey(txn(), Keyspace(txn(), 0, limits_), "behind", kLaterMs);
  PutKey(txn(), Keyspace(txn(), 0, limits_), "later", now_ms() + 500);
  const Engine& engine = store().engine();
  const RowKey bound = MakeExpiryRow(kLaterMs, {}, 0);
  const std::string cut_short(bound.row().substr(0, bound.row().size() - 1));
  ASSERT_TRUE(engine.db().Put(rocksdb::WriteOptions(), engine.family(Space::kExpiries), cut_short, "").ok());
  const auto expire = [&](int64_t now_ms) { return ExpireDue(txn(), limits_, now_ms, 10, [] { return true; }); };
  EXPECT_TRUE(expire(now_ms()).status().Is(Code::kCorruption));
  EXPECT_EQ(CountOf(txn().databases().keyspace(0)), 2);
  const Result<uint64_t> done = expire(now_ms() + 1000);
  ASSERT_TRUE(done.ok()) << done.status().text();
  EXPECT_EQ(*done, 1U);
  EXPECT_EQ(CountOf(txn().databases().keyspace(0)), 1);
  ASSERT_TRUE(engine.db().Delete(rocksdb::WriteOptions(), engine.family(Space::kExpiries), cut_short).ok());
  store().expiry_start(StorageMode::kSsd).RetrySkipped(MonotonicMs() + 61'000);
  EXPECT_EQ(Expire(txn(), 10), 1U);
  EXPECT_EQ(CountOf(txn().databases().keyspace(0)), 0);
}

// The rows that a round deleted leave tombstones, with the same millisecond as the remaining rows.
TEST_F(ExpiryTest, ARoundDoesNotReadRowsDeletedByEarlierRounds) {
  constexpr uint64_t kKeys = 1000;
  constexpr uint64_t kMost = 20;
  for (uint64_t i = 0; i < kKeys; ++i) PutKey(txn(), Keyspace(txn(), 0, limits_), "k" + std::to_string(i), kFirstMs);
  const uint64_t before = store().engine().Ticker(rocksdb::NUMBER_ITER_SKIP);
  for (uint64_t round = 0; round < kKeys / kMost; ++round) EXPECT_EQ(Expire(txn(), kMost), kMost);
  EXPECT_LT(store().engine().Ticker(rocksdb::NUMBER_ITER_SKIP) - before, kKeys);
  EXPECT_EQ(CountOf(txn().databases().keyspace(0)), 0);
}

// The same for the fields of one hash.
TEST_F(ExpiryTest, ARoundDoesNotReadFieldsDeletedByEarlierRounds) {
  constexpr uint64_t kFields = 10000;
  txn().BeginCommand(Lane::kSlow, 0, false);
  Keyspace keyspace(txn(), 0, limits_);
  const Key key = keyspace.Name("h");
  Lock(key);
  Hash hash(keyspace, key);
  ASSERT_TRUE(hash.Open().ok());
  for (uint64_t i = 0; i < kFields; ++i) {
    const std::string field = "f" + std::to_string(i);
    ASSERT_TRUE(hash.Set(field, "v").ok());
    ASSERT_TRUE(hash.SetDeadline(field, kFirstMs).ok());
  }
  ASSERT_TRUE(hash.Save().ok());
  Finish();
  Commit();
  const uint64_t before = store().engine().Ticker(rocksdb::NUMBER_ITER_SKIP);
  for (int round = 0; round < 10; ++round) Expire(txn(), 10);
  EXPECT_LT(store().engine().Ticker(rocksdb::NUMBER_ITER_SKIP) - before, 2 * kFields);
  EXPECT_EQ(CountOf(txn().databases().keyspace(0)), 0);
  EXPECT_TRUE(store().expiry_start(StorageMode::kSsd).fields_left().empty());
}

// The row was committed late, or the clock was set back.
TEST_F(ExpiryTest, ALateRowOfTheMillisecondWhereARoundEndedIsFound) {
  constexpr uint64_t kMost = 5;
  for (uint64_t i = 0; i < 4 * kMost; ++i) {
    PutKey(txn(), Keyspace(txn(), 0, limits_), "k" + std::to_string(i), kFirstMs);
    if (i == 2 * kMost) Expire(txn(), kMost);
  }
  for (int round = 0; round < 4; ++round) Expire(txn(), kMost);
  EXPECT_EQ(CountOf(txn().databases().keyspace(0)), 0);
}

// Reading the record of each session that expires would cost a read of the disk.
TEST_F(ExpiryTest, AValueOfOneRowIsDeletedUnread) {
  PutKey(txn(), Keyspace(txn(), 0, limits_), "k", kFirstMs);
  EXPECT_EQ(ExpiryRowOf("k"), kExpiresOneRow);
  txn().BeginCommand(Lane::kSlow, 0, false);
  const Key key = Keyspace(txn(), 0, limits_).Name("k");
  Lock(key);
  txn().Put(key.row(), "\xff, which no record begins with");
  Finish();
  Commit();
  EXPECT_EQ(Expire(txn(), 10), 1u);
  EXPECT_EQ(CountOf(txn().databases().keyspace(0)), 0);
  EXPECT_EQ(ExpiryRowOf("k"), "none");
}

// A commit looks for all of its rows in one walk, while it holds the keys. "e" is one whose value must be read anyway.
TEST_F(ExpiryTest, OfRowsThatWereReadOnlyThoseThatAreStillDueAreDeleted) {
  std::vector<DueRow> due;
  for (const std::string name : {"a", "b", "c", "d", "e", "h"}) {
    if (name != "d" && name != "h") PutKey(txn(), Keyspace(txn(), 0, limits_), name, kFirstMs);
    const Key key = Keyspace(txn(), 0, limits_).Name(name);
    due.push_back({kFirstMs, std::string(key.row().row()), name != "e"});
  }
  std::ranges::sort(due);
  SetFields(0, 1);
  PutKey(txn(), Keyspace(txn(), 0, limits_), "b", kNoExpiry);
  PutKey(txn(), Keyspace(txn(), 0, limits_), "c", kLaterMs);
  SetFields(1, 10000);  // "h" is no longer one row
  const ExpiredRows expired = ExpireRows(txn(), limits_, now_ms(), due, [] { return true; });
  ASSERT_TRUE(expired.status.ok()) << expired.status.text();
  EXPECT_EQ(expired.done, due.size());
  EXPECT_EQ(CountOf(txn().databases().keyspace(0)), 2);  // "b" and "c"
  Begin();
  EXPECT_TRUE(Keyspace(txn(), 0, limits_).Find(Keyspace(txn(), 0, limits_).Name("b"))->exists());
  EXPECT_FALSE(txn().Scan(MakeOwnerRow(0, 0), MakeOwnerRow(UINT64_MAX, 0)).Valid());
  EXPECT_EQ(Expire(txn(), 10), 1u);  // "c"
}

// A value that grows or shrinks keeps its expiry. Rows that were forgotten would be garbage for ever.
TEST_F(ExpiryTest, AnExpiryRowFollowsTheFormOfTheValue) {
  SetFields(0, 1);
  EXPECT_EQ(ExpiryRowOf("h"), kExpiresOneRow);
  SetFields(1, 10000);
  EXPECT_EQ(ExpiryRowOf("h"), "");
  EXPECT_EQ(Expire(txn(), 10), 1u);
  EXPECT_EQ(CountOf(txn().databases().keyspace(0)), 0);
  Begin();
  Cursor owners = txn().Scan(MakeOwnerRow(0, 0), MakeOwnerRow(UINT64_MAX, 0));
  EXPECT_FALSE(owners.Valid());
  SetFields(0, 10000);
  PutKey(txn(), Keyspace(txn(), 0, limits_), "h", kFirstMs);
  EXPECT_EQ(ExpiryRowOf("h"), kExpiresOneRow);
}

// The database has no number, so the deletion can be neither emitted nor replicated.
TEST_F(ExpiryTest, AKeyOfAHiddenDatabaseIsDeletedWithoutEvents) {
  StoreOptions options;
  options.dir = dir() + "/other";
  options.databases = 2;
  options.budget = Budget::Of(64 << 20);
  KeyspaceId hidden;
  {
    const auto store = Store::Open(options);
    ASSERT_TRUE(store.ok());
    Transaction other(**store, 0);
    hidden = other.databases().keyspace(1);
    PutKey(other, Keyspace(other, 1, limits_), "k", kFirstMs);
    PutKey(other, Keyspace(other, 0, limits_), "k", kFirstMs);
  }
  options.databases = 1;
  const auto store = Store::Open(options);
  ASSERT_TRUE(store.ok());
  const InterestMask all = kInterestInReplication | kExpiredEvent | kToKeyevent | kInterestInKeys;
  (*store)->interests().Set(all, all);
  Transaction other(**store, 0);
  EXPECT_EQ(Expire(other, 10), 2u);
  const std::vector<Notification> emitted = other.notifications().Take();
  ASSERT_EQ(emitted.size(), 2u);  // both of database 0
  EXPECT_EQ(emitted[0].channel, "__keyevent@0__:expired");
  EXPECT_EQ(emitted[1].channel, "k");
  other.BeginCommand(Lane::kSlow, now_ms(), false);
  const auto row = other.Get(Key(hidden, "k").row());
  ASSERT_TRUE(row.ok());
  EXPECT_FALSE(*row);
}

// The loader may still be writing the value.
TEST_F(ExpiryTest, DataBeingLoadedExpiresAfterwards) {
  ASSERT_TRUE(store().staging().Begin(txn()).ok());
  const KeyspaceId staged = store().databases().staged(0);
  for (const std::string name : {"a", "b", "c"}) PutKey(txn(), Keyspace::ById(txn(), staged, limits_), name, kFirstMs);
  PutKey(txn(), Keyspace(txn(), 0, limits_), "old", kLaterMs);
  EXPECT_EQ(Expire(txn(), 2), 1u);
  EXPECT_EQ(CountOf(staged), 3);
  ASSERT_TRUE(BeginAlone(txn(), 0).ok());
  txn().on_commit().NoteExpiry(0);
  txn().databases().AdoptStaged();
  Finish();
  Commit();
  EXPECT_EQ(Expire(txn(), 10), 3u);
  EXPECT_EQ(CountOf(staged), 0);
}

}  // namespace
}  // namespace cairn
