// SPDX-License-Identifier: BSD-3-Clause
//
// Restorer: stores values of DUMP payloads that the reader accepted, and saves them again.
//
// Thread: one.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "base/clock.h"
#include "rdb/rdb_writer.h"
#include "storage/store.h"
#include "storage/transaction.h"
#include "tests/fuzz/rdb_contents.h"
#include "types/keyspace.h"
#include "types/rdb_value.h"

namespace cairn {

// A store in a temporary directory.
class TemporaryStore {
 public:
  TemporaryStore() {
    dir_ = std::filesystem::temp_directory_path() / "cairn-fuzz-XXXXXX";
    ASSERT(mkdtemp(dir_.data()) != nullptr, "a temporary directory can be made");
    StoreOptions options;
    options.dir = dir_;
    options.budget = Budget::Of(64 << 20);
    store_ = std::move(*Store::Open(options));
    txn_ = std::make_unique<Transaction>(*store_, 0);
  }
  ~TemporaryStore() {
    txn_.reset();
    store_.reset();
    std::filesystem::remove_all(dir_);
  }
  TemporaryStore(const TemporaryStore&) = delete;
  TemporaryStore& operator=(const TemporaryStore&) = delete;

  Store& store() { return *store_; }
  Transaction& txn() { return *txn_; }

 private:
  std::string dir_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<Transaction> txn_;
};

class Restorer {
 public:
  static constexpr uint64_t kMostTextBytes = 16 << 20;

  // What is wrong with a value that the reader accepted; empty: nothing.
  std::string ErrorOf(const RdbValue& value) {
    const Result<std::string> saved = SavedAgain(value);
    if (!saved.ok()) return "cannot be stored: " + std::string(saved.status().text());
    if (saved->empty()) return "leaves no key";
    RdbReader again(*saved, kMostTextBytes);
    const Result<RdbValue> back = ReadRdbValue(again);
    if (!back.ok()) return "cannot be read again: " + std::string(back.status().text());
    if (ContentsOf(*back) != ContentsOf(value)) return "comes back as another value";
    return {};
  }

 private:
  static constexpr uint64_t kCommitEvery = 200;

  Result<std::string> SavedAgain(const RdbValue& value) {
    Transaction& txn = store_.txn();
    txn.BeginCommand(Lane::kSlow, WallMs(), true);
    Keyspace keys(txn, 0, limits_);
    const Key key = keys.Name("key");
    const uint32_t stripe = key.stripe();
    TRY(txn.Lock({&stripe, 1}));
    TRY(LoadRdbValue(keys, key, TRY(keys.Find(key)), value));
    std::string saved;
    KeyEntry stored = TRY(keys.Find(key));
    if (stored.exists()) {
      RdbWriter writer(saved);
      TRY(SaveRdbValue(keys, key, std::move(stored), writer));
    }
    TRY(txn.FinishCommand());
    if (++restored_ % kCommitEvery == 0) TRY(txn.Commit(CommitMode::kWait));
    return saved;
  }

  Limits limits_;
  TemporaryStore store_;
  uint64_t restored_ = 0;
};

}  // namespace cairn
