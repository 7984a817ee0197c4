// SPDX-License-Identifier: BSD-3-Clause
#include "topology/nodes_conf.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/replace_file.h"
#include "topology/node_line.h"
#include "topology/nodes_conf_line.h"

namespace cairn {
namespace {

Status BadLine(int number, std::string_view why) { return Status::Corruption(fmt::format("line {}: {}", number, why)); }

// What all lines say.
struct NodesConfLines {
  std::vector<NodeFields> nodes;
  std::optional<size_t> myself;  // its place in `nodes`
  std::optional<EpochFields> epochs;
};

Status ReadLine(std::string_view text, int number, NodesConfPort old_port, NodesConfLines& lines) {
  if (IsEpochLine(text)) {
    if (lines.epochs) return Status::Corruption("a second line of vars");
    lines.epochs = TRY(ParseEpochLine(text));
    return Ok();
  }
  NodeFields fields = TRY(ParseNodeLine(text, old_port));
  fields.line = number;
  for (const NodeFields& other : lines.nodes) {
    if (other.node.id() == fields.node.id()) return Status::Corruption("a second line of the same node");
  }
  if (fields.node.is_myself()) {
    if (lines.myself) return Status::Corruption("a second node with the flag myself");
    lines.myself = lines.nodes.size();
  } else if (!fields.open_slots.empty()) {
    return Status::Corruption("open slots of a node without the flag myself");
  }
  lines.nodes.push_back(std::move(fields));
  return Ok();
}

Result<NodesConfLines> ReadLines(std::string_view text, NodesConfPort old_port) {
  NodesConfLines lines;
  int number = 0;
  while (!text.empty()) {
    ++number;
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return BadLine(number, "the line has no end");
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (line.empty()) continue;  // Redis pads a file that gets shorter with empty lines
    if (line.find('\0') != std::string_view::npos) return BadLine(number, "a zero byte");
    const Status status = ReadLine(line, number, old_port, lines);
    if (!status.ok()) return BadLine(number, status.text());
  }
  if (!lines.myself) return BadLine(number, "the file ends without a node with the flag myself");
  if (!lines.epochs) return BadLine(number, "the file ends without a line of vars");
  return lines;
}

// Adds the node if it has no line.
void AddNamedNode(Topology& topology, const NodeId& id) {
  if (topology.Find(id) == nullptr) topology.AddNode(Node(id));
}

Status LinkMaster(Topology& topology, const NodeFields& fields) {
  const NodeId& id = fields.node.id();
  if (!fields.master) return Ok();
  if (*fields.master == id) return Status::Corruption("a node is its own master");
  if (!fields.node.is_replica()) return Status::Corruption("a node without the flag slave has a master");
  AddNamedNode(topology, *fields.master);
  topology.MakeReplica(id, fields.master);
  // A replica belongs to its master's shard. Redis can be stopped after it saved one of the two lines only.
  Node& replica = *topology.Find(id);
  replica.config_epoch = 0;
  const std::optional<NodeId>& shard_id = topology.MasterOf(replica)->shard_id;
  if (shard_id) replica.shard_id = shard_id;
  return Ok();
}

Status LinkSlots(Topology& topology, const NodeFields& fields) {
  for (const auto [first, last] : fields.slots) {
    for (int slot = first; slot <= last; ++slot) {
      if (!topology.AssignSlot(slot, fields.node.id())) {
        return Status::Corruption(fmt::format("slot {} has an owner already", slot));
      }
    }
  }
  for (const OpenSlot& open : fields.open_slots) {
    AddNamedNode(topology, open.peer);
    if (open.is_migrating) topology.SetMigrating(open.slot, open.peer);
    else topology.SetImporting(open.slot, open.peer);
  }
  return Ok();
}

// Appends the bytes of a file; returns 0 or the errno. A stream would take a failed read for the end of the file, and
// the node would start as a new one.
int ReadFile(const std::filesystem::path& path, std::string& text) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  char buffer[16384];
  int error = 0;
  for (ssize_t size = 1; size != 0 && error == 0;) {
    size = read(fd, buffer, sizeof buffer);
    if (size > 0) text.append(buffer, size);
    if (size < 0 && errno != EINTR) error = errno;
  }
  close(fd);
  return error;
}

}  // namespace

Result<Topology> ParseNodesConf(std::string_view text, NodesConfPort old_port) {
  const NodesConfLines lines = TRY(ReadLines(text, old_port));
  Topology topology(lines.nodes[*lines.myself].node);
  for (size_t i = 0; i < lines.nodes.size(); ++i) {
    if (i != *lines.myself) topology.AddNode(lines.nodes[i].node);
  }
  for (const NodeFields& fields : lines.nodes) {
    Status status = LinkMaster(topology, fields);
    if (status.ok()) status = LinkSlots(topology, fields);
    if (!status.ok()) return BadLine(fields.line, status.text());
  }
  topology.current_epoch = lines.epochs->current;
  topology.last_vote_epoch = lines.epochs->last_vote;
  topology.is_controlled = lines.epochs->is_controlled;
  topology.current_epoch = topology.MaxEpoch();
  return topology;
}

std::string WriteNodesConf(const Topology& topology) {
  return NodeLines(topology, NodeLineReader::kFile, NodeFlags(NodeFlags::kHandshake)) +
         fmt::format("vars currentEpoch {} lastVoteEpoch {}{}\n", topology.current_epoch, topology.last_vote_epoch,
                     topology.is_controlled ? " controlled 1" : "");
}

Result<std::optional<Topology>> LoadNodesConf(const std::filesystem::path& path, NodesConfPort old_port) {
  std::string text;
  const int error = ReadFile(path, text);
  if (error != 0 && error != ENOENT) return Status::Io(fmt::format("{}: {}", path.string(), std::strerror(error)));
  if (text.empty()) return std::optional<Topology>();
  Result<Topology> topology = ParseNodesConf(text, old_port);
  if (!topology.ok()) return Status::Corruption(fmt::format("{}, {}", path.string(), topology.status().text()));
  return std::optional<Topology>(std::move(*topology));
}

Status SaveNodesConf(const std::filesystem::path& path, std::string_view text) {
  const Status status = ReplaceFile(path, text);
  return status.ok() ? Ok() : Status::Io(fmt::format("{}: {}", path.string(), status.text()));
}

}  // namespace cairn
