// SPDX-License-Identifier: BSD-3-Clause
#include "topology/node_line.h"

#include <fmt/format.h>

#include <iterator>

#include "base/words.h"

namespace cairn {
namespace {

struct FlagName {
  NodeFlags::Flag flag;
  std::string_view name;
};

constexpr FlagName kFlagNames[] = {
    {NodeFlags::kMyself, "myself"},    {NodeFlags::kMaster, "master"},
    {NodeFlags::kSlave, "slave"},      {NodeFlags::kPossiblyFailing, "fail?"},
    {NodeFlags::kFailed, "fail"},      {NodeFlags::kHandshake, "handshake"},
    {NodeFlags::kNoAddress, "noaddr"}, {NodeFlags::kNoFailover, "nofailover"},
};
constexpr std::string_view kNoFlags = "noflags";

void AppendAddress(std::string& out, const Node& node, NodeLineReader reader) {
  const uint16_t port = reader == NodeLineReader::kTlsClient ? node.tls_port : node.port;
  fmt::format_to(std::back_inserter(out), "{}:{}@{}", node.ip, port, node.cport);
  if (!node.hostname.empty() || reader == NodeLineReader::kFile) out += ',' + node.hostname;
  if (reader != NodeLineReader::kFile) return;
  fmt::format_to(std::back_inserter(out), ",tls-port={}", node.tls_port);
  if (!node.human_name.empty()) out += ",nodename=" + node.human_name;
  if (node.shard_id) fmt::format_to(std::back_inserter(out), ",shard-id={}", node.shard_id->text());
}

void AppendSlots(std::string& out, const SlotSet& slots) {
  for (const auto [first, last] : slots.Ranges()) {
    fmt::format_to(std::back_inserter(out), " {}", first);
    if (last != first) fmt::format_to(std::back_inserter(out), "-{}", last);
  }
}

void AppendOpenSlots(std::string& out, const Topology& topology) {
  for (const int slot : topology.OpenSlots()) {
    const Node* to = topology.MigratingTo(slot);  // hides an import of the same slot, as in Redis
    const Node& peer = to != nullptr ? *to : *topology.ImportingFrom(slot);
    fmt::format_to(std::back_inserter(out), " [{}-{}-{}]", slot, to != nullptr ? '>' : '<', peer.id().text());
  }
}

}  // namespace

void AppendNodeLine(std::string& out, const Topology& topology, const Node& node, NodeLineReader reader) {
  fmt::format_to(std::back_inserter(out), "{} ", node.id().text());
  AppendAddress(out, node, reader);
  fmt::format_to(std::back_inserter(out), " {} {} {} {} {} {}", FlagNames(node.flags),
                 node.master() ? node.master()->text() : "-", node.ping_sent_ms, node.pong_received_ms,
                 topology.ConfigEpoch(node), node.is_connected || node.is_myself() ? "connected" : "disconnected");
  AppendSlots(out, node.slots());
  if (node.is_myself()) AppendOpenSlots(out, topology);
}

std::string NodeLines(const Topology& topology, NodeLineReader reader, NodeFlags hidden) {
  std::string lines;
  for (const Node* node : topology.Nodes()) {
    if (node->flags.Has(hidden.bits())) continue;
    AppendNodeLine(lines, topology, *node, reader);
    lines += '\n';
  }
  return lines;
}

std::string FlagNames(NodeFlags flags) {
  std::string names;
  for (const auto& [flag, name] : kFlagNames) {
    if (!flags.Has(flag)) continue;
    if (!names.empty()) names += ',';
    names += name;
  }
  return names.empty() ? std::string(kNoFlags) : names;
}

bool AddFlagByName(NodeFlags& flags, std::string_view text) {
  if (EqualsIgnoreCase(text, kNoFlags)) return true;
  for (const auto& [flag, name] : kFlagNames) {
    if (!EqualsIgnoreCase(text, name)) continue;
    flags.Add(flag);
    return true;
  }
  return false;
}

}  // namespace cairn
