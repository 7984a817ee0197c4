// SPDX-License-Identifier: BSD-3-Clause
#include "embedded/database.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "embedded/upkeep.h"
#include "embedded/workers.h"
#include "storage/disk_reserve.h"
#include "storage/format.h"
#include "storage/store.h"
#include "storage/store_snapshot.h"
#include "types/keyspace.h"
#include "types/string.h"

namespace cairn {
namespace {

constexpr int kDb = 0;
constexpr uint64_t kLeastMemoryBytes = 16ull << 20;
constexpr uint64_t kMostTextBytes = (uint64_t{1} << 31) - 1;  // two of them fit in a row of RocksDB
constexpr size_t kKeysPerStep = 256;
constexpr size_t kBytesPerStep = 4 << 20;  // of values; the last one may exceed it

EmbeddedError ToError(const Status& status) {
  using Kind = EmbeddedError::Code;
  Kind kind = Kind::kIo;
  if (status.ok()) return {};
  if (status.Is(Code::kCorruption)) kind = Kind::kCorruption;
  if (status.Is(Code::kReply)) kind = status.text() == kWrongType ? Kind::kWrongType : Kind::kInvalid;
  return {kind, std::string(status.text())};
}

// A server's division keeps memory for clients and ranks, which a program of strings does not need.
Budget Divide(uint64_t total) {
  const uint64_t own = std::min<uint64_t>(total / 3, (16ull << 20) + total / 10);  // code, stacks, compaction buffers
  const uint64_t rest = total - own;
  Budget budget = Budget::Of(total);
  budget.key_cache = rest * 65 / 100;
  budget.block_cache = rest * 33 / 100;
  budget.memtables = budget.block_cache / 2;
  budget.rank_indexes = rest * 2 / 100;
  budget.rank_index_extra = 0;
  return budget;
}

// The replication stream of the directory does not have this program's changes. A server that continued it would differ
// from its primary or from its replicas.
Status ForgetHistory(Store& store) {
  if (TRY(store.ReadNote(kHistoryRow)).empty()) return Ok();
  const auto txn = std::make_unique<Transaction>(store);
  txn->on_commit().PutNote(kHistoryRow, "");
  return txn->Commit(CommitMode::kWait);
}

EmbeddedError Invalid(std::string_view text) { return {EmbeddedError::Code::kInvalid, std::string(text)}; }
EmbeddedError NotFound() { return {EmbeddedError::Code::kNotFound, "no such key"}; }

// Makes a transaction read from a snapshot until the end of the block, also if a visitor throws.
class SnapshotReads {
 public:
  SnapshotReads(Transaction& txn, const StoreSnapshot& snapshot) : txn_(txn) { txn.ReadFrom(&snapshot); }
  ~SnapshotReads() {
    txn_.AbandonCommand();
    txn_.ReadFrom(nullptr);
  }
  SnapshotReads(const SnapshotReads&) = delete;
  SnapshotReads& operator=(const SnapshotReads&) = delete;

 private:
  Transaction& txn_;
};

}  // namespace

class EmbeddedDatabase::State {
 public:
  State(std::unique_ptr<Store> opened, Durability durability)
      : store(std::move(opened)), workers(*store), upkeep(*store, limits, durability == Durability::kEverySecond) {}

  // Runs `body` on a borrowed transaction as one command that holds the key's lock, and commits it.
  template <typename Body>
  Status Write(std::string_view name, Body body) {
    if (!store->recovery().writable()) return Status::Io(store->recovery().write_error());
    Workers::Borrowed borrowed(workers);
    Transaction& txn = *borrowed;
    txn.BeginCommand(Lane::kSlow, WallMs(), false);
    Keyspace keys(txn, kDb, limits);
    const Key key = keys.Name(name);
    const uint32_t stripe = key.stripe();
    TRY(txn.Lock({&stripe, 1}));
    TRY(body(keys, key));
    TRY(txn.FinishCommand());
    return txn.Commit(CommitMode::kWait);
  }

  Result<bool> Read(Transaction& txn, std::string_view name, std::string& value) {
    Keyspace keys(txn, kDb, limits);
    const Key key = keys.Name(name);
    const KeyEntry entry = TRY(keys.FindTyped(key, Type::kString));
    if (!entry.exists()) return false;
    const StringText text = TRY(ReadText(keys, key, entry));
    value.assign(text.view());
    return true;
  }

  // Without a lock if the row is in memory and no commit interferes, else with the key's lock, which may wait.
  Result<bool> Read(std::string_view name, std::string& value) {
    Workers::Borrowed borrowed(workers);
    Transaction& txn = *borrowed;
    const int64_t now_ms = WallMs();
    txn.BeginCommand(Lane::kFast, now_ms, true);
    Result<bool> found = Read(txn, name, value);
    if (found.ok() && txn.FinishCommand().ok()) return found;
    txn.AbandonCommand();
    txn.BeginCommand(Lane::kSlow, now_ms, true);
    const uint32_t stripe = StripeOf(name);
    TRY(txn.Lock({&stripe, 1}));
    found = Read(txn, name, value);
    TRY(txn.FinishCommand());
    return found;
  }

