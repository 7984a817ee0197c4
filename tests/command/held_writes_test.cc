// SPDX-License-Identifier: BSD-3-Clause
//
// A pause of writes that begins while a request is on its way. A master that hands over its slots announces the offset
// of its stream during the pause, so a write that was admitted before must not run after that. The source of a
// migration likewise holds back the writes to its slots when it sends the end of its log.
#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "base/hash.h"
#include "command/dispatcher_fixture.h"
#include "command/parts.h"
#include "script/families.h"
#include "script/scripting.h"
#include "topology/slot_routes.h"

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

// Scripts that run while another thread begins to hold writes back.
class HeldScripts : public HeldWrites {
 protected:
  HeldScripts() { Bind(table_, EvalCommands(), scripting_); }

  // Scripting calls it before each command of a script, to learn whether a client MONITORs; false: none does.
  virtual bool OnCall() {
    if (begins_at_call_) Pause(true);
    return false;
  }

  static constexpr char kReadAndSet[] = "EVAL redis.call('exists','k');redis.call('set','k','v') 0";
  bool begins_at_call_ = false;
  const std::atomic<int64_t> busy_after_ms_{0};
  Scripting scripting_{busy_after_ms_, dispatcher_.busy_scripts(), dispatcher_.conditions(),
                       [this] { return OnCall(); }, 16 << 20};
};

// The thread that began the pause had found no lock to wait for, so it did not wait for the script.
TEST_F(HeldScripts, AScriptThatLocksItsFirstKeyDuringAPauseIsHeldBack) {
  begins_at_call_ = true;
  EXPECT_EQ("would wait", Execute(kReadAndSet, Lane::kFast));
  Pause(false);
  EXPECT_EQ("held back", Execute(kReadAndSet, Lane::kSlow));
  EXPECT_EQ("$-1\r\n", Execute("GET k", Lane::kSlow));
  begins_at_call_ = false;
  Pause(false);
  EXPECT_EQ("$-1\r\n", Execute(kReadAndSet, Lane::kFast));
  EXPECT_EQ("$1\r\nv\r\n", Execute("GET k", Lane::kFast));
}

// The thread that began the pause waits for the lock of the declared key.
TEST_F(HeldScripts, AScriptThatHasLockedAKeyBeforeThePauseCompletes) {
  begins_at_call_ = true;
  EXPECT_EQ("$-1\r\n", Execute("EVAL redis.call('exists','k');redis.call('set','k','v') 1 other", Lane::kFast));
  EXPECT_EQ("$1\r\nv\r\n", Execute("GET k", Lane::kFast));
}

// CLIENT PAUSE WRITE lets scripts run that change nothing, whether they call write commands or not.
TEST_F(HeldScripts, AScriptThatChangesNothingRunsDuringAPause) {
  Pause(true);
  EXPECT_EQ("$-1\r\n", Execute("EVAL redis.call('del','k') 0", Lane::kFast));
  Pause(false);
  begins_at_call_ = true;
  EXPECT_EQ("$-1\r\n", Execute("EVAL redis.call('exists','k') 0", Lane::kFast));
}

// On a node of a cluster: the slot of the key k is about to move to another node.
class HeldSlots : public HeldScripts {
 protected:
  void SetUp() override {
    HeldScripts::SetUp();
    Node node(*NodeId::Parse(std::string(NodeId::kSize, 'a')));
    node.flags.Add(NodeFlags::kMaster);
    Topology topology(node);
    topology.AssignSlot(KeySlot("k"), node.id());
    routes_.Publish(topology, ClusterState::kOk, EndpointType::kIp);
    slots_.Add(KeySlot("k"));
    dispatcher_.set_slot_gate(&gate_);
    scripting_.set_slot_gate(&gate_);
  }
  bool OnCall() override {
    if (begins_at_call_) routes_.Hold(slots_);
    return false;
  }

  // Executes these commands in a transaction.
  std::string ExecuteQueue(const std::vector<std::string>& lines) {
    EXPECT_EQ("+OK\r\n", Execute("MULTI", Lane::kFast));
    for (const std::string& line : lines) EXPECT_EQ("+QUEUED\r\n", Execute(line, Lane::kFast));
    return Execute("EXEC", Lane::kFast);
  }

  SlotSet slots_;
  SlotRoutes routes_;
  const std::atomic<bool> serves_{true};
  const SlotGate gate_{routes_, table_, {serves_, serves_}};
};

// A write that commits after the source has sent its log is lost when the target owns the slot.
TEST_F(HeldSlots, AQueueWithAScriptAndAReadIsHeldBack) {
  routes_.Hold(slots_);
  EXPECT_EQ("held back", ExecuteQueue({"EVAL redis.call('set','k','v') 0", "GET k"}));
  routes_.Release(slots_);
  EXPECT_EQ("*2\r\n$-1\r\n$1\r\nv\r\n", Execute("EXEC", Lane::kFast));
}

TEST_F(HeldSlots, AQueueWithAReadOnlyScriptAndAWriteIsHeldBack) {
  routes_.Hold(slots_);
  EXPECT_EQ("held back", ExecuteQueue({"EVAL_RO redis.call('get','k') 0", "SET k v"}));
  routes_.Release(slots_);
  EXPECT_EQ("*2\r\n$-1\r\n+OK\r\n", Execute("EXEC", Lane::kFast));
}

TEST_F(HeldSlots, AQueueThatOnlyReadsIsNotHeldBack) {
  routes_.Hold(slots_);
  EXPECT_EQ("*2\r\n$-1\r\n$-1\r\n", ExecuteQueue({"EVAL_RO redis.call('get','k') 0", "GET k"}));
  EXPECT_EQ("$-1\r\n", Execute("EVAL_RO redis.call('get','k') 0", Lane::kFast));
}

// FLUSHALL names no slot. The target would bring the keys of this one back.
TEST_F(HeldSlots, AFlushIsHeldBack) {
  EXPECT_EQ("+OK\r\n", Execute("SET k v", Lane::kFast));
  routes_.Hold(slots_);
  EXPECT_EQ("held back", Execute("FLUSHALL", Lane::kSlow));
  EXPECT_EQ("held back", ExecuteQueue({"FLUSHDB"}));
  routes_.Release(slots_);
  EXPECT_EQ("*1\r\n+OK\r\n", Execute("EXEC", Lane::kSlow));
  EXPECT_EQ("$-1\r\n", Execute("GET k", Lane::kSlow));
}

TEST_F(HeldSlots, AScriptThatLocksItsFirstKeyDuringTheMoveIsHeldBack) {
  begins_at_call_ = true;
  EXPECT_EQ("held back", Execute(kReadAndSet, Lane::kSlow));
  EXPECT_EQ("$-1\r\n", Execute("GET k", Lane::kSlow));
  begins_at_call_ = false;
  routes_.Release(slots_);
  EXPECT_EQ("$-1\r\n", Execute(kReadAndSet, Lane::kFast));
}

}  // namespace
}  // namespace cairn
