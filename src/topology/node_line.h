// SPDX-License-Identifier: BSD-3-Clause
//
// The text of a node, as CLUSTER NODES and CLUSTER REPLICAS show it and as nodes.conf stores it:
//
//   id ip:port@cport[,hostname] flags master ping-sent pong-received config-epoch link-state [slots ...]
//
// nodes.conf adds fields of the form name=value to the address, as Redis 7.2 does: tls-port, nodename, shard-id. The
// slots are numbers and ranges; the line of this node also has its open slots, [slot->-id] and [slot-<-id].
//
// Thread: any; pure functions.
#pragma once

#include <string>
#include <string_view>

#include "bus/node_flags.h"
#include "topology/topology.h"

namespace cairn {

// The reader of a line: a client without or with TLS, which gets its port, or the file.
enum class NodeLineReader : unsigned char { kPlainClient, kTlsClient, kFile };

// Appends the line of a node of the topology, without a line end.
void AppendNodeLine(std::string& out, const Topology& topology, const Node& node, NodeLineReader reader);

// The lines of all nodes without a flag of `hidden`, sorted by id, each with a line end "\n".
std::string NodeLines(const Topology& topology, NodeLineReader reader, NodeFlags hidden = NodeFlags());

// The names of the flags in Redis's order, separated by commas; "noflags" for none. Flags about the bus have no name.
std::string FlagNames(NodeFlags flags);

// Adds the flag with this name, in any case, to `flags`; "noflags" adds none. False for an unknown name.
bool AddFlagByName(NodeFlags& flags, std::string_view name);

}  // namespace cairn
