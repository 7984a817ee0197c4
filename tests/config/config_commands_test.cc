// SPDX-License-Identifier: BSD-3-Clause
//
// The lane of CONFIG GET.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "acl/users.h"
#include "command/dispatcher_fixture.h"
#include "command/parts.h"
#include "config/config.h"
#include "config/families.h"

namespace cairn {
namespace {

class ConfigCommandsTest : public DispatcherFixture {
 protected:
  ConfigCommandsTest() { Bind(table_, ConfigCommands(), parts_); }

  // What becomes of CONFIG GET with these arguments on this lane.
  Verdict Get(const std::vector<std::string>& names, Lane lane) {
    std::vector<std::string> words = {"CONFIG", "GET"};
    words.insert(words.end(), names.begin(), names.end());
    reply_.clear();
    return Dispatch(session_, words, lane, reply_).verdict;
  }

  Config config_;
  const std::atomic<int64_t> pubsub_default_{1};
  Users users_{Catalogue({}, {}), pubsub_default_};
  const std::string no_file_;
  const ConfigParts parts_{config_, users_, no_file_, [] {}};
  std::string reply_;
};

// A million arguments take a second or more, in which an I/O thread would serve no other client.
TEST_F(ConfigCommandsTest, ManyOrLongArgumentsLeaveTheFastLane) {
  EXPECT_EQ(Get({"hz", "nosuch", "max*"}, Lane::kFast), Verdict::kDone);
  const std::vector<std::string> many(100, "hz");
  EXPECT_EQ(Get(many, Lane::kFast), Verdict::kWouldWait);
  EXPECT_EQ(Get(many, Lane::kSlow), Verdict::kDone);
  EXPECT_EQ(reply_, "*2\r\n$2\r\nhz\r\n$2\r\n10\r\n");
  EXPECT_EQ(Get({std::string(5000, '*')}, Lane::kFast), Verdict::kWouldWait);
}

}  // namespace
}  // namespace cairn
