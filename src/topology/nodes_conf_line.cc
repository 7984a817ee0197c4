// SPDX-License-Identifier: BSD-3-Clause
#include "topology/nodes_conf_line.h"

#include <fmt/format.h>

#include <limits>
#include <string>
#include <utility>

#include "base/number.h"
#include "base/words.h"
#include "bus/node_text.h"
#include "topology/node_line.h"

namespace cairn {
namespace {

constexpr size_t kFewestFields = 8;

Status Bad(std::string_view what, std::string_view text) {
  return Status::Corruption(fmt::format("{} {}", what, ShowWord(text)));
}

// Cuts `text` at its first `separator` and returns the part before it; the whole text if there is none.
std::string_view CutAt(std::string_view& text, char separator) {
  const size_t at = text.find(separator);
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return part;
}

Result<uint64_t> ParseNumber(std::string_view what, std::string_view text, uint64_t max) {
  const std::optional<uint64_t> number = ParseUint64(text);
  if (!number || *number > max) return Bad(fmt::format("the {} is not a number up to {}:", what, max), text);
  return *number;
}

Result<uint16_t> ParsePort(std::string_view what, std::string_view text) {
  return static_cast<uint16_t>(TRY(ParseNumber(what, text, std::numeric_limits<uint16_t>::max())));
}

Result<NodeId> ParseId(std::string_view what, std::string_view text) {
  const std::optional<NodeId> id = NodeId::Parse(text);
  if (!id) return Bad(fmt::format("the {} is not 40 hex digits:", what), text);
  return *id;
}

// The name=value fields of an address.
struct NamedFields {
  std::optional<uint16_t> port;
  std::optional<uint16_t> tls_port;
};

Status ParseNamedField(std::string_view field, Node& node, NamedFields& named) {
  std::string_view value = field;
  const std::string_view name = CutAt(value, '=');
  if (name == "shard-id") {
    node.shard_id = TRY(ParseId("shard id", value));
  } else if (name == "nodename") {
    if (IsHumanName(value)) node.human_name = value;  // Redis accepts more than this server writes
  } else if (name == "tcp-port") {
    named.port = TRY(ParsePort("tcp-port", value));
  } else if (name == "tls-port") {
    named.tls_port = TRY(ParsePort("tls-port", value));
  } else {
    return Bad("an unknown field of the address:", field);
  }
  return Ok();
}

// ip:port[@cport], with the last colon, because an IPv6 address has colons too.
Status ParseIpAndPorts(std::string_view text, const NamedFields& named, NodesConfPort old_port, Node& node) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return Bad("no port in the address:", text);
  const std::string_view ip = text.substr(0, colon);
  if (!ip.empty() && !IsHost(ip)) return Bad("no IP address:", ip);
  node.ip = ip;
  std::string_view cport = text.substr(colon + 1);
  const uint16_t port = TRY(ParsePort("port", CutAt(cport, '@')));
  const bool is_old = !named.port && !named.tls_port;
  const bool is_tls_port = is_old ? old_port == NodesConfPort::kTls : named.port.has_value();
  node.port = named.port.value_or(is_tls_port ? 0 : port);
  node.tls_port = named.tls_port.value_or(is_tls_port ? port : 0);
  node.cport = cport.empty() ? TRY(ParsePort("bus port", std::to_string(port + kBusPortOffset)))
                             : TRY(ParsePort("bus port", cport));
  return Ok();
}

Status ParseAddress(std::string_view text, NodesConfPort old_port, Node& node) {
  const std::string_view ip_and_ports = CutAt(text, ',');
  const std::string_view hostname = CutAt(text, ',');
  if (!hostname.empty() && !IsHostname(hostname)) return Bad("no hostname:", hostname);
  node.hostname = hostname;
  NamedFields named;
  while (!text.empty()) TRY(ParseNamedField(CutAt(text, ','), node, named));
  return ParseIpAndPorts(ip_and_ports, named, old_port, node);
}

Status ParseFlags(std::string_view text, NodeFlags& flags) {
  while (!text.empty()) {
    const std::string_view name = CutAt(text, ',');
    if (!AddFlagByName(flags, name)) return Bad("an unknown flag", name);
  }
  return Ok();
}

Result<int> ParseSlot(std::string_view text) {
  return static_cast<int>(TRY(ParseNumber("slot", text, kSlotCount - 1)));
}

Status ParseOpenSlot(std::string_view text, NodeFields& fields) {
  std::string_view rest = text;
  const std::string_view slot = CutAt(rest, '-').substr(1);
  const bool is_migrating = rest.starts_with(">-");
  if ((!is_migrating && !rest.starts_with("<-")) || !rest.ends_with(']')) return Bad("no open slot:", text);
  rest.remove_prefix(2);
  rest.remove_suffix(1);
  fields.open_slots.push_back(
      {.slot = TRY(ParseSlot(slot)), .is_migrating = is_migrating, .peer = TRY(ParseId("peer of an open slot", rest))});
  return Ok();
}

Status ParseSlots(std::string_view text, NodeFields& fields) {
  if (text.starts_with('[')) return ParseOpenSlot(text, fields);
  const size_t dash = text.find('-');
  const int first = TRY(ParseSlot(text.substr(0, dash)));
  const int last = dash == std::string_view::npos ? first : TRY(ParseSlot(text.substr(dash + 1)));
  if (last < first) return Bad("a range of slots that ends before it starts:", text);
  fields.slots.push_back({first, last});
  return Ok();
}

}  // namespace

