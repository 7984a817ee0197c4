// SPDX-License-Identifier: BSD-3-Clause
//
// SimulatedCluster: nodes of the cluster bus in one thread, with a clock and a network of their own. Messages take a
// random time and may be lost with their link, nodes may stop and be cut off; all from a seed. It counts messages,
// their bytes and the CPU time of the nodes, for bench/gossip.
#pragma once

#include <time.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/random.h"
#include "bus/message_reader.h"
#include "bus/message_writer.h"
#include "cluster/bus_protocol.h"

namespace cairn {

class SimulatedCluster {
 public:
  static constexpr int64_t kTimeoutMs = 2000;

  // Nodes that do not know each other.
  SimulatedCluster(int count, uint64_t seed) : random_(seed) {
    for (int i = 0; i < count; ++i) AddNode();
  }

  int size() const { return static_cast<int>(nodes_.size()); }
  Topology& topology(int i) { return nodes_[static_cast<size_t>(i)]->topology; }
  NodeId id(int i) { return topology(i).myself().id(); }
  ClusterState state(int i) { return At(i).protocol.state(); }
  BusProtocol& protocol(int i) { return At(i).protocol; }
  BusSettings& settings(int i) { return At(i).settings; }
  void SetOffset(int i, uint64_t offset, bool is_exact = true) {
    At(i).self.offset = offset;
    At(i).self.is_offset_exact = is_exact;
  }
  int64_t now_ms() const { return now_ms_; }
  int64_t pause_until_ms(int i) { return At(i).pause_until_ms; }
  const std::vector<int>& lost_slots(int i) { return At(i).lost_slots; }
  const std::vector<PublishBody>& messages(int i) { return At(i).messages; }
  // Each step before this one in a hundred breaks the link of a message.
  void SetLoss(uint64_t percent) { loss_percent_ = percent; }

  void Meet(int from, int to) {
    Act(from, [&](const BusProtocol::Input& input) { return At(from).protocol.Meet(input, IpOf(to), 7000, 17000); });
  }
  template <typename Change>
  void ChangeTopology(int i, const Change& change) {
    change(topology(i));
    Act(i, [&](const BusProtocol::Input& input) { return At(i).protocol.OnChanged(input); });
  }
  void GiveSlots(int i, int first, int last) {
    ChangeTopology(i, [&](Topology& topology) {
      for (int slot = first; slot <= last; ++slot) topology.AssignSlot(slot, topology.myself().id());
    });
  }
  void Replicate(int i, int master) {
    ChangeTopology(i, [&](Topology& topology) { topology.MakeReplica(topology.myself().id(), id(master)); });
  }
  void Failover(int i, BusProtocol::FailoverKind kind) {
    Act(i, [&](const BusProtocol::Input& input) { return At(i).protocol.Failover(input, kind); });
  }
  void Publish(int i, const std::string& channel, const std::string& message, bool is_sharded) {
    Act(i, [&](const BusProtocol::Input& input) {
      return At(i).protocol.Publish(input, {channel, message}, is_sharded);
    });
  }

  // From now on LastPing knows the last PING that a node sent to another one.
  void KeepPings() { keeps_pings_ = true; }
  std::string LastPing(int from, int to) { return last_pings_.at({from, to}); }
  // The message comes again, as if on a connection that its sender has closed already.
  void Replay(int from, int to, const std::string& bytes) {
    for (const auto& [end, other] : ends_) {
      if (end.first != to || other.first != from) continue;
      const Result<Message> message = DecodeMessage(bytes);
      ASSERT(message.ok(), "a message does not decode");
      Act(to, [&](const BusProtocol::Input& input) { return At(to).protocol.OnMessage(input, end.second, *message); });
      return;
    }
    ASSERT(false, "no link between the two nodes");
  }
  // What the nodes have sent, and their CPU time, which includes encoding and decoding.
  struct Load {
    uint64_t messages = 0;
    uint64_t bytes = 0;
    int64_t cpu_ns = 0;
  };
  const Load& load() const { return load_; }

  // A stopped node does nothing and its links break; it goes on with what it knew.
  void Stop(int i) { SetRunning(i, false); }
  void Continue(int i) { SetRunning(i, true); }

