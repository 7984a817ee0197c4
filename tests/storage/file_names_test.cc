// SPDX-License-Identifier: BSD-3-Clause
//
// Which names in the data directory belong to RocksDB.
#include "storage/file_names.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(FileNamesTest, NamesOfRocksDbAreRecognized) {
  for (const char* name :
       {"CURRENT", "LOCK", "IDENTITY", "LOG", "LOG.old.1700000000", "MANIFEST-000004", "OPTIONS-000007", "000012.sst",
        "1.log", "000003.blob", "000009.dbtmp", "archive", "synced-files"}) {
    EXPECT_TRUE(IsStoreFileName(name)) << name;
  }
}

TEST(FileNamesTest, OthersAreNot) {
  for (const char* name : {"", "dump.rdb", "cairn.log", "users.acl", "current", "a12.sst", ".log", "12.rdb", "12",
                           "000012.sst.rdb", "LOCKED"}) {
    EXPECT_FALSE(IsStoreFileName(name)) << name;
  }
}

}  // namespace
}  // namespace cairn