bool IsEpochLine(std::string_view line) { return EqualsIgnoreCase(line.substr(0, line.find(' ')), "vars"); }

Result<EpochFields> ParseEpochLine(std::string_view line) {
  const std::optional<std::vector<std::string>> words = SplitWords(line);
  if (!words || words->size() % 2 == 0) return Status::Corruption("a variable without a value");
  std::optional<uint64_t> current;
  std::optional<uint64_t> last_vote;
  bool is_controlled = false;
  for (size_t i = 1; i < words->size(); i += 2) {
    const std::string& name = (*words)[i];
    const uint64_t value = TRY(ParseNumber(name, (*words)[i + 1], std::numeric_limits<uint64_t>::max()));
    if (EqualsIgnoreCase(name, "currentEpoch")) current = value;
    else if (EqualsIgnoreCase(name, "lastVoteEpoch")) last_vote = value;
    else if (name == "controlled") is_controlled = value != 0;
  }
  if (!current || !last_vote) return Status::Corruption("no currentEpoch or no lastVoteEpoch");
  return EpochFields{.current = *current, .last_vote = *last_vote, .is_controlled = is_controlled};
}

Result<NodeFields> ParseNodeLine(std::string_view line, NodesConfPort old_port) {
  constexpr uint64_t kLatest = std::numeric_limits<int64_t>::max();
  const std::optional<std::vector<std::string>> words = SplitWords(line);
  if (!words) return Status::Corruption("unbalanced quotes");
  const std::vector<std::string>& word = *words;
  if (word.size() < kFewestFields) {
    return Status::Corruption(fmt::format("{} fields, a node has at least {}", word.size(), kFewestFields));
  }
  NodeFields fields(TRY(ParseId("id", word[0])));
  Node& node = fields.node;
  TRY(ParseAddress(word[1], old_port, node));
  TRY(ParseFlags(word[2], node.flags));
  if (word[3] != "-") fields.master = TRY(ParseId("master", word[3]));
  node.ping_sent_ms = static_cast<int64_t>(TRY(ParseNumber("time of the ping", word[4], kLatest)));
  node.pong_received_ms = static_cast<int64_t>(TRY(ParseNumber("time of the pong", word[5], kLatest)));
  node.config_epoch = TRY(ParseNumber("config epoch", word[6], std::numeric_limits<uint64_t>::max()));
  node.is_connected = word[7] == "connected";
  if (!node.is_connected && word[7] != "disconnected") return Bad("an unknown state of the link:", word[7]);
  for (size_t i = kFewestFields; i < word.size(); ++i) TRY(ParseSlots(word[i], fields));
  return fields;
}

}  // namespace cairn
