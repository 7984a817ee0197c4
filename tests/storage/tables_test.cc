// SPDX-License-Identifier: BSD-3-Clause
//
// Reads of a store with many tables after a restart: a read that may not wait returns the row or kWouldWait, and never
// an empty row.
#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string>

#include "base/random.h"
#include "store_fixture.h"

namespace cairn {
namespace {

constexpr int kRows = 12000;

class TablesTest : public StoreFixture {
 protected:
  static std::string NameOf(int i) { return "key:" + std::to_string(i); }

  // Rows of 12 KB, too small for blob files, that do not compress: RocksDB opens about sixteen tables by itself, so
  // there must be more.
  void WriteRows() {
    Random random(3);
    std::string value(12 * 1024, '\0');
    for (int i = 0; i < kRows; ++i) {
      for (size_t at = 0; at < value.size(); at += sizeof(uint64_t)) {
        const uint64_t bits = random.Next();
        std::memcpy(value.data() + at, &bits, sizeof bits);
      }
      Begin();
      const Key key(txn().databases().keyspace(0), NameOf(i));
      Lock(key);
      txn().Put(key.row(), value);
      txn().databases().AddKeys(txn().databases().keyspace(0), 1);
      Finish();
      if (i % 64 == 0) Commit();
    }
    Commit();
  }

  int CountTables() {
    int tables = 0;
    for (int level = 0; level < 7; ++level) {
      const std::string name = "rocksdb.num-files-at-level" + std::to_string(level);
      tables += std::stoi(store().engine().TextProperty(name, Space::kKeys));
    }
    return tables;
  }

  // 1: found, 0: absent, -1: unknown without waiting.
  int Look(const std::string& name) {
    Begin(Lane::kFast);
    const Key key(txn().databases().keyspace(0), name);
    Result<RowRef> row = txn().Get(key.row());
    int seen = -1;
    if (row.ok()) seen = *row ? 1 : 0;
    EXPECT_TRUE(seen != 1 || row->bytes().size() == 12u * 1024) << name;
    EXPECT_TRUE(row.ok() || row.status().Is(Code::kWouldWait)) << row.status().text();
    row = RowRef();
    txn().AbandonCommand();
    txn().Discard();
    return seen;
  }
};

TEST_F(TablesTest, AreAllReadableAfterARestart) {
  WriteRows();
  ASSERT_TRUE(store().compactor().Compact(ScopeOfAll()).ok());
  ASSERT_GT(CountTables(), 18);  // the number depends on the timing of compactions
  Reopen();
  for (int i = 0; i < kRows; i += 7) {
    ASSERT_NE(Look(NameOf(i)), 0) << i;
    ASSERT_NE(Look("absent:" + std::to_string(i)), 1) << i;
  }
}

TEST_F(TablesTest, ARowThatIsNotInMemoryIsNotReportedAbsent) {
  const std::string probe = dir() + "/probe";
  const int fd = open(probe.c_str(), O_CREAT | O_RDWR | O_DIRECT, 0600);
  if (fd < 0) GTEST_SKIP() << "this file system has no direct I/O";
  close(fd);
  std::filesystem::remove(probe);
  WriteRows();
  ASSERT_TRUE(store().compactor().Compact(ScopeOfAll()).ok());
  ReadPastThePageCache(true);
  Reopen();
  int refused = 0;
  for (int i = 0; i < kRows; i += 7) {
    const int seen = Look(NameOf(i));
    ASSERT_NE(seen, 0) << i;
    refused += seen < 0;
  }
  EXPECT_GT(refused, kRows / 7 / 2);  // no block was read before
}

}  // namespace
}  // namespace cairn
