// SPDX-License-Identifier: BSD-3-Clause
//
// JSON documents as a whole: JSON.SET, MSET, MERGE, DEL, and the commands that return values of any kind. Commands on
// scalars and objects are in json_scalar.cc, commands on arrays in json_array.cc.
#include "types/json.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/assert.h"
#include "command/families.h"
#include "command/help.h"
#include "command/json_document.h"
#include "command/json_reply.h"

namespace cairn {
namespace {

enum class SetIf : uint8_t { kAlways, kMissing, kExists };

// RFC 7396. The time is proportional to the members of both, however many there are.
void MergeInto(JsonValue& target, const JsonValue& patch) {
  if (!patch.Is(JsonKind::kObject)) {
    target = patch;
    return;
  }
  if (!target.Is(JsonKind::kObject)) target.data = JsonValue::Object();
  const JsonValue::Object& changes = patch.object();
  absl::flat_hash_map<std::string_view, size_t> change_of;
  for (const JsonMember& change : changes) change_of.emplace(change.name, change_of.size());
  const auto find = [&](const JsonMember& member) {
    const auto found = change_of.find(member.name);
    return found == change_of.end() ? changes.size() : found->second;
  };
  std::vector<bool> is_new(changes.size(), true);
  bool has_null = false;
  for (JsonMember& member : target.object()) {
    const size_t i = find(member);
    if (i == changes.size()) continue;
    is_new[i] = false;
    if (changes[i].value.Is(JsonKind::kNull)) {
      has_null = true;
    } else {
      MergeInto(member.value, changes[i].value);
    }
  }
  if (has_null) {
    std::erase_if(target.object(), [&](const JsonMember& member) {
      const size_t i = find(member);
      return i < changes.size() && changes[i].value.Is(JsonKind::kNull);
    });
  }
  for (size_t i = 0; i < changes.size(); ++i) {
    if (!is_new[i] || changes[i].value.Is(JsonKind::kNull)) continue;
    MergeInto(target.object().emplace_back(JsonMember{changes[i].name, {}}).value, changes[i].value);
  }
}

// Deletes items of one array or object in one pass. REQUIRES: `places` are their locations, at least one and sorted.
template <typename Items>
void RemoveItems(Items& items, std::span<const JsonLocation> places) {
  ASSERT(!places.empty() && places.back().back() < items.size(), "a location of an item");
  size_t kept = places.front().back();
  for (size_t i = kept; i < items.size(); ++i) {
    if (!places.empty() && places.front().back() == i) {
      places = places.subspan(1);
    } else {
      items[kept++] = std::move(items[i]);
    }
  }
  items.erase(items.begin() + static_cast<ptrdiff_t>(kept), items.end());
}

// Deletes the values at these locations. REQUIRES: none is the root or within another one.
void RemoveAll(JsonValue& root, std::vector<JsonLocation> places) {
  // A deletion moves only the values of its container and those below them, so the deepest containers come first.
  std::sort(places.begin(), places.end(), [](const JsonLocation& a, const JsonLocation& b) {
    return a.size() == b.size() ? a < b : a.size() > b.size();
  });
  for (std::span<const JsonLocation> left = places; !left.empty();) {
    ASSERT(!left.front().empty(), "the root is in no array or object");
    const JsonLocation parent(left.front().begin(), left.front().end() - 1);
    const auto end = std::find_if_not(left.begin(), left.end(), [&parent](const JsonLocation& place) {
      return place.size() == parent.size() + 1 && std::equal(parent.begin(), parent.end(), place.begin());
    });
    const auto count = static_cast<size_t>(end - left.begin());
    JsonValue& container = ValueAt(root, parent);
    if (container.Is(JsonKind::kArray)) {
      RemoveItems(container.array(), left.first(count));
    } else {
      RemoveItems(container.object(), left.first(count));
    }
    left = left.subspan(count);
  }
}

// What a write did to the places that a path names.
struct Written {
  bool any = false;
  bool all = false;
};

// Adds the member that the path's last step names to each object that the steps before it match.
Result<Written> AddMembers(JsonDocument& document, const JsonValue& value) {
  const JsonPath& path = document.path();
  if (!path.IsStatic()) return Status::Reply("Err wrong static path");
  const JsonStep& last = path.steps().back();
  if (last.kind == JsonStep::Kind::kIndexes) {
    if (document.matches().empty()) return Status::Reply("ERR array index out of range");
    return Written{};
  }
  const std::vector<JsonMatch> parents = TRY(document.Match(path.Parent()));
  TRY(document.CheckCopies(parents.size(), JsonMemory(value)));
  Written written{.all = !parents.empty()};
  for (const JsonMatch& match : parents) {
    JsonValue& parent = ValueAt(document.root(), match.location);
    const bool adds = parent.Is(JsonKind::kObject) && parent.Find(last.names[0]) == nullptr;
    if (adds) parent.object().push_back({last.names[0], value});
    written.any |= adds;
    written.all &= adds;
  }
  return written;
}

// Writes a value at a path of an open document, in memory only.
Result<Written> SetIn(JsonDocument& document, JsonValue value, SetIf condition) {
  if (document.exists() ? condition == SetIf::kMissing && document.path().IsRoot() : condition == SetIf::kExists) {
    return Written{};
  }
  if (document.path().IsRoot()) {
    document.root() = std::move(value);
    return Written{true, true};
  }
  if (!document.exists()) return Status::Reply(kJsonNotAtRoot);
  if (condition == SetIf::kMissing || document.matches().empty()) {
    if (condition == SetIf::kExists) return Written{};
    return AddMembers(document, value);
  }
  const std::vector<JsonLocation> places = document.TopLocations();
  TRY(document.CheckCopies(places.size(), JsonMemory(value)));
  for (const JsonLocation& place : places) ValueAt(document.root(), place) = value;
  return Written{true, true};
}

Status StoreAndReply(JsonDocument& document, Written written, std::string_view event, Reply& reply) {
  if (written.any) TRY(document.Store(event));
  if (written.all) {
    reply.Ok();
  } else {
    reply.Null();
  }
  return Ok();
}

// Accepts FORMAT JSON, the only form of a document that clients send.
void SkipFormat(Args& args) {
  if (!args.Keyword("json") && !args.Keyword("string")) args.Fail("ERR wrong format");
}

// JSON.SET key path value [NX | XX]
Status JsonSet(CommandContext& ctx, Args& args, Reply& reply) {
  JsonDocument document(ctx, args.Bytes());
  const std::string_view path = args.Bytes();
  const std::string_view text = args.Bytes();
  SetIf condition = SetIf::kAlways;
  while (args.More()) {
    if (condition == SetIf::kAlways && args.Keyword("nx")) {
      condition = SetIf::kMissing;
    } else if (condition == SetIf::kAlways && args.Keyword("xx")) {
      condition = SetIf::kExists;
    } else if (args.Keyword("format")) {
      SkipFormat(args);
    } else {
      break;
    }
  }
  TRY(args.Done());
  TRY(document.Open(path, MissingKey::kAllowed));
  JsonValue value = TRY(document.Parse(text));
  return StoreAndReply(document, TRY(SetIn(document, std::move(value), condition)), "json.set", reply);
}

// JSON.MSET key path value [key path value ...]
Status JsonMSet(CommandContext& ctx, Args& args, Reply& reply) {
  if ((args.size() - 1) % 3 != 0) return Status::Reply("ERR wrong number of arguments for 'json.mset' command");
  for (size_t i = 1; i < args.size(); i += 3) {  // nothing is written unless all of it can be
    JsonDocument document(ctx, args[i]);
    TRY(document.Open(args[i + 1], MissingKey::kAllowed));
    TRY(SetIn(document, TRY(document.Parse(args[i + 2])), SetIf::kAlways));
  }
  Written all{.all = true};
  for (size_t i = 1; i < args.size(); i += 3) {
    JsonDocument document(ctx, args[i]);
    TRY(document.Open(args[i + 1], MissingKey::kAllowed));
    const Written written = TRY(SetIn(document, TRY(document.Parse(args[i + 2])), SetIf::kAlways));
    if (written.any) TRY(document.Store("json.mset"));
    all.all &= written.all;
  }
  if (all.all) {
    reply.Ok();
  } else {
    reply.Null();
  }
  return Ok();
}

// JSON.MERGE key path value
Status JsonMerge(CommandContext& ctx, Args& args, Reply& reply) {
  JsonDocument document(ctx, args.Bytes());
  const std::string_view path = args.Bytes();
  const std::string_view text = args.Bytes();
  if (args.Keyword("format")) SkipFormat(args);
  TRY(args.Done());
  TRY(document.Open(path, MissingKey::kAllowed));
  const JsonValue patch = TRY(document.Parse(text));
  if (!document.exists() || document.matches().empty()) {
    return StoreAndReply(document, TRY(SetIn(document, patch, SetIf::kAlways)), "json.merge", reply);
  }
  std::vector<JsonLocation> places = document.TopLocations();
  if (patch.Is(JsonKind::kNull) && !places[0].empty()) {
    RemoveAll(document.root(), std::move(places));
    return StoreAndReply(document, {true, true}, "json.merge", reply);
  }
  places.clear();
  for (const JsonMatch& match : document.matches()) places.push_back(match.location);
  std::sort(places.rbegin(), places.rend());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  TRY(document.CheckCopies(places.size(), JsonMemory(patch)));
  for (const JsonLocation& place : places) MergeInto(ValueAt(document.root(), place), patch);
  return StoreAndReply(document, {true, true}, "json.merge", reply);
}

// JSON.DEL key [path]
Status JsonDel(CommandContext& ctx, Args& args, Reply& reply) {
  JsonDocument document(ctx, args.Bytes());
  const std::string_view path = JsonPathArgument(args);
  TRY(args.Done());
  TRY(document.Open(path, MissingKey::kAllowed));
  std::vector<JsonLocation> places = document.TopLocations();
  reply.Integer(static_cast<int64_t>(places.size()));
  if (places.empty()) return Ok();
  if (document.path().IsRoot()) return document.Remove("json.del");
  RemoveAll(document.root(), std::move(places));
  const JsonValue& root = document.root();
  const bool is_empty = root.Is(JsonKind::kArray) ? root.array().empty() : root.object().empty();
  return is_empty ? document.Remove("json.del") : document.Store("json.del");
}

// JSON.GET key [INDENT text] [NEWLINE text] [SPACE text] [FORMAT format] [path ...]
Status JsonGet(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(args.Bytes());
  const JsonGetOptions options = TRY(ParseJsonGetOptions(args, reply.protocol()));
  Json json(keys, key);
  TRY(json.Open());
  if (!json.exists()) {
    reply.Null();
    return Ok();
  }
  return ReplyJsonGet(json, options, reply);
}

// JSON.MGET key [key ...] path
Status JsonMGet(CommandContext& ctx, Args& args, Reply& reply) {
  const auto path = TRY(ParseJsonPath(ctx, args[args.size() - 1]));
  reply.Array(args.size() - 2);
  for (size_t i = 1; i + 1 < args.size(); ++i) {
    JsonDocument document(ctx, args[i]);
    Status opened = document.Open(path, MissingKey::kError);
    if (!opened.ok() && !opened.Is(Code::kReply)) return opened;
    if (!opened.ok() || document.LacksLegacy()) {
      reply.Null();
    } else if (path->is_legacy()) {
      reply.Bulk(JsonText(*document.matches()[0].value));
    } else {
      reply.Bulk(TRY(JsonTextOf(document.matches(), {}, document.work(), reply)));
    }
  }
  return Ok();
}

// JSON.TYPE key [path]
Status JsonType(CommandContext& ctx, Args& args, Reply& reply) {
  JsonDocument document(ctx, args.Bytes());
  TRY(document.Open(JsonPathArgument(args), MissingKey::kAllowed));
  if (reply.protocol() == 3) reply.Array(1);
  if (!document.exists() || document.LacksLegacy()) {
    reply.Null();
    return Ok();
  }
  if (document.path().is_legacy()) {
    reply.Bulk(JsonKindName(*document.matches()[0].value));
    return Ok();
  }
  return ReplyJsonMatches(document.matches(), document.work(), reply, [&reply](const JsonValue& value) {
    reply.Bulk(JsonKindName(value));
    return Ok();
  });
}

// JSON.RESP key [path]
Status JsonResp(CommandContext& ctx, Args& args, Reply& reply) {
  JsonDocument document(ctx, args.Bytes());
  TRY(document.Open(JsonPathArgument(args), MissingKey::kAllowed));
  if (!document.exists()) {
    reply.Null();
    return Ok();
  }
  if (document.LacksLegacy()) return Status::Reply(kNoJsonPath);
  if (document.path().is_legacy()) {
    ReplyJsonAsResp(*document.matches()[0].value, reply);
    return Ok();
  }
  return ReplyJsonMatches(document.matches(), document.work(), reply, [&reply](const JsonValue& value) {
    ReplyJsonAsResp(value, reply);
    return Ok();
  });
}

// JSON.DEBUG MEMORY key [path]: the bytes of the values' text.
Status JsonDebugMemory(CommandContext& ctx, Args& args, Reply& reply) {
  args.Skip(1);
  JsonDocument document(ctx, args.Bytes());
  TRY(document.Open(JsonPathArgument(args), MissingKey::kAllowed));
  if (document.exists() && document.LacksLegacy()) return Status::Reply(kNoJsonPath);
  const auto reply_size = [&](const JsonValue& value) -> Status {
    const size_t bytes = JsonText(value).size();
    TRY(document.work().Visit(bytes / kJsonBytesPerVisit));
    reply.Integer(static_cast<int64_t>(bytes));
    return Ok();
  };
  if (!document.path().is_legacy()) return ReplyJsonMatches(document.matches(), document.work(), reply, reply_size);
  if (document.exists()) return reply_size(*document.matches()[0].value);
  reply.Integer(0);
  return Ok();
}

constexpr std::string_view kDebugHelp[] = {
    "MEMORY <key> [path]",
    "    Return the bytes of the text of the values.",
};

constexpr auto kGroup = Group::kJson;

// clang-format off
constexpr CommandRow kDebugRows[] = {
    {.name = "memory", .arity = -3, .flags = kReadonly, .keys = {OneKey(kRO | kAccess, 2)}, .run = JsonDebugMemory,
     .group = kGroup, .since = "1.0.0", .summary = "Returns the bytes of the text of JSON values.",
     .complexity = "O(N) with N the size of the document", .syntax = "key [path]"},
    {.name = "help", .arity = 2, .flags = kReadonly, .run = Help<kDebugHelp>, .group = kGroup, .since = "1.0.0",
     .summary = "Describes the subcommands.", .complexity = "O(1)"},
};

constexpr CommandRow kRows[] = {
    {.name = "json.set", .arity = -4, .flags = kWrite | kDenyOom, .keys = {OneKey(kRW | kUpdate | kAccess)},
     .run = JsonSet, .group = kGroup, .since = "1.0.0", .summary = "Sets the JSON value at a path; creates the key.",
     .complexity = "O(M+N) with M and N the sizes of the document and of the new value",
     .syntax = "key path value [NX | XX] [FORMAT format]"},
    {.name = "json.mset", .arity = -4, .flags = kWrite | kDenyOom, .keys = {KeysToEnd(kRW | kUpdate | kAccess, 1, 3)},
     .run = JsonMSet, .group = kGroup, .since = "2.6.0", .summary = "Sets JSON values at paths of several keys.",
     .complexity = "O(K*(M+N)) with K values of size N in documents of size M",
     .syntax = "key path value [key path value ...]"},
    {.name = "json.merge", .arity = -4, .flags = kWrite | kDenyOom, .keys = {OneKey(kRW | kUpdate | kAccess)},
     .run = JsonMerge, .group = kGroup, .since = "2.6.0",
     .summary = "Merges a JSON value into the values at a path.",
     .complexity = "O(M+N) with M and N the sizes of the document and of the new value",
     .syntax = "key path value [FORMAT format]"},
    {.name = "json.del", .arity = -2, .flags = kWrite, .keys = {OneKey(kRW | kDelete)}, .run = JsonDel,
     .group = kGroup, .since = "1.0.0", .summary = "Deletes the JSON values at a path, or the key.",
     .complexity = "O(N) with N the size of the document", .syntax = "key [path]"},
    {.name = "json.forget", .arity = -2, .flags = kWrite, .keys = {OneKey(kRW | kDelete)}, .run = JsonDel,
     .group = kGroup, .since = "1.0.0", .summary = "The same as JSON.DEL.",
     .complexity = "O(N) with N the size of the document", .syntax = "key [path]"},
    {.name = "json.get", .arity = -2, .flags = kReadonly, .keys = {OneKey(kRO | kAccess)}, .run = JsonGet,
     .group = kGroup, .since = "1.0.0", .summary = "Returns JSON values at paths as text.",
     .complexity = "O(N) with N the size of the document",
     .syntax = "key [INDENT indent] [NEWLINE newline] [SPACE space] [FORMAT format] [path [path ...]]"},
    {.name = "json.mget", .arity = -3, .flags = kReadonly,
     .keys = {{.flags = kRO | kAccess, .begin = 1, .last = -2}}, .run = JsonMGet, .group = kGroup, .since = "1.0.0",
     .summary = "Returns the JSON values at one path of several keys.",
     .complexity = "O(M*N) with M keys of documents of size N", .syntax = "key [key ...] path"},
    {.name = "json.type", .arity = -2, .flags = kReadonly, .keys = {OneKey(kRO | kAccess)}, .run = JsonType,
     .group = kGroup, .since = "1.0.0", .summary = "Returns the kinds of the JSON values at a path.",
     .complexity = "O(N) with N the size of the document", .syntax = "key [path]"},
    {.name = "json.resp", .arity = -2, .flags = kReadonly, .keys = {OneKey(kRO | kAccess)}, .run = JsonResp,
     .group = kGroup, .since = "1.0.0", .summary = "Returns JSON values in the types of the protocol.",
     .complexity = "O(N) with N the size of the document", .syntax = "key [path]"},
    {.name = "json.debug", .arity = -2, .flags = kSubcommands, .group = kGroup, .since = "1.0.0",
     .summary = "Commands for the inspection of JSON values.", .complexity = "Depends on the subcommand.",
     .subcommands = kDebugRows},
};
// clang-format on

}  // namespace

std::span<const CommandRow> JsonCommands() { return kRows; }

}  // namespace cairn