  void Run(int64_t ms) {
    for (const int64_t end = now_ms_ + ms; now_ms_ < end; now_ms_ += kStepMs) Step();
  }
  // Runs until the condition holds; false if it does not within the time.
  template <typename Condition>
  bool RunUntil(int64_t most_ms, const Condition& condition) {
    for (const int64_t end = now_ms_ + most_ms; now_ms_ < end && !condition(); now_ms_ += kStepMs) Step();
    return condition();
  }

  // Whether all running nodes know `count` nodes, none in a handshake.
  bool AllKnow(size_t count) {
    for (const auto& node : nodes_) {
      if (!node->is_running) continue;
      if (node->topology.node_count() != count) return false;
      for (const Node* known : node->topology.Nodes()) {
        if (known->flags.Has(NodeFlags::kHandshake)) return false;
      }
    }
    return true;
  }
  bool AllSee(int slot, int owner) {
    for (const auto& node : nodes_) {
      const Node* const seen = node->topology.SlotOwner(slot);
      if (node->is_running && (seen == nullptr || seen->id() != id(owner))) return false;
    }
    return true;
  }
  bool AllAre(ClusterState state) {
    for (const auto& node : nodes_) {
      if (node->is_running && node->protocol.state() != state) return false;
    }
    return true;
  }

 protected:
  static constexpr int64_t kStepMs = 10;
  static constexpr int64_t kTickMs = 100;
  static constexpr uint64_t kMostDelayMs = 30;

  struct Host {
    Host(NodeId id, uint64_t seed) : topology(Node(id)), protocol(seed) {}
    Topology topology;
    BusProtocol protocol;
    BusSettings settings;
    BusSelf self;
    bool is_running = true;
    int64_t pause_until_ms = 0;
    std::vector<int> lost_slots;
    std::vector<PublishBody> messages;
  };
  // The other end of a link.
  using End = std::pair<int, BusLinkId>;
  struct Packet {
    int64_t at_ms;
    int to;
    BusLinkId link;
    std::string bytes;
  };

  // While set, messages are lost and their links stay: a large cluster's first messages would fill the memory.
  bool loses_all_ = false;

  Host& At(int i) { return *nodes_[static_cast<size_t>(i)]; }
  static constexpr int kIpsPerPart = 250;
  static std::string IpOf(int i) {
    return "10.0." + std::to_string(i / kIpsPerPart) + "." + std::to_string(i % kIpsPerPart + 1);
  }
  static int NodeAt(const std::string& ip) {
    const size_t last = ip.rfind('.');
    return std::stoi(ip.substr(ip.rfind('.', last - 1) + 1)) * kIpsPerPart + std::stoi(ip.substr(last + 1)) - 1;
  }

  // The time of the processor until its destruction belongs to the nodes.
  class CpuCount {
   public:
    explicit CpuCount(Load& load) : load_(load), begin_ns_(NowNs()) {}
    ~CpuCount() { load_.cpu_ns += NowNs() - begin_ns_; }
    CpuCount(const CpuCount&) = delete;
    CpuCount& operator=(const CpuCount&) = delete;

   private:
    static int64_t NowNs() {
      timespec now{};
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
      return int64_t{now.tv_sec} * 1000000000 + now.tv_nsec;
    }
    Load& load_;
    const int64_t begin_ns_;
  };

  void AddNode() {
    const int i = size();
    nodes_.push_back(std::make_unique<Host>(DrawNodeId(random_), random_.Next()));
    Node& me = *topology(i).Find(id(i));
    me.flags.Add(NodeFlags::kMaster);
    me.port = 7000;
    me.cport = 17000;
    At(i).settings.node_timeout_ms = kTimeoutMs;
  }

  template <typename Input>
  void Act(int i, const Input& input) {
    Host& host = At(i);
    host.self.now_ms = now_ms_;
    BusEffects effects;
    {
      const CpuCount count(load_);
      effects = input(BusProtocol::Input{host.topology, host.settings, host.self});
    }
    CarryOut(i, effects);
  }

  void CarryOut(int i, const BusEffects& effects) {
    Host& host = At(i);
    for (const auto& action : effects.actions) {
      if (const auto* send = std::get_if<BusSend>(&action)) SendFrom(i, *send);
      else if (const auto* open = std::get_if<BusOpen>(&action)) Connect(i, *open);
      else Break({i, std::get<BusClose>(action).link});
    }
    host.lost_slots.insert(host.lost_slots.end(), effects.lost_slots.begin(), effects.lost_slots.end());
    host.messages.insert(host.messages.end(), effects.messages.begin(), effects.messages.end());
    host.messages.insert(host.messages.end(), effects.shard_messages.begin(), effects.shard_messages.end());
    if (effects.ends_pause) host.pause_until_ms = 0;
    if (effects.pause_until_ms == 0) return;
    host.pause_until_ms = effects.pause_until_ms;
    Act(i, [&](const BusProtocol::Input& input) { return host.protocol.OnPaused(input); });
  }

