// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/reply.h"

#include <algorithm>
#include <cstdlib>

#include "simulation/text.h"

namespace cairn::simulation {
namespace {

std::string_view FirstWord(std::string_view text) { return text.substr(0, text.find(' ')); }

std::vector<std::string> SortedGroups(const Reply& array, size_t group) {
  std::vector<std::string> groups;
  for (size_t i = 0; i < array.items.size(); ++i) {
    if (i % group == 0) groups.emplace_back();
    groups.back() += ToText(array.items[i]) + " ";
  }
  std::sort(groups.begin(), groups.end());
  return groups;
}

}  // namespace

Reply ParseReply(std::string_view& bytes) {
  const size_t end = bytes.find("\r\n");
  if (end == std::string_view::npos) return Failure("UNPARSABLE");
  const char kind = bytes[0];
  std::string text(bytes.substr(1, end - 1));
  bytes.remove_prefix(end + 2);
  if (kind == '+') return Simple(std::move(text));
  if (kind == '-') return Failure(std::move(text));
  if (kind == ':') return {Reply::Kind::kInteger, std::move(text)};
  const int64_t size = std::strtoll(text.c_str(), nullptr, 10);
  if (size < 0) return Nil();
  if (kind == '$') {
    Reply reply = Bulk(std::string(bytes.substr(0, static_cast<size_t>(size))));
    bytes.remove_prefix(std::min(bytes.size(), static_cast<size_t>(size) + 2));
    return reply;
  }
  Reply reply = Array({});
  for (int64_t i = 0; i < size && !bytes.empty(); ++i) reply.items.push_back(ParseReply(bytes));
  return reply;
}

bool Matches(const Reply& expected, const Reply& actual) {
  if (expected.kind != actual.kind) return false;
  if (expected.kind == Reply::Kind::kError) return FirstWord(expected.text) == FirstWord(actual.text);
  if (expected.kind != Reply::Kind::kArray) return expected.text == actual.text;
  if (expected.items.size() != actual.items.size()) return false;
  if (expected.unordered_group > 0) {
    return SortedGroups(expected, expected.unordered_group) == SortedGroups(actual, expected.unordered_group);
  }
  return std::equal(expected.items.begin(), expected.items.end(), actual.items.begin(), Matches);
}

std::string ToText(const Reply& reply) {
  switch (reply.kind) {
    case Reply::Kind::kSimple: return "+" + reply.text;
    case Reply::Kind::kError: return "-" + reply.text;
    case Reply::Kind::kInteger: return ":" + reply.text;
    case Reply::Kind::kBulk: return Quoted(reply.text);
    case Reply::Kind::kNil: return "(nil)";
    case Reply::Kind::kWaits: return "(waits)";
    case Reply::Kind::kArray: break;
  }
  std::string text = "[";
  for (const Reply& item : reply.items) text += (text.size() > 1 ? " " : "") + ToText(item);
  return text + "]";
}

}  // namespace cairn::simulation
