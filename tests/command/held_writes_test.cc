// SPDX-License-Identifier: BSD-3-Clause
//
// A pause of writes that begins while a request is on its way. A master that hands over its slots announces the offset
// of its stream during the pause, so a write that was admitted before must not run after that.
#include <gtest/gtest.h>

#include <string>

#include "command/dispatcher_fixture.h"

namespace cairn {
namespace {

class HeldWrites : public DispatcherFixture {
 protected:
  // Executes a request that has passed the check for pauses, and returns its reply, or what becomes of it.
  std::string Execute(const std::string& line, Lane lane, bool rerun = false) {
    return ExecuteFor(session_, line, lane, rerun);
  }
  std::string ExecuteFor(Session& session, const std::string& line, Lane lane, bool rerun) {
    std::string out;
    const Outcome outcome = Dispatch(session, Split(line), lane, out, rerun);
    switch (outcome.verdict) {
      case Verdict::kDone: return out;
      case Verdict::kWouldWait: return "would wait";
      case Verdict::kParked: return "parked";
      case Verdict::kHeldBack: return out.empty() ? "held back" : "held back, but replied " + out;
    }
    return "?";
  }

  void Pause(bool on) { dispatcher_.conditions().Set(kPausesExpiry, on); }

  Session other_{2};
};

TEST_F(HeldWrites, AWriteThatMeetsAPauseHasNoEffectAndRunsLater) {
  for (const Lane lane : {Lane::kFast, Lane::kSlow}) {
    Pause(true);
    EXPECT_EQ("held back", Execute("INCR n", lane));
    EXPECT_EQ("$-1\r\n", Execute("GET n", lane));
    Pause(false);
    EXPECT_EQ(":1\r\n", Execute("INCR n", lane));
    EXPECT_EQ(":1\r\n", Execute("DEL n", lane));
  }
}

TEST_F(HeldWrites, ATransactionKeepsItsQueue) {
  EXPECT_EQ("+OK\r\n", Execute("MULTI", Lane::kFast));
  EXPECT_EQ("+QUEUED\r\n", Execute("INCR n", Lane::kFast));
  EXPECT_EQ("+QUEUED\r\n", Execute("INCR n", Lane::kFast));
  Pause(true);
  EXPECT_EQ("held back", Execute("EXEC", Lane::kFast));
  Pause(false);
  EXPECT_EQ("*2\r\n:1\r\n:2\r\n", Execute("EXEC", Lane::kFast));
}

// CLIENT PAUSE WRITE lets commands run that change nothing.
TEST_F(HeldWrites, ACommandThatChangesNothingIsNotHeldBack) {
  Pause(true);
  EXPECT_EQ(":0\r\n", Execute("DEL n", Lane::kFast));
  EXPECT_EQ("$-1\r\n", Execute("LPOP n", Lane::kFast));
}

// A client that waits in BLPOP was woken just before the pause.
TEST_F(HeldWrites, ABlockedClientStaysBlocked) {
  EXPECT_EQ("parked", Execute("BLPOP l 0", Lane::kFast));
  EXPECT_EQ(":1\r\n", ExecuteFor(other_, "RPUSH l x", Lane::kFast, false));
  Pause(true);
  EXPECT_EQ("parked", Execute("BLPOP l 0", Lane::kFast, true));
  Pause(false);
  EXPECT_EQ("*2\r\n$1\r\nl\r\n$1\r\nx\r\n", Execute("BLPOP l 0", Lane::kFast, true));
}

}  // namespace
}  // namespace cairn