  void SendFrom(int i, const BusSend& send) {
    const auto found = ends_.find({i, send.link});
    if (found == ends_.end() || loses_all_) return;
    std::string bytes;
    {
      const CpuCount count(load_);
      AppendMessage(bytes, send.message);
    }
    ++load_.messages;
    load_.bytes += bytes.size();
    if (keeps_pings_ && send.message.type == MessageType::kPing) last_pings_[{i, found->second.first}] = bytes;
    // A link keeps the order.
    int64_t& last_ms = last_ms_[found->second];
    last_ms = std::max(last_ms, now_ms_ + 1 + static_cast<int64_t>(random_.Below(kMostDelayMs)));
    packets_.push_back({last_ms, found->second.first, found->second.second, std::move(bytes)});
  }

  void Connect(int i, const BusOpen& open) { opening_.push_back({{i, open.link}, NodeAt(open.ip)}); }

  void Break(const End& end) {
    const auto found = ends_.find(end);
    if (found == ends_.end()) return;
    broken_.push_back(found->second);
    ends_.erase(found->second);
    ends_.erase(end);
  }

  void SetRunning(int i, bool is_running) {
    At(i).is_running = is_running;
    std::vector<End> mine;
    for (const auto& [end, other] : ends_) {
      if (end.first == i) mine.push_back(end);
    }
    for (const End& end : mine) {
      Break(end);
      broken_.push_back(end);
    }
  }

  void Step() {
    for (const auto& [end, to] : std::exchange(opening_, {})) {
      if (!At(end.first).is_running) continue;
      const auto [from, link] = end;
      if (to < 0 || to >= size() || !At(to).is_running) {
        Act(from, [&](const BusProtocol::Input& input) { return At(from).protocol.OnClosed(input, link); });
        continue;
      }
      const BusLinkId incoming = At(to).protocol.OnAccepted(IpOf(from), IpOf(to), now_ms_);
      ends_[end] = {to, incoming};
      ends_[{to, incoming}] = end;
      Act(from, [&](const BusProtocol::Input& input) { return At(from).protocol.OnOpened(input, link); });
    }
    for (const End& end : std::exchange(broken_, {})) {
      Act(end.first,
          [&](const BusProtocol::Input& input) { return At(end.first).protocol.OnClosed(input, end.second); });
    }
    Deliver();
    if (now_ms_ % kTickMs != 0) return;
    for (int i = 0; i < size(); ++i) {
      if (!At(i).is_running) continue;
      Act(i, [&](const BusProtocol::Input& input) { return At(i).protocol.Tick(input); });
    }
  }

  void Deliver() {
    std::deque<Packet> later;
    for (Packet& packet : std::exchange(packets_, {})) {
      const End end{packet.to, packet.link};
      if (!ends_.contains(end)) continue;
      if (packet.at_ms > now_ms_) {
        later.push_back(std::move(packet));
        continue;
      }
      if (random_.Below(100) < loss_percent_) {
        Break(end);
        broken_.push_back(end);
        continue;
      }
      const Result<Message> message = [&] {
        const CpuCount count(load_);
        return DecodeMessage(packet.bytes);
      }();
      ASSERT(message.ok(), "a message does not decode");
      Act(packet.to, [&](const BusProtocol::Input& input) {
        return At(packet.to).protocol.OnMessage(input, packet.link, *message);
      });
    }
    later.insert(later.end(), std::make_move_iterator(packets_.begin()), std::make_move_iterator(packets_.end()));
    packets_ = std::move(later);
  }

  Random random_;
  int64_t now_ms_ = 1000000;
  uint64_t loss_percent_ = 0;
  bool keeps_pings_ = false;
  Load load_;
  std::vector<std::unique_ptr<Host>> nodes_;
  std::map<End, End> ends_;
  std::map<End, int64_t> last_ms_;
  std::map<std::pair<int, int>, std::string> last_pings_;
  std::vector<std::pair<End, int>> opening_;
  std::vector<End> broken_;
  std::deque<Packet> packets_;
};

}  // namespace cairn