  // Reads up to kKeysPerStep strings, or kBytesPerStep bytes of them, from `position` on, which it moves.
  Status ReadStep(Transaction& txn, uint64_t& position, std::vector<std::pair<std::string, std::string>>& step) {
    txn.BeginCommand(Lane::kSlow, WallMs(), false);
    Keyspace keys = Keyspace::ById(txn, txn.databases().keyspace(kDb), limits);
    Status failed;
    size_t bytes = 0;
    position = TRY(keys.Scan(position, [&](std::string_view name, const Record& record) {
      if (record.header.type != Type::kString) return true;
      failed = AddTo(step, keys, name, record);
      if (failed.ok()) bytes += step.back().second.size();
      return failed.ok() && step.size() < kKeysPerStep && bytes < kBytesPerStep;
    }));
    TRY(std::move(failed));
    return txn.FinishCommand();
  }

  const Limits limits;
  const std::unique_ptr<Store> store;
  Workers workers;
  Upkeep upkeep;

 private:
  static Status AddTo(std::vector<std::pair<std::string, std::string>>& step, Keyspace& keys, std::string_view name,
                      const Record& record) {
    const KeyEntry entry = TRY(Keyspace::EntryOf(record));
    const StringText text = TRY(ReadText(keys, keys.Name(name), entry));
    step.emplace_back(name, text.view());
    return Ok();
  }
};

EmbeddedDatabase::EmbeddedDatabase(std::unique_ptr<State> state) : state_(std::move(state)) {}

EmbeddedDatabase::~EmbeddedDatabase() { static_cast<void>(Close()); }

EmbeddedError EmbeddedDatabase::Open(const EmbeddedOptions& options, std::unique_ptr<EmbeddedDatabase>& database) {
  if (options.memory_bytes < kLeastMemoryBytes) return Invalid("memory_bytes: at least 16 MB");
  if (mkdir(options.directory.c_str(), 0750) != 0 && errno != EEXIST) {
    return {EmbeddedError::Code::kIo, options.directory + ": " + std::strerror(errno)};
  }
  StoreOptions store_options;
  store_options.dir = options.directory;
  store_options.budget = Divide(options.memory_bytes);
  store_options.most_open_tables = options.max_open_tables;
  auto store = Store::Open(store_options);
  if (!store.ok()) return ToError(store.status());
  if (options.durability == Durability::kAlways) {
    const Status synced = (*store)->log().SetSyncsCommits(true);
    if (!synced.ok()) return ToError(synced);
  }
  if (const Status forgotten = ForgetHistory(**store); !forgotten.ok()) return ToError(forgotten);
  database.reset(new EmbeddedDatabase(std::make_unique<State>(std::move(*store), options.durability)));
  return {};
}

EmbeddedError EmbeddedDatabase::Put(std::string_view key, std::string_view value, std::chrono::milliseconds ttl) {
  if (state_ == nullptr) return Invalid("the database is closed");
  if (key.size() > kMostTextBytes || value.size() > kMostTextBytes) return Invalid("a key or value of 2 GB or more");
  const int64_t now_ms = WallMs();
  if (ttl.count() < 0 || ttl.count() > INT64_MAX - now_ms) return Invalid("ttl: out of range");
  const int64_t expire_ms = ttl == kForever ? kNoExpiry : now_ms + ttl.count();
  return ToError(state_->Write(key, [&](Keyspace& keys, const Key& name) -> Status {
    const KeyEntry entry = TRY(keys.Find(name, Access::kPeek));
    return WriteText(keys, name, entry, value, expire_ms);
  }));
}

EmbeddedError EmbeddedDatabase::Get(std::string_view key, std::string& value) {
  if (state_ == nullptr) return Invalid("the database is closed");
  const Result<bool> found = state_->Read(key, value);
  if (!found.ok()) return ToError(found.status());
  return *found ? EmbeddedError() : NotFound();
}

EmbeddedError EmbeddedDatabase::Delete(std::string_view key) {
  if (state_ == nullptr) return Invalid("the database is closed");
  bool existed = false;
  const Status status = state_->Write(key, [&](Keyspace& keys, const Key& name) -> Status {
    const KeyEntry entry = TRY(keys.Find(name, Access::kPeek));
    existed = entry.exists();
    return keys.Remove(name, entry);
  });
  if (!status.ok()) return ToError(status);
  return existed ? EmbeddedError() : NotFound();
}

EmbeddedError EmbeddedDatabase::ForEach(const Visitor& visit) {
  if (state_ == nullptr) return Invalid("the database is closed");
  const auto snapshot = StoreSnapshot::Take(*state_->store);
  if (!snapshot.ok()) return ToError(snapshot.status());
  Workers::Borrowed borrowed(state_->workers);
  const SnapshotReads reads(*borrowed, **snapshot);
  std::vector<std::pair<std::string, std::string>> step;
  uint64_t position = 0;
  do {
    step.clear();
    EmbeddedError error = ToError(state_->ReadStep(*borrowed, position, step));
    if (error) return error;
    for (const auto& [key, value] : step) {
      if (!visit(key, value)) return {};
    }
  } while (position != 0);
  return {};
}

uint64_t EmbeddedDatabase::Count() {
  if (state_ == nullptr) return 0;
  Workers::Borrowed borrowed(state_->workers);
  Transaction& txn = *borrowed;
  txn.BeginCommand(Lane::kSlow, WallMs(), false);
  return static_cast<uint64_t>(std::max<int64_t>(0, Keyspace(txn, kDb, state_->limits).Count()));
}

EmbeddedError EmbeddedDatabase::Sync() {
  if (state_ == nullptr) return Invalid("the database is closed");
  return ToError(state_->store->log().Sync());
}

EmbeddedError EmbeddedDatabase::Close() {
  if (state_ == nullptr) return {};
  const std::unique_ptr<State> state = std::move(state_);
  state->upkeep.Stop();
  return ToError(state->store->engine().Flush());
}

}  // namespace cairn
