// SPDX-License-Identifier: BSD-3-Clause
#include "command/command_replies.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "command/acl_categories.h"
#include "command/syntax.h"

namespace cairn {
namespace {

struct FlagName {
  uint32_t flag;
  std::string_view name;
};

// No row has this flag: it follows from the key specs.
constexpr uint32_t kMovableKeys = 1u << 31;

constexpr FlagName kCommandFlags[] = {
    {kWrite, "write"},
    {kReadonly, "readonly"},
    {kDenyOom, "denyoom"},
    {kAdmin, "admin"},
    {kPubsub, "pubsub"},
    {kNoScript, "noscript"},
    {kBlocking, "blocking"},
    {kLoading, "loading"},
    {kStale, "stale"},
    {kSkipMonitor, "skip_monitor"},
    {kSkipSlowlog, "skip_slowlog"},
    {kAsking, "asking"},
    {kFast, "fast"},
    {kNoAuth, "no_auth"},
    {kNoMandatoryKeys, "no_mandatory_keys"},
    {kNoAsyncLoading, "no_async_loading"},
    {kNoMulti, "no_multi"},
    {kMovableKeys, "movablekeys"},
    {kAllowBusy, "allow_busy"},
};

constexpr FlagName kKeyFlags[] = {
    {kRO, "RO"},
    {kRW, "RW"},
    {kOW, "OW"},
    {kRM, "RM"},
    {kAccess, "access"},
    {kUpdate, "update"},
    {kInsert, "insert"},
    {kDelete, "delete"},
    {kNotKey, "not_key"},
    {kIncomplete, "incomplete"},
    {kVariableFlags, "variable_flags"},
};

// The last one is of all groups from kJson on.
constexpr std::string_view kGroupNames[] = {
    "generic", "string",    "list",        "set",     "sorted-set", "hash", "pubsub", "transactions", "connection",
    "server",  "scripting", "hyperloglog", "cluster", "sentinel",   "geo",  "stream", "bitmap",       "module",
};

void ReplyFlags(uint64_t flags, std::span<const FlagName> names, Reply& reply) {
  const auto is_set = [flags](const FlagName& name) { return (flags & name.flag) != 0; };
  reply.Set(static_cast<size_t>(std::count_if(names.begin(), names.end(), is_set)));
  for (const FlagName& name : names) {
    if (is_set(name)) reply.Simple(name.name);
  }
}

// The key specs that a row uses.
std::span<const KeySpec> KeySpecsOf(const CommandRow& row) {
  size_t count = 0;
  while (count < std::size(row.keys) && row.keys[count].IsUsed()) ++count;
  return {row.keys, count};
}

// Keys as a first, a last and a step, the form before key specs.
struct KeyRange {
  int first = 0;
  int last = 0;  // negative: from the end
  int step = 0;
  bool movable = false;  // the range does not cover all keys
};

bool IsRange(const KeySpec& spec) { return spec.keyword.empty() && spec.keynum < 0; }

int LastOf(const KeySpec& spec) { return spec.last >= 0 ? spec.begin + spec.last : spec.last; }

// Merges adjacent ranges of step one. Specs that do not fit into the range make the keys movable.
KeyRange RangeOf(std::span<const KeySpec> specs) {
  KeyRange range;
  if (specs.size() == 1 && IsRange(specs[0])) {
    return {specs[0].begin, LastOf(specs[0]), specs[0].step, (specs[0].flags & kIncomplete) != 0};
  }
  for (const KeySpec& spec : specs) {
    const bool follows = range.last == 0 || range.last == spec.begin - 1;
    if (!IsRange(spec) || spec.step != 1 || !follows) {
      range.movable = true;
      continue;
    }
    range.movable |= (spec.flags & kIncomplete) != 0;
    if (range.first == 0) range.first = spec.begin;
    range.last = LastOf(spec);
    range.step = 1;
  }
  return range;
}

// A position that key specs cannot express.
void ReplyUnknown(std::string_view field, Reply& reply) {
  reply.Bulk(field);
  reply.Map(2);
  reply.Bulk("type");
  reply.Bulk("unknown");
  reply.Bulk("spec");
  reply.Map(0);
}

void ReplyBeginSearch(const KeySpec& spec, Reply& reply) {
  if (spec.unknown) return ReplyUnknown("begin_search", reply);
  reply.Bulk("begin_search");
  reply.Map(2);
  reply.Bulk("type");
  reply.Bulk(spec.keyword.empty() ? "index" : "keyword");
  reply.Bulk("spec");
  if (spec.keyword.empty()) {
    reply.Map(1);
    reply.Bulk("index");
    reply.Integer(spec.begin);
  } else {
    reply.Map(2);
    reply.Bulk("keyword");
    reply.Bulk(spec.keyword);
    reply.Bulk("startfrom");
    reply.Integer(spec.begin);
  }
}

void ReplyFindKeys(const KeySpec& spec, Reply& reply) {
  if (spec.unknown) return ReplyUnknown("find_keys", reply);
  const bool counted = spec.keynum >= 0;
  reply.Bulk("find_keys");
  reply.Map(2);
  reply.Bulk("type");
  reply.Bulk(counted ? "keynum" : "range");
  reply.Bulk("spec");
  reply.Map(3);
  reply.Bulk(counted ? "keynumidx" : "lastkey");
  reply.Integer(counted ? spec.keynum : spec.last);
  reply.Bulk(counted ? "firstkey" : "keystep");
  reply.Integer(counted ? spec.first_after_keynum : spec.step);
  reply.Bulk(counted ? "keystep" : "limit");
  reply.Integer(counted ? spec.step : spec.limit);
}

void ReplyKeySpec(const KeySpec& spec, Reply& reply) {
  reply.Map(spec.notes.empty() ? 3 : 4);
  if (!spec.notes.empty()) {
    reply.Bulk("notes");
    reply.Bulk(spec.notes);
  }
  reply.Bulk("flags");
  ReplyKeyFlags(spec.flags, reply);
  ReplyBeginSearch(spec, reply);
  ReplyFindKeys(spec, reply);
}

void ReplyCategories(const Command& command, Reply& reply) {
  const uint32_t bits = AclCategoriesOf(command);
  const std::span<const std::string_view> names = AclCategoryNames();
  reply.Set(static_cast<size_t>(__builtin_popcount(bits)));
  for (size_t i = 0; i < names.size(); ++i) {
    if (bits & (1u << i)) reply.Simple("@" + std::string(names[i]));
  }
}

void ReplyTips(std::string_view tips, Reply& reply) {
  const size_t mark = reply.Later();
  size_t count = 0;
  for (; !tips.empty(); ++count) {
    const size_t end = std::min(tips.find(' '), tips.size());
    reply.Bulk(tips.substr(0, end));
    tips.remove_prefix(std::min(end + 1, tips.size()));
  }
  reply.FinishSet(mark, count);
}

void ReplyField(std::string_view name, std::string_view value, size_t& fields, Reply& reply) {
  if (value.empty()) return;
  reply.Bulk(name);
  reply.Bulk(value);
  ++fields;
}

void ReplyArguments(const std::vector<Argument>& arguments, Reply& reply);

void ReplyArgument(const Argument& argument, Reply& reply) {
  const size_t mark = reply.Later();
  size_t fields = 0;
  ReplyField("name", argument.name, fields, reply);
  ReplyField("type", ArgumentTypeName(argument.type), fields, reply);
  if (argument.key_spec >= 0) {
    reply.Bulk("key_spec_index");
    reply.Integer(argument.key_spec);
    ++fields;
  }
  ReplyField("token", argument.token, fields, reply);
  if (argument.optional || argument.multiple) {
    reply.Bulk("flags");
    reply.Set(static_cast<size_t>(argument.optional) + argument.multiple + argument.multiple_token);
    if (argument.optional) reply.Simple("optional");
    if (argument.multiple) reply.Simple("multiple");
    if (argument.multiple_token) reply.Simple("multiple_token");
    ++fields;
  }
  if (!argument.arguments.empty()) {
    reply.Bulk("arguments");
    ReplyArguments(argument.arguments, reply);
    ++fields;
  }
  reply.FinishMap(mark, fields);
}

void ReplyArguments(const std::vector<Argument>& arguments, Reply& reply) {
  reply.Array(arguments.size());
  for (const Argument& argument : arguments) ReplyArgument(argument, reply);
}

}  // namespace

void ReplyKeyFlags(uint16_t flags, Reply& reply) { ReplyFlags(flags, kKeyFlags, reply); }

void ReplyCommand(const Command& command, Reply& reply) {
  const std::span<const KeySpec> specs = KeySpecsOf(command.row());
  const KeyRange range = RangeOf(specs);
  reply.Array(10);
  reply.Bulk(command.full_name());
  reply.Integer(command.row().arity);
  ReplyFlags(command.flags() | (range.movable ? kMovableKeys : 0), kCommandFlags, reply);
  reply.Integer(range.first);
  reply.Integer(range.last);
  reply.Integer(range.step);
  ReplyCategories(command, reply);
  ReplyTips(command.row().tips, reply);
  reply.Set(specs.size());
  for (const KeySpec& spec : specs) ReplyKeySpec(spec, reply);
  if (command.subcommands().empty()) {
    reply.Set(0);
  } else {
    reply.Array(command.subcommands().size());  // an empty set, but a non-empty array, as in Redis
  }
  for (const Command& child : command.subcommands()) ReplyCommand(child, reply);
}

Status ReplyDocs(const Command& command, Reply& reply) {
  const CommandRow& row = command.row();
  const std::vector<Argument> arguments = TRY(ParseSyntax(row));
  const size_t mark = reply.Later();
  size_t fields = 0;
  ReplyField("summary", row.summary, fields, reply);
  ReplyField("since", row.since, fields, reply);
  // The last name is that of all commands of modules.
  const size_t group = std::min(static_cast<size_t>(row.group), std::size(kGroupNames) - 1);
  ReplyField("group", kGroupNames[group], fields, reply);
  ReplyField("complexity", row.complexity, fields, reply);
  if (!row.deprecated_since.empty()) {
    reply.Bulk("doc_flags");
    reply.Set(1);
    reply.Simple("deprecated");
    ++fields;
    ReplyField("deprecated_since", row.deprecated_since, fields, reply);
    ReplyField("replaced_by", row.replaced_by, fields, reply);
  }
  if (!arguments.empty()) {
    reply.Bulk("arguments");
    ReplyArguments(arguments, reply);
    ++fields;
  }
  if (!command.subcommands().empty()) {
    reply.Bulk("subcommands");
    reply.Map(command.subcommands().size());
    for (const Command& child : command.subcommands()) {
      reply.Bulk(child.full_name());
      TRY(ReplyDocs(child, reply));
    }
    ++fields;
  }
  reply.FinishMap(mark, fields);
  return Ok();
}

}  // namespace cairn
