// SPDX-License-Identifier: BSD-3-Clause
//
// Message: a message of Redis Cluster's bus, version 1 of the protocol, as Redis 7.0 and 7.2 send it. The values are
// those of the wire; bus/message_reader.h and bus/message_writer.h convert them from and to bytes.
// docs/cluster-formats.md specifies the bytes.
//
// Every message has a header about its sender. Fields of one type only are in its body.
//
// Thread: any; values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "bus/node_flags.h"
#include "bus/node_id.h"
#include "bus/slot_set.h"

namespace cairn {

enum class MessageType : uint16_t {
  kPing = 0,                 // asks for a PONG, and tells what its sender knows
  kPong = 1,                 // answers PING and MEET, with the same contents; or announces a change
  kMeet = 2,                 // a PING that makes the receiver accept an unknown sender
  kFail = 3,                 // most masters do not reach a node
  kPublish = 4,              // PUBLISH to the clients of all nodes
  kFailoverAuthRequest = 5,  // a replica asks for a vote
  kFailoverAuthAck = 6,      // a master's vote for the receiver
  kUpdate = 7,               // the slots of a node, for a sender that claimed them with an old epoch
  kMfStart = 8,              // a replica asks its master to pause clients for a manual failover
  kModule = 9,               // a message between modules
  kPublishShard = 10,        // SPUBLISH to the clients of the shard
};

inline constexpr int kMessageTypeCount = 11;

// The name in CLUSTER INFO's statistics: "ping", "auth-req", ...
std::string_view MessageTypeName(MessageType type);

// Sizes in bytes. A message without a body is a header.
inline constexpr size_t kMessageHeaderSize = 2256;
inline constexpr size_t kGossipEntrySize = 104;

// What every message says about its sender.
struct MessageHeader {
  // The ports of clients: of those with TLS first if the bus uses TLS (directive tls-cluster), else of those without;
  // 0 if there is none.
  uint16_t port = 0;
  uint16_t pport = 0;
  uint16_t cport = 0;          // of the bus
  uint64_t current_epoch = 0;  // the largest epoch that the sender knows
  uint64_t config_epoch = 0;   // of the sender; of a replica that of its master
  uint64_t offset = 0;         // replication offset
  NodeId sender;
  SlotSet slots;                 // of the sender; of a replica those of its master
  std::optional<NodeId> master;  // of a replica, if it is known
  std::string ip;                // as announced; empty: the address that the connection comes from
  NodeFlags flags;
  ClusterState state = ClusterState::kOk;  // as the sender sees it
  bool is_paused = false;                  // a master that has paused its clients for a manual failover
  bool forces_ack = false;                 // a request for votes of a manual failover: the master need not have failed
  // The sender reads the extensions of PING, PONG and MEET; always set if the message has some. Redis 7.2 says so, 7.0
  // does not.
  bool knows_extensions = false;
};

// What the sender of a PING, PONG or MEET knows about another node.
struct GossipEntry {
  NodeId node;
  uint32_t ping_sent_s = 0;
  uint32_t pong_received_s = 0;
  std::string ip;     // empty if it is not known
  uint16_t port = 0;  // as in the header
  uint16_t pport = 0;
  uint16_t cport = 0;
  NodeFlags flags;

  friend bool operator==(const GossipEntry&, const GossipEntry&) = default;
};

// A node that CLUSTER FORGET removed: the receiver removes it too and does not accept it again for this time.
struct ForgottenNode {
  NodeId node;
  uint64_t ttl_s = 0;

  friend bool operator==(const ForgottenNode&, const ForgottenNode&) = default;
};

// The body of PING, PONG and MEET. The fields after `gossip` are extensions; Redis 7.0 sends the first only.
struct GossipBody {
  std::vector<GossipEntry> gossip;
  std::string hostname;    // empty: the sender announces none
  std::string human_name;  // the same
  std::vector<ForgottenNode> forgotten;
  std::optional<NodeId> shard_id;

  friend bool operator==(const GossipBody&, const GossipBody&) = default;
};

// The body of FAIL.
struct FailBody {
  NodeId node;

  friend bool operator==(const FailBody&, const FailBody&) = default;
};

// The body of PUBLISH and PUBLISHSHARD.
struct PublishBody {
  std::string channel;
  std::string message;

  friend bool operator==(const PublishBody&, const PublishBody&) = default;
};

// The body of UPDATE.
struct UpdateBody {
  uint64_t config_epoch = 0;
  NodeId node;
  SlotSet slots;

  friend bool operator==(const UpdateBody&, const UpdateBody&) = default;
};

// The body of MODULE. Cairn has no modules: it is only recognized.
struct ModuleBody {
  uint64_t module_id = 0;
  uint8_t type = 0;
  std::string payload;

  friend bool operator==(const ModuleBody&, const ModuleBody&) = default;
};

// The body that belongs to the type; the types without one have std::monostate.
using MessageBody = std::variant<std::monostate, GossipBody, FailBody, PublishBody, UpdateBody, ModuleBody>;

struct Message {
  MessageType type = MessageType::kPing;
  MessageHeader header;
  MessageBody body;
};

}  // namespace cairn
