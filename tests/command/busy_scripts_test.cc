// SPDX-License-Identifier: BSD-3-Clause
//
// BUSY is the reply to a new request. A blocked client that is woken meanwhile is served, or stays blocked.
#include <gtest/gtest.h>

#include <string>

#include "command/dispatcher_fixture.h"

namespace cairn {
namespace {

class BusyServer : public DispatcherFixture {
 protected:
  // The reply to a request, or to a blocked one that runs again; "blocked" if there is none.
  std::string Execute(Session& session, const std::string& line, bool rerun = false) {
    std::string out;
    const Outcome outcome = Dispatch(session, Split(line), Lane::kFast, out, rerun);
    return outcome.verdict == Verdict::kParked ? "blocked" : out;
  }

  Session other_{2};
};

TEST_F(BusyServer, ABlockedClientIsNotRefused) {
  EXPECT_EQ("blocked", Execute(session_, "BLPOP l 0"));
  dispatcher_.busy_scripts().Begin(false);
  EXPECT_EQ("-" + std::string(BusyScripts::kByScript) + "\r\n", Execute(other_, "RPUSH l x"));
  EXPECT_EQ("blocked", Execute(session_, "BLPOP l 0", true));
  dispatcher_.busy_scripts().End(false);
  EXPECT_EQ(":1\r\n", Execute(other_, "RPUSH l x"));
  dispatcher_.busy_scripts().Begin(true);
  EXPECT_EQ("*2\r\n$1\r\nl\r\n$1\r\nx\r\n", Execute(session_, "BLPOP l 0", true));
  dispatcher_.busy_scripts().End(true);
}

}  // namespace
}  // namespace cairn
