// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/bus_manual_failover.h"

#include "base/log.h"
#include "cluster/bus_gossip.h"

namespace cairn {
namespace {

constexpr int64_t kTimeoutMs = 5000;
// The end of the failover ends the pause (Reset). This is the limit if that does not come.
constexpr int kPauseTimeouts = 2;

}  // namespace

void BusManualFailover::Begin(BusStep& step, bool forces) {
  Reset(step);
  end_ms_ = step.self.now_ms + kTimeoutMs;
  if (forces) {
    Log(LogSeverity::kNotice, "Forced failover user request accepted.");
    may_elect_ = true;
    return;
  }
  Log(LogSeverity::kNotice, "Manual failover user request accepted.");
  step.SendTo(*step.topology.myself().master(), MessageType::kMfStart);
}

void BusManualFailover::NoteRequest(BusStep& step, const NodeId& replica) {
  Reset(step);
  end_ms_ = step.self.now_ms + kTimeoutMs;
  replica_ = replica;
  step.effects.ends_pause = false;
  step.effects.pause_until_ms = step.self.now_ms + kPauseTimeouts * kTimeoutMs;
  Log(LogSeverity::kNotice, "Manual failover requested by replica {}.", replica.text());
}

void BusManualFailover::OnPaused(BusStep& step) {
  if (!replica_) return;
  is_paused_ = true;
  step.is_paused = true;
  // Its header has the offset that the replica waits for.
  const BusLinkId link = step.peers.Of(*replica_).outgoing;
  if (const BusLink* open = step.peers.FindLink(link); open != nullptr && open->is_open) {
    SendGossip(step, link, MessageType::kPing);
  }
}

void BusManualFailover::NoteMaster(const MessageHeader& header) {
  if (end_ms_ == 0 || replica_ || may_elect_ || wanted_offset_ || !header.is_paused) return;
  wanted_offset_ = header.offset;
  Log(LogSeverity::kNotice, "Received replication offset for paused master manual failover: {}", header.offset);
}

void BusManualFailover::Tick(BusStep& step, BusElection& election) {
  if (end_ms_ == 0) return;
  if (step.self.now_ms > end_ms_) {
    Log(LogSeverity::kNotice, "Manual failover timed out.");
    Reset(step);
    election.Reset();
    return;
  }
  if (may_elect_ || !wanted_offset_ || step.self.offset < *wanted_offset_) return;
  Log(LogSeverity::kNotice, "All master replication stream processed, manual failover can start.");
  may_elect_ = true;
  election.BeginManual();
}

void BusManualFailover::Reset(BusStep& step) {
  if (replica_) step.effects.ends_pause = true;
  *this = BusManualFailover();
  step.is_paused = false;
}

}  // namespace cairn
