// SPDX-License-Identifier: BSD-3-Clause
//
// The check of a command's slot while the slot moves to another node.
#include "command/slot_gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "command/dispatcher_fixture.h"
#include "topology/two_nodes.h"

namespace cairn {
namespace {

// A client that counts its wakes. `while_reading` is called after the gates have admitted a read.
class WokenSession : public Session {
 public:
  using Session::Session;
  void Wake() override { ++wakes; }
  std::vector<std::string_view> RememberReads(std::span<const std::string_view>) override {
    if (while_reading) while_reading();
    return {};
  }

  int wakes = 0;
  std::function<void()> while_reading;
};

class SlotGateTest : public DispatcherFixture {
 protected:
  static int Slot() { return KeySlot("k"); }
  void Publish(ClusterState state = ClusterState::kOk) { routes_.Publish(topology_, state, EndpointType::kIp); }
  void Own(char node) {
    topology_.UnassignSlot(Slot());
    topology_.AssignSlot(Slot(), Id(node));
  }

  // Returns the error of the gate, or "served". The client may read a slot that is being imported.
  std::string Check(const Command& command, std::span<const std::string_view> argv) {
    session_.redirection.asks = true;
    SlotGate::Call call{session_, command, argv};
    Status status = gate_.Check(call);
    if (status.ok()) {
      Begin();
      status = gate_.CheckLocked(call, txn(), limits_);
      txn().AbandonCommand();
    }
    return status.ok() ? "served" : std::string(status.text());
  }
  std::string CheckCommand(const std::string& line) {
    const std::vector<std::string> words = Split(line);
    const std::vector<std::string_view> argv(words.begin(), words.end());
    return Check(*table_.Resolve(argv), argv);
  }
  // The same for EXEC with this queue.
  std::string CheckExec(const std::vector<std::string>& lines) {
    session_.multi = MultiState();
    for (const std::string& line : lines) {
      std::vector<std::string> words = Split(line);
      const std::vector<std::string_view> argv(words.begin(), words.end());
      QueuedCommand queued{.command = table_.Resolve(argv)};
      queued.argv = std::move(words);
      session_.multi.queue.push_back(std::move(queued));
    }
    const std::string_view exec[] = {"exec"};
    std::string checked = Check(*table_.Find("exec"), exec);
    session_.multi = MultiState();
    return checked;
  }
  std::string Ask() const { return "ASK " + std::to_string(Slot()) + " 10.0.0.1:2"; }
  std::string Moved() const { return "MOVED " + std::to_string(Slot()) + " 10.0.0.1:2"; }

  Topology topology_ = TwoNodes();
  SlotRoutes routes_;
  std::atomic<bool> reads_when_down_ = false;
  std::atomic<bool> shard_channels_when_down_ = true;
  const SlotGate gate_{routes_, table_, {reads_when_down_, shard_channels_when_down_}};
};

// A client may create a key at the importing node. Only a command with different keys may have some at the source.
TEST_F(SlotGateTest, AMissingKeyThatIsNamedTwiceIsServedByTheImportingNode) {
  Own('b');
  topology_.SetImporting(Slot(), Id('b'));
  Publish();
  EXPECT_EQ(CheckExec({"SET k 1", "EXPIRE k 10"}), "served");
  EXPECT_EQ(CheckCommand("LMOVE k k LEFT RIGHT"), "served");
  const std::string again = "TRYAGAIN Multiple keys request during rehashing of slot";
  EXPECT_EQ(CheckExec({"SET k 1", "EXPIRE {k}2 10"}), again);
  EXPECT_EQ(CheckCommand("RENAME k {k}2"), again);
}

// The source serves the channels of a slot until it has left, so the client must not publish at the target.
TEST_F(SlotGateTest, ATransactionMayPublishInASlotThatMigrates) {
  Own('a');
  topology_.SetMigrating(Slot(), Id('b'));
  Publish();
  EXPECT_EQ(CheckCommand("SPUBLISH k m"), "served");
  EXPECT_EQ(CheckExec({"SPUBLISH k m"}), "served");
  EXPECT_EQ(CheckExec({"SPUBLISH k m", "GET k"}), Ask());
}

TEST_F(SlotGateTest, ATransactionMayPublishAtAReplica) {
  Own('b');
  topology_.MakeReplica(Id('a'), Id('b'));
  Publish();
  EXPECT_EQ(CheckExec({"SPUBLISH k m"}), "served");
  EXPECT_EQ(CheckExec({"SPUBLISH k m", "SET k 1"}), Moved());
  EXPECT_EQ(CheckExec({"GET k"}), Moved());
}

// Directive cluster-allow-pubsubshard-when-down.
TEST_F(SlotGateTest, ATransactionMayPublishWhileTheClusterIsDown) {
  Own('a');
  Publish(ClusterState::kFail);
  EXPECT_EQ(CheckExec({"SPUBLISH k m"}), "served");
  EXPECT_EQ(CheckExec({"SPUBLISH k m", "SET k 1"}), "CLUSTERDOWN The cluster is down and only accepts read commands");
  shard_channels_when_down_ = false;
  EXPECT_EQ(CheckExec({"SPUBLISH k m"}), "CLUSTERDOWN The cluster is down");
}

// XREAD holds no stripe while it reads. The slot may leave meanwhile, and the clients that are blocked at that moment
// are woken; a client that parks afterwards would wait forever.
TEST_F(SlotGateTest, AClientThatParksAfterTheSlotHasLeftRunsAgain) {
  dispatcher_.set_slot_gate(&gate_);
  Own('a');
  Publish();
  WokenSession client(2);
  client.tracking.on = true;  // so that the session learns of the read
  client.while_reading = [this] {
    Own('b');
    Publish();
  };
  const std::vector<std::string> xread = Split("XREAD BLOCK 0 STREAMS k 0");
  std::string out;
  EXPECT_EQ(Dispatch(client, xread, Lane::kFast, out).verdict, Verdict::kParked);
  EXPECT_EQ(client.wakes, 1);
  client.while_reading = nullptr;
  EXPECT_EQ(Dispatch(client, xread, Lane::kFast, out, /*rerun=*/true).verdict, Verdict::kDone);
  EXPECT_EQ(out, "-" + Moved() + "\r\n");
}

}  // namespace
}  // namespace cairn
