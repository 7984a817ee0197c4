// SPDX-License-Identifier: BSD-3-Clause
//
// Messages of the cluster bus: those in tests/bus/golden/ were sent by redis-server 7.0.15 and 7.2.4 in a real cluster.
// They decode to the values written beside them, and the values encode to the same bytes. Damaged messages are refused
// with the name of the field and never crash.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "bus/message_file.h"
#include "bus/message_reader.h"
#include "bus/message_writer.h"

namespace cairn {
namespace {

constexpr size_t kNoLimit = 1 << 30;

std::string OrDash(std::string_view text) { return text.empty() ? "-" : std::string(text); }

std::string Show(const SlotSet& slots) {
  std::string text;
  for (const auto [first, last] : slots.Ranges()) {
    text += (text.empty() ? "" : " ") + (first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last));
  }
  return OrDash(text);
}

// A line for each value of a body, as in the golden files.
struct ShowBody {
  std::string operator()(std::monostate) const { return {}; }
  std::string operator()(const GossipBody& body) const {
    std::string text;
    for (const GossipEntry& entry : body.gossip) {
      text += fmt::format("gossip {} ping {} pong {} ip {} ports {} {} {} flags {}\n", entry.node.text(),
                          entry.ping_sent_s, entry.pong_received_s, OrDash(entry.ip), entry.port, entry.pport,
                          entry.cport, entry.flags.bits());
    }
    if (!body.hostname.empty()) text += "hostname " + body.hostname + '\n';
    if (!body.human_name.empty()) text += "human_nodename " + body.human_name + '\n';
    for (const auto& [node, ttl_s] : body.forgotten) text += fmt::format("forgotten {} ttl {}\n", node.text(), ttl_s);
    if (body.shard_id) text += fmt::format("shard_id {}\n", body.shard_id->text());
    return text;
  }
  std::string operator()(const FailBody& body) const { return fmt::format("failed {}\n", body.node.text()); }
  std::string operator()(const PublishBody& body) const {
    return fmt::format("channel {} message {}\n", body.channel, body.message);
  }
  std::string operator()(const UpdateBody& body) const {
    return fmt::format("update {} epoch {} slots {}\n", body.node.text(), body.config_epoch, Show(body.slots));
  }
  std::string operator()(const ModuleBody& body) const {
    return fmt::format("module {} type {} payload {}\n", body.module_id, body.type, body.payload);
  }
};

std::string Show(const Message& message) {
  const MessageHeader& header = message.header;
  return fmt::format("type {}\nports {} {} {}\nepochs {} {} offset {}\nsender {} master {} ip {}\nslots {}\n",
                     MessageTypeName(message.type), header.port, header.pport, header.cport, header.current_epoch,
                     header.config_epoch, header.offset, header.sender.text(),
                     header.master ? header.master->text() : "-", OrDash(header.ip), Show(header.slots)) +
         fmt::format("flags {} state {} paused {:d} forces_ack {:d}\n", header.flags.bits(),
                     header.state == ClusterState::kOk ? "ok" : "fail", header.is_paused, header.forces_ack) +
         std::visit(ShowBody(), message.body);
}

std::string Encode(const Message& message) {
  std::string bytes;
  AppendMessage(bytes, message);
  return bytes;
}

// The decoded message; the test fails if the bytes do not decode.
Message Decode(std::string_view bytes) {
  Result<Message> message = DecodeMessage(bytes);
  EXPECT_TRUE(message.ok()) << message.status().text();
  return message.ok() ? std::move(*message) : Message();
}

std::string ErrorOf(std::string_view bytes) {
  const Result<Message> message = DecodeMessage(bytes);
  return message.ok() ? "accepted" : std::string(message.status().text());
}

class GoldenMessageTest : public testing::TestWithParam<GoldenMessage> {};

TEST_P(GoldenMessageTest, DecodesToItsMeaning) {
  const GoldenMessage& golden = GetParam();
  ASSERT_FALSE(golden.bytes.empty()) << golden.title;
  EXPECT_EQ(Show(Decode(golden.bytes)), golden.meaning);
}

TEST_P(GoldenMessageTest, EncodesToTheSameBytes) {
  EXPECT_EQ(ToHex(Encode(Decode(GetParam().bytes))), ToHex(GetParam().bytes));
}

TEST_P(GoldenMessageTest, IsRefusedIfItIsCut) {
  const std::string& bytes = GetParam().bytes;
  for (size_t size = 0; size < bytes.size(); ++size) {
    std::string cut = bytes.substr(0, size);
    EXPECT_NE(ErrorOf(cut), "accepted");
    if (size < 8) continue;
    for (int i = 0; i < 4; ++i) cut[4 + i] = static_cast<char>(size >> 8 * (3 - i));  // also with a fitting length
    EXPECT_NE(ErrorOf(cut), "accepted") << size;
  }
}

INSTANTIATE_TEST_SUITE_P(Redis, GoldenMessageTest, testing::ValuesIn(ReadGoldenMessages()));

// The golden message with this title.
std::string Golden(const std::string& title) {
  for (const GoldenMessage& golden : ReadGoldenMessages()) {
    if (golden.title == title) return golden.bytes;
  }
  ADD_FAILURE() << "no golden message " << title;
  return {};
}

TEST(MessageTest, EveryTypeHasAGoldenMessage) {
  std::vector<int> counts(kMessageTypeCount);
  for (const GoldenMessage& golden : ReadGoldenMessages()) ++counts[golden.bytes[13]];
  EXPECT_EQ(std::count(counts.begin(), counts.end(), 0), 0);
}

// Values that a cluster on one machine does not send: an announced address, TLS, all flags, large numbers.
TEST(MessageTest, EveryFieldKeepsItsValue) {
  Message message;
  message.type = MessageType::kPong;
  MessageHeader& header = message.header;
  header.port = 65535;
  header.pport = 6379;
  header.cport = 1;
  header.current_epoch = 0xfedcba9876543210;
  header.config_epoch = ~uint64_t{0};
  header.offset = uint64_t{1} << 63;
  header.slots.Add(kSlotCount - 1);
  header.master = NodeId::Parse(std::string(40, 'f'));
  header.ip = "2001:db8:1234:5678:9abc:def0:255.255.255.255.";  // 45 characters
  header.flags = NodeFlags(0xffff);
  header.state = ClusterState::kFail;
  header.is_paused = header.forces_ack = true;
  GossipBody body;
  body.gossip.push_back({.ping_sent_s = ~0u,
                         .pong_received_s = 1,
                         .ip = "::1",
                         .port = 2,
                         .pport = 3,
                         .cport = 4,
                         .flags = NodeFlags(0x8001)});
  body.hostname = "seven77";  // with its zero byte it needs no padding
  body.human_name = std::string(255, 'h');
  body.forgotten = {{.node = NodeId(), .ttl_s = 1}, {.node = *header.master, .ttl_s = ~uint64_t{0}}};
  body.shard_id = NodeId();
  message.body = body;
  const Message decoded = Decode(Encode(message));
  EXPECT_EQ(Show(decoded), Show(message));
  EXPECT_EQ(std::get<GossipBody>(decoded.body), body);
}

TEST(MessageTest, PayloadsMayHaveAnyBytes) {
  Message message{.type = MessageType::kPublish};
  message.body = PublishBody{.channel = "", .message = std::string("\0\xff\r\n", 4)};
  EXPECT_EQ(std::get<PublishBody>(Decode(Encode(message)).body), std::get<PublishBody>(message.body));
  message = {.type = MessageType::kModule};
  message.body = ModuleBody{.module_id = 0x0102030405060708, .type = 255, .payload = std::string(3, '\0')};
  EXPECT_EQ(std::get<ModuleBody>(Decode(Encode(message)).body), std::get<ModuleBody>(message.body));
  EXPECT_EQ(Encode(message).substr(kMessageHeaderSize, 8), "\x08\x07\x06\x05\x04\x03\x02\x01");
}

// A change of some bytes of a message, and the error. `at` counts from the start.
struct DamagedField {
  std::string title;
  size_t at;
  std::string bytes;
  std::string error;
};

TEST(MessageTest, ErrorsNameTheField) {
  const std::string ping = "a PING of a master, with gossip, a hostname, a human name and a shard id";
  const size_t gossip = kMessageHeaderSize;
  const size_t second = gossip + kGossipEntrySize;
  const size_t extensions = gossip + 3 * kGossipEntrySize;  // hostname 32 bytes, human name 24, shard id 48
  const DamagedField cases[] = {
      {ping, 0, "X", "sig: no message of the bus"},
      {ping, 7, "\xff", "totlen: 2815 of a message of 2672 bytes"},
      {ping, 9, "\x02", "ver: 2 is unknown"},
      {ping, 13, "\x0b", "type: 11 is unknown"},
      {ping, 14, "\xff", "count: 65283 entries in 416 bytes"},
      {ping, 40, "A", "sender: no node id"},
      {ping, 2128, "a", "slaveof: no node id"},
      {ping, 2168, "a b", "myip: no valid text"},
      {ping, 2168, std::string(46, '1'), "myip: no end"},
      {ping, 2215, "\x02", "totlen: 48 bytes too many"},
      {ping, 2215, "\x04", "extension[3].length: 0 of 4 bytes"},
      {ping, 2252, "\x02", "state: 2 is unknown"},
      {ping, 2253, std::string(1, '\0'), "totlen: 104 bytes too many"},
      {ping, second, "-", "gossip[1].nodename: no node id"},
      {ping, second + 48, ",", "gossip[1].ip: no valid text"},
      {ping, extensions + 3, "\x24", "extension[0].length: 36 bytes"},
      {ping, extensions + 3, std::string(1, '\0'), "extension[0].length: 0 bytes"},
      {ping, extensions + 2, "\x10", "extension[0].length: 96 of 4120 bytes"},
      {ping, extensions + 8, "/", "extension[0].contents: hostname: no valid text"},
      {ping, extensions + 8, std::string(24, 'a'), "extension[0].contents: hostname: no end"},
      {ping, extensions + 32 + 8, "=", "accepted"},  // the name is left out
      {ping, extensions + 56 + 8, "=", "extension[2].contents: shard_id: no node id"},
      {ping, extensions + 5, "\x02", "extension[0].contents: name: 24 of 40 bytes"},
      {ping, extensions + 56 + 5, "\x02", "extension[2].contents: ttl: 0 of 8 bytes"},
      {ping, extensions + 5, "\x09", "accepted"},  // an extension of an unknown type
      {"a PING with a forgotten node", gossip + 2 * kGossipEntrySize + 5, "\x03",
       "extension[0].contents: length: 8 bytes too many"},
      {"FAIL", gossip, "X", "nodename: no node id"},
      {"PUBLISH", gossip, "\x01", "channel: 18 of 16777220 bytes"},
      {"PUBLISH", gossip + 3, "\x05", "message: 13 of 14 bytes"},
      {"PUBLISH", gossip + 3, "\x03", "totlen: 1 bytes too many"},
      {"UPDATE", gossip + 8, "X", "nodename: no node id"},
      {"MODULE", gossip + 8, "\xff\xff\xff\xff", "payload: 14 of 4294967295 bytes"},
      {"MFSTART", 13, "\x03", "nodename: 0 of 40 bytes"},
      {"MFSTART", 13, "\x07", "configEpoch of the body: 0 of 8 bytes"},
      {"FAIL", 13, "\x06", "totlen: 40 bytes too many"},
  };
  for (const DamagedField& damaged : cases) {
    std::string bytes = Golden(damaged.title);
    bytes.replace(damaged.at, damaged.bytes.size(), damaged.bytes);
    EXPECT_EQ(ErrorOf(bytes), damaged.error) << damaged.title << ", byte " << damaged.at;
  }
}

TEST(TakeMessageTest, WholeMessagesAreTakenWhereverTheBufferIsCut) {
  const std::string first = Golden("FAIL");
  const std::string second = Golden("MFSTART");
  const std::string all = first + second;
  for (size_t size = 0; size <= all.size(); ++size) {
    std::string_view buffer = std::string_view(all).substr(0, size);
    std::vector<std::string_view> taken;
    for (;;) {
      const Result<std::optional<std::string_view>> message = TakeMessage(buffer, kNoLimit);
      ASSERT_TRUE(message.ok());
      if (!message->has_value()) break;
      taken.push_back(**message);
    }
    ASSERT_EQ(taken.size(), (size >= first.size() ? 1u : 0u) + (size == all.size() ? 1u : 0u)) << size;
    EXPECT_TRUE(taken.empty() || taken[0] == first);
    EXPECT_TRUE(taken.size() < 2 || taken[1] == second);
    EXPECT_EQ(buffer.size(), size == all.size() ? 0 : size - (taken.empty() ? 0 : first.size()));
  }
}

TEST(TakeMessageTest, ABufferWithoutMessagesIsAnError) {
  const auto error = [](std::string_view buffer, size_t limit) {
    const Result<std::optional<std::string_view>> message = TakeMessage(buffer, limit);
    return message.ok() ? "accepted" : std::string(message.status().text());
  };
  const std::string fail = Golden("FAIL");
  EXPECT_EQ(error("R", kNoLimit), "accepted");
  EXPECT_EQ(error("G", kNoLimit), "sig: no message of the cluster bus");
  EXPECT_EQ(error("RCmB", kNoLimit), "sig: no message of the cluster bus");
  EXPECT_EQ(error(fail, fail.size()), "accepted");
  EXPECT_EQ(error(fail, fail.size() - 1), "totlen: 2296 bytes, not between 2256 and 2295");
  EXPECT_EQ(error(std::string_view("RCmb\0\0\x08\xcf", 8), kNoLimit),
            "totlen: 2255 bytes, not between 2256 and 1073741824");
  EXPECT_EQ(error("RCmb\xff\xff\xff\xff", kNoLimit), "totlen: 4294967295 bytes, not between 2256 and 1073741824");
}

}  // namespace
}  // namespace cairn
