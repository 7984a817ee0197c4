// SPDX-License-Identifier: BSD-3-Clause
#include "config/database_options.h"

#include <gtest/gtest.h>

#include "base/words.h"

namespace cairn {
namespace {

using Lines = std::vector<std::string>;

// The kept lines after `line` was added to `current`, or the error.
Lines Add(const Lines& current, const std::string& line) {
  auto kept = kDatabaseSyntax.parse(*SplitWords(line), current);
  return kept.ok() ? *kept : Lines{"error: " + std::string(kept.status().text())};
}

TEST(DatabaseOptions, LinesOfOneDatabaseAddUp) {
  Lines lines = Add({}, "3 storage-mode memory");
  lines = Add(lines, "1 durability always storage-mode hdd");
  lines = Add(lines, "3 durability none");
  EXPECT_EQ(lines, (Lines{"1 storage-mode hdd durability always", "3 storage-mode memory durability none"}));
  lines = Add(lines, "1 storage-mode ssd");
  EXPECT_EQ(lines[0], "1 durability always");
  EXPECT_EQ(Add(lines, "\"\""), Lines());
}

TEST(DatabaseOptions, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(Add({}, "x storage-mode ssd")[0], "error: the first word must be a database");
  EXPECT_EQ(Add({}, "-1 storage-mode ssd")[0], "error: the first word must be a database");
  EXPECT_EQ(Add({}, "0 storage-mode")[0], "error: an option has no value");
  EXPECT_EQ(Add({}, "0 storage-mode tape")[0], "error: storage-mode must be one of the following: ssd, hdd, memory");
  EXPECT_EQ(Add({}, "0 durability often")[0], "error: durability must be one of the following: always, everysec, none");
  EXPECT_EQ(Add({}, "0 colour red")[0], "error: unknown option 'colour' of a database");
}

TEST(DatabaseOptions, AreReadByDatabase) {
  const auto options = DatabaseOptionsOf(Lines{"1 storage-mode memory", "2 durability everysec"}, 3);
  ASSERT_TRUE(options.ok());
  EXPECT_EQ((*options)[0], DatabaseOptions());
  EXPECT_EQ((*options)[1].mode, StorageMode::kMemory);
  EXPECT_EQ((*options)[2].durability, AppendFsync::kEverySec);
  EXPECT_EQ(DatabaseOptionsOf(Lines{"3 durability none"}, 3).status().text(), "database 3 is beyond `databases`");
}

}  // namespace
}  // namespace cairn
