// SPDX-License-Identifier: BSD-3-Clause
#include "bus/message_writer.h"

#include <cstdint>
#include <limits>
#include <string_view>
#include <variant>

#include "base/assert.h"
#include "bus/message_layout.h"
#include "bus/node_text.h"

namespace cairn {
namespace {

constexpr size_t kMost16 = std::numeric_limits<uint16_t>::max();
constexpr size_t kMost32 = std::numeric_limits<uint32_t>::max();

void AppendInteger(std::string& out, uint64_t value, size_t size) {
  for (size_t i = size; i > 0; --i) out.push_back(static_cast<char>(value >> 8 * (i - 1)));
}

void AppendU16(std::string& out, uint16_t value) { AppendInteger(out, value, sizeof value); }
void AppendU32(std::string& out, uint32_t value) { AppendInteger(out, value, sizeof value); }
void AppendU64(std::string& out, uint64_t value) { AppendInteger(out, value, sizeof value); }

void AppendZeros(std::string& out, size_t count) { out.append(count, '\0'); }

// The text and zero bytes up to `size`. REQUIRES: text.size() < size
void AppendPadded(std::string& out, std::string_view text, size_t size) {
  out += text;
  AppendZeros(out, size - text.size());
}

// The name that a controller gave a node (IsHost) may not fit.
void AppendIp(std::string& out, const std::string& ip) {
  AppendPadded(out, IsIpText(ip) ? std::string_view(ip) : std::string_view(), kIpFieldSize);
}

size_t CountExtensions(const GossipBody& body) {
  return (body.hostname.empty() ? 0 : 1) + (body.human_name.empty() ? 0 : 1) + body.forgotten.size() +
         (body.shard_id ? 1 : 0);
}

void AppendHeader(std::string& out, const Message& message) {
  const MessageHeader& header = message.header;
  const auto* gossip = std::get_if<GossipBody>(&message.body);
  const size_t entries = gossip == nullptr ? 0 : gossip->gossip.size();
  const size_t extensions = gossip == nullptr ? 0 : CountExtensions(*gossip);
  ASSERT(entries <= kMost16 && extensions <= kMost16, "a message has too much gossip");
  AppendU16(out, kMessageVersion);
  AppendU16(out, header.port);
  AppendU16(out, static_cast<uint16_t>(message.type));
  AppendU16(out, static_cast<uint16_t>(entries));
  AppendU64(out, header.current_epoch);
  AppendU64(out, header.config_epoch);
  AppendU64(out, header.offset);
  out += header.sender.text();
  out += header.slots.bitmap();
  if (header.master) out += header.master->text();
  else AppendZeros(out, NodeId::kSize);
  AppendIp(out, header.ip);
  AppendU16(out, static_cast<uint16_t>(extensions));
  AppendZeros(out, kHeaderReservedSize);
  AppendU16(out, header.pport);
  AppendU16(out, header.cport);
  AppendU16(out, header.flags.bits());
  out.push_back(static_cast<char>(header.state));
  const int flags = (header.is_paused ? kPausedFlag : 0) | (header.forces_ack ? kForceAckFlag : 0) |
                    (extensions > 0 || header.knows_extensions ? kExtensionsFlag : 0);
  out.push_back(static_cast<char>(flags));
  AppendZeros(out, kMessageFlagsSize - 1);
}

// Appends the header of an extension and, by `append`, its contents, and pads it.
template <typename Append>
void AppendExtension(std::string& out, ExtensionType type, Append append) {
  const size_t start = out.size();
  AppendU32(out, 0);
  AppendU16(out, static_cast<uint16_t>(type));
  AppendU16(out, 0);
  append();
  while ((out.size() - start) % kExtensionAlignment != 0) out.push_back('\0');
  std::string length;
  AppendU32(length, static_cast<uint32_t>(out.size() - start));
  out.replace(start, length.size(), length);
}

// A name ends with a zero byte.
void AppendName(std::string& out, ExtensionType type, const std::string& name, bool (*is_valid)(std::string_view)) {
  if (name.empty()) return;
  ASSERT(is_valid(name), "an announced name is not valid");
  AppendExtension(out, type, [&] { AppendPadded(out, name, name.size() + 1); });
}

struct BodyWriter {
  std::string& out;

  void operator()(std::monostate) const {}
  void operator()(const GossipBody& body) const {
    for (const GossipEntry& entry : body.gossip) {
      out += entry.node.text();
      AppendU32(out, entry.ping_sent_s);
      AppendU32(out, entry.pong_received_s);
      AppendIp(out, entry.ip);
      AppendU16(out, entry.port);
      AppendU16(out, entry.cport);
      AppendU16(out, entry.flags.bits());
      AppendU16(out, entry.pport);
      AppendU16(out, 0);
    }
    AppendName(out, ExtensionType::kHostname, body.hostname, IsHostname);
    AppendName(out, ExtensionType::kHumanName, body.human_name, IsHumanName);
    for (const ForgottenNode& forgotten : body.forgotten) {
      AppendExtension(out, ExtensionType::kForgottenNode, [&] {
        out += forgotten.node.text();
        AppendU64(out, forgotten.ttl_s);
      });
    }
    if (!body.shard_id) return;
    AppendExtension(out, ExtensionType::kShardId, [&] { out += body.shard_id->text(); });
  }
  void operator()(const FailBody& body) const { out += body.node.text(); }
  void operator()(const PublishBody& body) const {
    AppendU32(out, static_cast<uint32_t>(body.channel.size()));
    AppendU32(out, static_cast<uint32_t>(body.message.size()));
    out += body.channel;
    out += body.message;
  }
  void operator()(const UpdateBody& body) const {
    AppendU64(out, body.config_epoch);
    out += body.node.text();
    out += body.slots.bitmap();
  }
  void operator()(const ModuleBody& body) const {
    for (size_t i = 0; i < kModuleIdSize; ++i) out.push_back(static_cast<char>(body.module_id >> 8 * i));
    AppendU32(out, static_cast<uint32_t>(body.payload.size()));
    out.push_back(static_cast<char>(body.type));
    out += body.payload;
  }
};

bool HasBodyOfItsType(const Message& message) {
  const MessageBody& body = message.body;
  switch (message.type) {
    case MessageType::kPing:
    case MessageType::kPong:
    case MessageType::kMeet: return std::holds_alternative<GossipBody>(body);
    case MessageType::kFail: return std::holds_alternative<FailBody>(body);
    case MessageType::kPublish:
    case MessageType::kPublishShard: return std::holds_alternative<PublishBody>(body);
    case MessageType::kUpdate: return std::holds_alternative<UpdateBody>(body);
    case MessageType::kModule: return std::holds_alternative<ModuleBody>(body);
    case MessageType::kFailoverAuthRequest:
    case MessageType::kFailoverAuthAck:
    case MessageType::kMfStart: break;
  }
  return std::holds_alternative<std::monostate>(body);
}

}  // namespace

void AppendMessage(std::string& out, const Message& message) {
  ASSERT(HasBodyOfItsType(message), "the body belongs to another type of message");
  const size_t start = out.size();
  out += kMessageSignature;
  AppendU32(out, 0);
  AppendHeader(out, message);
  std::visit(BodyWriter{out}, message.body);
  const size_t size = out.size() - start;
  ASSERT(size <= kMost32, "a message is too large");
  std::string length;
  AppendU32(length, static_cast<uint32_t>(size));
  out.replace(start + kMessageSignature.size(), length.size(), length);
}

}  // namespace cairn
