// SPDX-License-Identifier: BSD-3-Clause
//
// A database that has reached its limit refuses commands that may add data to it, also those of clients that have
// selected another one. Database 1 is in memory, the others are on disk.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "command/dispatcher_fixture.h"

namespace cairn {
namespace {

constexpr std::string_view kQueued = "+QUEUED\r\n";

class DataLimits : public DispatcherFixture {
 protected:
  void SetUp() override {
    SetModes({StorageMode::kSsd, StorageMode::kMemory});
    DispatcherFixture::SetUp();
  }

  std::string Execute(const std::string& line) {
    std::string out;
    Dispatch(session_, Split(line), Lane::kSlow, out);
    return out;
  }
  bool IsRefused(const std::string& line) { return Execute(line).starts_with("-OOM "); }
  void Fill(Condition condition) { dispatcher_.conditions().Set(condition, true); }
};

TEST_F(DataLimits, ACopyAndAMoveAreRefusedByTheLimitOfTheirTarget) {
  EXPECT_EQ("+OK\r\n", Execute("SET k x"));
  Fill(kFullMemory);
  EXPECT_TRUE(IsRefused("COPY k copy DB 1"));
  EXPECT_TRUE(IsRefused("COPY k copy REPLACE db 1"));
  EXPECT_TRUE(IsRefused("MOVE k 1"));
  EXPECT_EQ(":1\r\n", Execute("COPY k copy"));
  EXPECT_EQ(":1\r\n", Execute("COPY k copy DB 2"));
  EXPECT_EQ(":1\r\n", Execute("MOVE copy 3"));
}

TEST_F(DataLimits, ACopyIsNotRefusedByTheLimitOfItsSource) {
  EXPECT_EQ("+OK\r\n", Execute("SELECT 1"));
  EXPECT_EQ("+OK\r\n", Execute("SET k x"));
  Fill(kFullMemory);
  EXPECT_TRUE(IsRefused("COPY k copy"));
  EXPECT_EQ(":1\r\n", Execute("COPY k copy DB 0"));
  EXPECT_EQ(":1\r\n", Execute("MOVE k 0"));
}

// The rows of both databases are on the same disk.
TEST_F(DataLimits, AMoveBetweenDatabasesOnDiskAddsNoData) {
  EXPECT_EQ("+OK\r\n", Execute("SET k x"));
  Fill(kFullData);
  EXPECT_TRUE(IsRefused("COPY k copy DB 2"));
  EXPECT_EQ(":1\r\n", Execute("MOVE k 2"));
}

TEST_F(DataLimits, AQueuedCommandIsRefusedByTheLimitOfTheDatabaseThatTheQueueSelects) {
  Fill(kFullMemory);
  EXPECT_EQ("+OK\r\n", Execute("MULTI"));
  EXPECT_EQ(kQueued, Execute("SET k x"));
  EXPECT_EQ(kQueued, Execute("SELECT 1"));
  EXPECT_EQ(kQueued, Execute("DEL k"));
  EXPECT_TRUE(IsRefused("SET k x"));
  EXPECT_TRUE(Execute("EXEC").starts_with("-EXECABORT "));
}

TEST_F(DataLimits, ExecIsRefusedByTheLimitsOfTheDatabasesThatTheQueueWritesTo) {
  for (const char* const line : {"SELECT 1", "SELECT 2"}) {
    dispatcher_.conditions().Set(kFullMemory, false);
    EXPECT_EQ("+OK\r\n", Execute("MULTI"));
    EXPECT_EQ(kQueued, Execute(line));
    EXPECT_EQ(kQueued, Execute("SET k x"));
    Fill(kFullMemory);
    EXPECT_EQ(Execute("EXEC").starts_with("-EXECABORT Transaction discarded because of: OOM "), line[7] == '1');
  }
}

TEST_F(DataLimits, AQueueIsNotRefusedByTheLimitOfADatabaseThatItLeaves) {
  EXPECT_EQ("+OK\r\n", Execute("SELECT 1"));
  Fill(kFullMemory);
  EXPECT_EQ("+OK\r\n", Execute("MULTI"));
  EXPECT_EQ(kQueued, Execute("SELECT 0"));
  EXPECT_EQ(kQueued, Execute("SELECT nowhere"));
  EXPECT_EQ(kQueued, Execute("SET k x"));
  EXPECT_TRUE(Execute("EXEC").ends_with("+OK\r\n"));
}

}  // namespace
}  // namespace cairn
