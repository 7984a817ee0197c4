// SPDX-License-Identifier: BSD-3-Clause
//
// StoreFixture: a store in a temporary directory, and one transaction on it.
//
//   Begin();                      // starts a command; on the slow lane, so that nothing returns kWouldWait
//   Lock(key);                    // before anything is written
//   ... txn() ...
//   Finish();                     // keeps the command's writes for the tick
//   Commit();                     // ends the tick
//
// Reopen() closes the store and opens it again on the same directory.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "storage/store.h"
#include "storage/transaction.h"
#include "types/keyspace.h"

namespace cairn {

class StoreFixture : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = std::filesystem::temp_directory_path() / "cairn-test-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    dir_ = pattern;
    Open();
  }
  void TearDown() override {
    txn_.reset();
    store_.reset();
    std::filesystem::remove_all(dir_);
  }

  void Reopen() {
    txn_.reset();
    store_.reset();
    Open();
  }
  // Opens another directory, which is removed at the end.
  void Reopen(const std::string& dir) {
    txn_.reset();
    store_.reset();
    std::filesystem::remove_all(std::exchange(dir_, dir));
    Open();
  }

  // These take effect at the next Reopen.
  void KeepLogs(bool keeps) { keeps_logs_ = keeps; }
  void ReadPastThePageCache(bool past) { direct_io_ = past; }
  void SetModes(std::vector<StorageMode> modes) { modes_ = std::move(modes); }

  Store& store() { return *store_; }
  const std::string& dir() const { return dir_; }
  Transaction& txn() { return *txn_; }
  static constexpr int64_t now_ms() { return 1'000'000; }

  void Begin(Lane lane = Lane::kSlow) { txn_->BeginCommand(lane, now_ms(), true); }
  void Lock(const Key& key) {
    const uint32_t stripe = key.stripe();
    ASSERT_TRUE(txn_->Lock({&stripe, 1}).ok());
  }
  void Finish() { ASSERT_TRUE(txn_->FinishCommand().ok()); }
  void Commit() { ASSERT_TRUE(txn_->Commit(CommitMode::kWait).ok()); }

 private:
  void Open() {
    StoreOptions options;
    options.dir = dir_;
    options.budget = Budget::Of(64 << 20);
    options.keeps_logs = keeps_logs_;
    options.direct_io = direct_io_;
    options.modes = modes_;
    auto store = Store::Open(options);
    ASSERT_TRUE(store.ok()) << store.status().text();
    store_ = std::move(*store);
    txn_ = std::make_unique<Transaction>(*store_, 0);
  }

  bool keeps_logs_ = true;
  bool direct_io_ = false;
  std::vector<StorageMode> modes_;
  std::string dir_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<Transaction> txn_;
};

}  // namespace cairn
