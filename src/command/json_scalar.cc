// SPDX-License-Identifier: BSD-3-Clause
//
// JSON scalars and objects: JSON.NUMINCRBY, STRAPPEND, TOGGLE, CLEAR, OBJKEYS and similar commands.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "command/families.h"
#include "command/fixed.h"
#include "command/json_document.h"
#include "command/json_reply.h"

namespace cairn {
namespace {

enum class Operation : uint8_t { kAdd, kMultiply };

bool IsNumber(const JsonValue& value) { return value.IsNumber(); }
bool IsString(const JsonValue& value) { return value.Is(JsonKind::kString); }
bool IsBool(const JsonValue& value) { return value.Is(JsonKind::kBool); }

// The result of integers is an integer, and an error if none can hold it; otherwise it is a double.
Status Calculate(JsonValue& value, const JsonValue& by, Operation operation) {
  if (value.Is(JsonKind::kInteger) && by.Is(JsonKind::kInteger)) {
    const int64_t a = std::get<int64_t>(value.data);
    const int64_t b = std::get<int64_t>(by.data);
    int64_t result = 0;
    const bool overflows =
        operation == Operation::kAdd ? __builtin_add_overflow(a, b, &result) : __builtin_mul_overflow(a, b, &result);
    if (overflows) return Status::Reply("ERR numeric overflow");
    value.data = result;
    return Ok();
  }
  const double a = value.AsDouble();
  const double b = by.AsDouble();
  const double result = operation == Operation::kAdd ? a + b : a * b;
  if (!std::isfinite(result)) return Status::Reply("ERR result is not a number");
  value.data = result;
  return Ok();
}

// Replies with the results in RESP2: the text of a number, or of an array of numbers and nulls.
void ReplyNumbers(std::vector<std::string> texts, bool is_legacy, Reply& reply) {
  if (is_legacy) {
    std::erase(texts, "");
    reply.Bulk(texts.back());
    return;
  }
  std::string all = "[";
  for (const std::string& text : texts) {
    if (all.size() > 1) all += ',';
    all += text.empty() ? "null" : text;
  }
  reply.Bulk(all + "]");
}

// JSON.NUMINCRBY and JSON.NUMMULTBY key path number
Status CalculateAt(CommandContext& ctx, Args& args, Reply& reply, Operation operation) {
  JsonDocument document(ctx, args.Bytes());
  TRY(document.Open(args.Bytes(), MissingKey::kError));
  const JsonValue by = TRY(document.Parse(args.Bytes()));
  if (!by.IsNumber()) return Status::Reply("ERR bad input number");
  const std::string_view event = operation == Operation::kAdd ? "json.numincrby" : "json.nummultby";
  const auto edit = [&](JsonValue& value, Reply& part) -> Status {
    TRY(Calculate(value, by, operation));
    if (reply.protocol() < 3) {
      part.Raw(JsonText(value));
    } else if (value.Is(JsonKind::kInteger)) {
      part.Integer(std::get<int64_t>(value.data));
    } else {
      part.Double(value.AsDouble());
    }
    return Ok();
  };
  std::vector<std::string> parts =
      TRY(document.EditMatches(IsNumber, "does not contains a number", event, edit, reply.protocol()));
  if (reply.protocol() < 3) {
    ReplyNumbers(std::move(parts), document.path().is_legacy(), reply);
    return Ok();
  }
  ReplyJsonParts(parts, reply);
  return Ok();
}

// JSON.STRAPPEND key [path] value
Status JsonStrAppend(CommandContext& ctx, Args& args, Reply& reply) {
  JsonDocument document(ctx, args.Bytes());
  const std::string_view path = args.left() > 1 ? args.Bytes() : ".";
  TRY(document.Open(path, MissingKey::kError));
  const JsonValue suffix = TRY(document.Parse(args.Bytes()));
  TRY(args.Done());
  if (!suffix.Is(JsonKind::kString)) {
    return Status::Reply("WRONGTYPE wrong type of path value - expected string but found " +
                         std::string(JsonKindName(suffix)));
  }
  TRY(document.CheckCopies(document.matches().size(), suffix.text().size()));
  return document.EditAndReply(IsString, "not a string", "json.strappend", reply,
                               [&suffix](JsonValue& value, Reply& part) {
                                 value.text() += suffix.text();
                                 part.Integer(static_cast<int64_t>(value.text().size()));
                                 return Ok();
                               });
}

// JSON.TOGGLE key path
Status JsonToggle(CommandContext& ctx, Args& args, Reply& reply) {
  JsonDocument document(ctx, args.Bytes());
  TRY(document.Open(args.Bytes(), MissingKey::kError));
  const bool is_legacy = document.path().is_legacy();
  return document.EditAndReply(IsBool, "not a bool", "json.toggle", reply, [is_legacy](JsonValue& value, Reply& part) {
    const bool is_set = !std::get<bool>(value.data);
    value.data = is_set;
    if (is_legacy) {
      part.Bulk(is_set ? "true" : "false");
    } else {
      part.Integer(is_set ? 1 : 0);
    }
    return Ok();
  });
}

bool HasContent(const JsonValue& value) {
  if (value.Is(JsonKind::kArray)) return !value.array().empty();
  if (value.Is(JsonKind::kObject)) return !value.object().empty();
  return value.IsNumber() && value.AsDouble() != 0;
}

// JSON.CLEAR key [path]
Status JsonClear(CommandContext& ctx, Args& args, Reply& reply) {
  JsonDocument document(ctx, args.Bytes());
  const std::string_view path = JsonPathArgument(args);
  TRY(args.Done());
  TRY(document.Open(path, MissingKey::kError));
  std::vector<JsonLocation> places;
  for (const JsonMatch& match : document.matches()) {
    if (HasContent(*match.value)) places.push_back(match.location);
  }
  std::sort(places.rbegin(), places.rend());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  for (const JsonLocation& place : places) {
    JsonValue& value = ValueAt(document.root(), place);
    if (value.Is(JsonKind::kArray)) {
      value.array().clear();
    } else if (value.Is(JsonKind::kObject)) {
      value.object().clear();
    } else {
      value.data = int64_t{0};
    }
  }
  reply.Integer(static_cast<int64_t>(places.size()));
  return places.empty() ? Ok() : document.Store("json.clear");
}

// Replies with a part for each value of the kind; `mismatch` is the error of a legacy path to another kind.
template <typename ReplyOne>
Status ReplyEach(JsonDocument& document, JsonKind kind, std::string_view mismatch, Reply& reply,
                 const ReplyOne& reply_one) {
  if (document.path().is_legacy()) {
    if (document.LacksLegacy()) {
      reply.Null();
    } else if (const JsonValue& value = *document.matches()[0].value; !value.Is(kind)) {
      return Status::Reply(mismatch);
    } else {
      reply_one(value);
    }
    return Ok();
  }
  return ReplyJsonMatches(document.matches(), document.work(), reply, [&](const JsonValue& value) {
    if (value.Is(kind)) {
      reply_one(value);
    } else {
      reply.Null();
    }
    return Ok();
  });
}

// Opens the document that a command measures. A missing key is an error only for a JSONPath.
Status OpenToRead(JsonDocument& document, std::string_view path, std::string_view missing) {
  TRY(document.Open(path, MissingKey::kAllowed));
  const bool is_error = !document.exists() && !document.path().is_legacy();
  return is_error ? Status::Reply(missing) : Ok();
}

// JSON.STRLEN key [path]
Status JsonStrLen(CommandContext& ctx, Args& args, Reply& reply) {
  JsonDocument document(ctx, args.Bytes());
  TRY(OpenToRead(document, JsonPathArgument(args), kNoJsonKey));
  if (document.exists() && document.LacksLegacy()) return Status::Reply(kNoJsonPath);
  return ReplyEach(document, JsonKind::kString, "WRONGTYPE wrong type of path value - expected string", reply,
                   [&reply](const JsonValue& value) { reply.Integer(static_cast<int64_t>(value.text().size())); });
}

// JSON.OBJLEN key [path]
Status JsonObjLen(CommandContext& ctx, Args& args, Reply& reply) {
  JsonDocument document(ctx, args.Bytes());
  TRY(OpenToRead(document, JsonPathArgument(args), "ERR Path does not exist or not an object"));
  return ReplyEach(document, JsonKind::kObject, "WRONGTYPE wrong type of path value - expected object", reply,
                   [&reply](const JsonValue& value) { reply.Integer(static_cast<int64_t>(value.object().size())); });
}

// JSON.OBJKEYS key [path]
Status JsonObjKeys(CommandContext& ctx, Args& args, Reply& reply) {
  JsonDocument document(ctx, args.Bytes());
  TRY(OpenToRead(document, JsonPathArgument(args), kNoJsonKey));
  return ReplyEach(document, JsonKind::kObject, "ERR Path does not exist or not an object", reply,
                   [&reply](const JsonValue& value) {
                     reply.Array(value.object().size());
                     for (const JsonMember& member : value.object()) reply.Bulk(member.name);
                   });
}

constexpr auto kGroup = Group::kJson;
constexpr std::string_view kComplexity = "O(N) with N the size of the document";

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "json.numincrby", .arity = 4, .flags = kWrite, .keys = {OneKey(kRW | kUpdate | kAccess)},
     .run = Fixed<CalculateAt, Operation::kAdd>, .group = kGroup, .since = "1.0.0",
     .summary = "Adds to the numbers at a path.", .complexity = kComplexity, .syntax = "key path value"},
    {.name = "json.nummultby", .arity = 4, .flags = kWrite, .keys = {OneKey(kRW | kUpdate | kAccess)},
     .run = Fixed<CalculateAt, Operation::kMultiply>, .group = kGroup, .since = "1.0.0",
     .summary = "Multiplies the numbers at a path.", .complexity = kComplexity, .syntax = "key path value"},
    {.name = "json.strappend", .arity = -3, .flags = kWrite | kDenyOom, .keys = {OneKey(kRW | kUpdate | kAccess)},
     .run = JsonStrAppend, .group = kGroup, .since = "1.0.0", .summary = "Appends to the strings at a path.",
     .complexity = kComplexity, .syntax = "key [path] value"},
    {.name = "json.strlen", .arity = -2, .flags = kReadonly, .keys = {OneKey(kRO)}, .run = JsonStrLen,
     .group = kGroup, .since = "1.0.0", .summary = "Returns the lengths of the strings at a path.",
     .complexity = kComplexity, .syntax = "key [path]"},
    {.name = "json.toggle", .arity = 3, .flags = kWrite | kDenyOom, .keys = {OneKey(kRW | kUpdate | kAccess)},
     .run = JsonToggle, .group = kGroup, .since = "2.0.0", .summary = "Inverts the booleans at a path.",
     .complexity = kComplexity, .syntax = "key path"},
    {.name = "json.clear", .arity = -2, .flags = kWrite, .keys = {OneKey(kRW | kUpdate)}, .run = JsonClear,
     .group = kGroup, .since = "2.0.0", .summary = "Empties the arrays and objects at a path, and zeroes its numbers.",
     .complexity = kComplexity, .syntax = "key [path]"},
    {.name = "json.objkeys", .arity = -2, .flags = kReadonly, .keys = {OneKey(kRO | kAccess)}, .run = JsonObjKeys,
     .group = kGroup, .since = "1.0.0", .summary = "Returns the names of the members of the objects at a path.",
     .complexity = kComplexity, .syntax = "key [path]"},
    {.name = "json.objlen", .arity = -2, .flags = kReadonly, .keys = {OneKey(kRO)}, .run = JsonObjLen,
     .group = kGroup, .since = "1.0.0", .summary = "Returns the numbers of members of the objects at a path.",
     .complexity = kComplexity, .syntax = "key [path]"},
};
// clang-format on

}  // namespace

std::span<const CommandRow> JsonScalarCommands() { return kRows; }

}  // namespace cairn
