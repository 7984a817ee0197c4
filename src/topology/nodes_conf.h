// SPDX-License-Identifier: BSD-3-Clause
//
// nodes.conf: the file in which a node keeps its topology, in Redis's format. So the file of a redis-server can be
// taken over, and Redis 7.2 reads ours; docs/cluster-formats.md specifies it.
//
//   id ip:port@cport,hostname,name=value... flags master ping-sent pong-received config-epoch link-state slots...
//   vars currentEpoch N lastVoteEpoch M [controlled 1]
//
// It is read strictly, because a node that starts with a wrong topology can lose writes: damage that Redis would read
// as a zero or skip is an error that names the line. Redis 7.0 writes no name=value fields, so they may be missing.
//
// Thread: any; pure functions, except that LoadNodesConf and SaveNodesConf read and write the file.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "topology/topology.h"

namespace cairn {

// The meaning of the port of a line without the fields tcp-port and tls-port, which Redis before 7.2 wrote: the port
// for clients with TLS if the cluster's bus uses TLS (directive tls-cluster).
enum class NodesConfPort : unsigned char { kPlain, kTls };

// The topology in the text of a file, with the times and link states as written; Topology::ResetLinks makes it ready
// for a start. The current epoch is at least the largest epoch of a node. A node that has no line but is named as a
// master or as the peer of an open slot gets no flags and no address. kCorruption "line N: ..." for text that is
// damaged.
Result<Topology> ParseNodesConf(std::string_view text, NodesConfPort old_port = NodesConfPort::kPlain);

// The text of the file, in the format of Redis 7.2. Nodes in a handshake are left out.
std::string WriteNodesConf(const Topology& topology);

// Reads the file; none if it is missing or empty: Redis creates an empty one before it has an id. kCorruption with the
// path, the line and the reason; kIo if the file cannot be read.
Result<std::optional<Topology>> LoadNodesConf(const std::filesystem::path& path,
                                              NodesConfPort old_port = NodesConfPort::kPlain);

// Replaces the file by the text of WriteNodesConf, atomically, and syncs it. kIo if that fails: the old file is still
// there.
Status SaveNodesConf(const std::filesystem::path& path, std::string_view text);

}  // namespace cairn
