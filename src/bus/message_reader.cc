// SPDX-License-Identifier: BSD-3-Clause
#include "bus/message_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "bus/field_reader.h"
#include "bus/message_layout.h"
#include "bus/node_text.h"

namespace cairn {
namespace {

constexpr size_t kLengthSize = 4;

// The header fields that describe the body.
struct ContentsFields {
  uint16_t gossip_count = 0;
  uint16_t extension_count = 0;
  bool has_extensions = false;
};

MessageType ReadType(FieldReader& reader) {
  const uint16_t type = reader.U16("type");
  if (type >= kMessageTypeCount) reader.Fail("type", fmt::format("{} is unknown", type));
  return static_cast<MessageType>(type);
}

ClusterState ReadState(FieldReader& reader) {
  const uint8_t state = reader.U8("state");
  if (state > static_cast<uint8_t>(ClusterState::kFail)) reader.Fail("state", fmt::format("{} is unknown", state));
  return static_cast<ClusterState>(state);
}

ContentsFields ReadHeader(FieldReader& reader, Message& message) {
  ContentsFields contents;
  MessageHeader& header = message.header;
  const uint16_t version = reader.U16("ver");
  if (version != kMessageVersion) reader.Fail("ver", fmt::format("{} is unknown", version));
  header.port = reader.U16("port");
  message.type = ReadType(reader);
  contents.gossip_count = reader.U16("count");
  header.current_epoch = reader.U64("currentEpoch");
  header.config_epoch = reader.U64("configEpoch");
  header.offset = reader.U64("offset");
  header.sender = reader.Id("sender");
  const std::string_view slots = reader.Bytes("myslots", SlotSet::kBytes);
  if (reader.ok()) header.slots = SlotSet::FromBitmap(slots);
  header.master = reader.OptionalId("slaveof");
  header.ip = reader.Text("myip", kIpFieldSize, IsIpText);
  contents.extension_count = reader.U16("extensions");
  reader.Bytes("notused1", kHeaderReservedSize);
  header.pport = reader.U16("pport");
  header.cport = reader.U16("cport");
  header.flags = NodeFlags(reader.U16("flags"));
  header.state = ReadState(reader);
  const std::string_view flags = reader.Bytes("mflags", kMessageFlagsSize);
  const char bits = flags.empty() ? '\0' : flags[0];
  header.is_paused = (bits & kPausedFlag) != 0;
  header.forces_ack = (bits & kForceAckFlag) != 0;
  contents.has_extensions = (bits & kExtensionsFlag) != 0;
  header.knows_extensions = contents.has_extensions;
  return contents;
}

GossipEntry ReadGossipEntry(FieldReader& reader) {
  GossipEntry entry;
  entry.node = reader.Id("nodename");
  entry.ping_sent_s = reader.U32("ping_sent");
  entry.pong_received_s = reader.U32("pong_received");
  entry.ip = reader.Text("ip", kIpFieldSize, IsIpText);
  entry.port = reader.U16("port");
  entry.cport = reader.U16("cport");
  entry.flags = NodeFlags(reader.U16("flags"));
  entry.pport = reader.U16("pport");
  reader.U16("notused1");
  return entry;
}

// Reads the contents of an extension of a known type.
void ReadExtension(FieldReader& reader, uint16_t type, size_t size, GossipBody& body) {
  switch (static_cast<ExtensionType>(type)) {
    case ExtensionType::kHostname: body.hostname = reader.Text("hostname", size, IsHostname); return;
    case ExtensionType::kHumanName: {
      // Redis accepts characters that would end a word of nodes.conf. Such a name is left out; the message is not bad.
      const std::string_view name = reader.Text("human_nodename", size, [](std::string_view) { return true; });
      if (IsHumanName(name)) body.human_name = name;
      return;
    }
    case ExtensionType::kForgottenNode: {
      const NodeId node = reader.Id("name");
      body.forgotten.push_back({.node = node, .ttl_s = reader.U64("ttl")});
      return;
    }
    case ExtensionType::kShardId: body.shard_id = reader.Id("shard_id"); return;
  }
  reader.Bytes("unknown extension", size);
}

void ReadExtensions(FieldReader& reader, uint16_t count, GossipBody& body) {
  for (uint16_t i = 0; i < count && reader.ok(); ++i) {
    reader.Enter("extension", i);
    const uint32_t length = reader.U32("length");
    const uint16_t type = reader.U16("type");
    reader.U16("unused");
    if (length < kExtensionHeaderSize || length % kExtensionAlignment != 0) {
      reader.Fail("length", fmt::format("{} bytes", length));
      return;
    }
    const size_t size = length - kExtensionHeaderSize;
    FieldReader contents(reader.Bytes("length", size));
    if (!reader.ok()) return;
    ReadExtension(contents, type, size, body);
    const Status status = contents.Done("length");
    if (!status.ok()) reader.Fail("contents", status.text());
  }
  reader.Leave();
}

GossipBody ReadGossip(FieldReader& reader, const ContentsFields& contents) {
  GossipBody body;
  if (reader.left() < contents.gossip_count * kGossipEntrySize) {
    reader.Fail("count", fmt::format("{} entries in {} bytes", contents.gossip_count, reader.left()));
    return body;
  }
  body.gossip.reserve(contents.gossip_count);
  for (uint16_t i = 0; i < contents.gossip_count && reader.ok(); ++i) {
    reader.Enter("gossip", i);
    body.gossip.push_back(ReadGossipEntry(reader));
  }
  reader.Leave();
  if (contents.has_extensions) ReadExtensions(reader, contents.extension_count, body);
  return body;
}

PublishBody ReadPublish(FieldReader& reader) {
  PublishBody body;
  const uint32_t channel_size = reader.U32("channel_len");
  const uint32_t message_size = reader.U32("message_len");
  body.channel = reader.Bytes("channel", channel_size);
  body.message = reader.Bytes("message", message_size);
  return body;
}

UpdateBody ReadUpdate(FieldReader& reader) {
  UpdateBody body;
  body.config_epoch = reader.U64("configEpoch of the body");
  body.node = reader.Id("nodename");
  const std::string_view slots = reader.Bytes("slots", SlotSet::kBytes);
  if (reader.ok()) body.slots = SlotSet::FromBitmap(slots);
  return body;
}

ModuleBody ReadModule(FieldReader& reader) {
  ModuleBody body;
  // The id is the only number that Redis sends in the order of its machine, which is little-endian nearly everywhere.
  const std::string_view id = reader.Bytes("module_id", kModuleIdSize);
  for (size_t i = id.size(); i > 0; --i) body.module_id = body.module_id << 8 | static_cast<uint8_t>(id[i - 1]);
  const uint32_t size = reader.U32("len");
  body.type = reader.U8("type of the body");
  body.payload = reader.Bytes("payload", size);
  return body;
}

MessageBody ReadBody(FieldReader& reader, MessageType type, const ContentsFields& contents) {
  switch (type) {
    case MessageType::kPing:
    case MessageType::kPong:
    case MessageType::kMeet: return ReadGossip(reader, contents);
    case MessageType::kFail: return FailBody{.node = reader.Id("nodename")};
    case MessageType::kPublish:
    case MessageType::kPublishShard: return ReadPublish(reader);
    case MessageType::kUpdate: return ReadUpdate(reader);
    case MessageType::kModule: return ReadModule(reader);
    case MessageType::kFailoverAuthRequest:
    case MessageType::kFailoverAuthAck:
    case MessageType::kMfStart: break;
  }
  return std::monostate();
}

}  // namespace

Result<std::optional<std::string_view>> TakeMessage(std::string_view& buffer, size_t limit) {
  const size_t compared = std::min(buffer.size(), kMessageSignature.size());
  if (buffer.substr(0, compared) != kMessageSignature.substr(0, compared)) {
    return Status::Corruption("sig: no message of the cluster bus");
  }
  if (buffer.size() < kMessageSignature.size() + kLengthSize) return std::optional<std::string_view>();
  FieldReader reader(buffer.substr(kMessageSignature.size(), kLengthSize));
  const uint32_t size = reader.U32("totlen");
  if (size < kMessageHeaderSize || size > limit) {
    return Status::Corruption(fmt::format("totlen: {} bytes, not between {} and {}", size, kMessageHeaderSize, limit));
  }
  if (buffer.size() < size) return std::optional<std::string_view>();
  const std::string_view message = buffer.substr(0, size);
  buffer.remove_prefix(size);
  return std::optional<std::string_view>(message);
}

Result<Message> DecodeMessage(std::string_view bytes) {
  FieldReader reader(bytes);
  Message message;
  if (reader.Bytes("sig", kMessageSignature.size()) != kMessageSignature) reader.Fail("sig", "no message of the bus");
  const uint32_t size = reader.U32("totlen");
  if (size != bytes.size()) reader.Fail("totlen", fmt::format("{} of a message of {} bytes", size, bytes.size()));
  const ContentsFields contents = ReadHeader(reader, message);
  if (reader.ok()) message.body = ReadBody(reader, message.type, contents);
  TRY(reader.Done("totlen"));
  return message;
}

}  // namespace cairn
