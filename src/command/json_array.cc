// SPDX-License-Identifier: BSD-3-Clause
//
// JSON arrays: JSON.ARRAPPEND, ARRINSERT, ARRPOP, ARRTRIM, ARRINDEX and ARRLEN.
#include <algorithm>
#include <string>
#include <vector>

#include "command/families.h"
#include "command/json_document.h"
#include "command/json_reply.h"

namespace cairn {
namespace {

constexpr std::string_view kNotArray = "not an array";

bool IsArray(const JsonValue& value) { return value.Is(JsonKind::kArray); }

int64_t Size(const JsonValue& array) { return static_cast<int64_t>(array.array().size()); }

// Parses the remaining arguments, whose values are in memory together.
Result<JsonValue::Array> ParseValues(const JsonDocument& document, Args& args) {
  JsonValue::Array values;
  uint64_t bytes = 0;
  while (args.More()) {
    values.push_back(TRY(document.Parse(args.Bytes(), bytes)));
    bytes += JsonMemory(values.back());
  }
  return values;
}

// JSON.ARRAPPEND key path value [value ...]
Status JsonArrAppend(CommandContext& ctx, Args& args, Reply& reply) {
  JsonDocument document(ctx, args.Bytes());
  const std::string_view path = args.Bytes();
  const JsonValue::Array values = TRY(ParseValues(document, args));
  TRY(document.Open(path, MissingKey::kError));
  TRY(document.CheckCopies(document.matches().size(), JsonMemory(values)));
  return document.EditAndReply(IsArray, kNotArray, "json.arrappend", reply, [&values](JsonValue& value, Reply& part) {
    value.array().insert(value.array().end(), values.begin(), values.end());
    part.Integer(Size(value));
    return Ok();
  });
}

// JSON.ARRINSERT key path index value [value ...]
Status JsonArrInsert(CommandContext& ctx, Args& args, Reply& reply) {
  JsonDocument document(ctx, args.Bytes());
  const std::string_view path = args.Bytes();
  const int64_t index = args.Integer();
  TRY(args.Check());
  const JsonValue::Array values = TRY(ParseValues(document, args));
  TRY(document.Open(path, MissingKey::kError));
  TRY(document.CheckCopies(document.matches().size(), JsonMemory(values)));
  return document.EditAndReply(IsArray, kNotArray, "json.arrinsert", reply,
                               [&](JsonValue& value, Reply& part) -> Status {
                                 const int64_t size = Size(value);
                                 if (index < -size || index > size) return Status::Reply("ERR index out of bounds");
                                 const int64_t at = index < 0 ? index + size : index;
                                 value.array().insert(value.array().begin() + at, values.begin(), values.end());
                                 part.Integer(Size(value));
                                 return Ok();
                               });
}

// The position that an index means: a negative one counts from the end; one beyond an end means the nearest element.
int64_t Clamp(int64_t index, int64_t size) {
  return std::clamp<int64_t>(index < 0 ? index + size : index, 0, std::max<int64_t>(size - 1, 0));
}

// JSON.ARRPOP key [FORMAT format] [path [index]]
Status JsonArrPop(CommandContext& ctx, Args& args, Reply& reply) {
  JsonDocument document(ctx, args.Bytes());
  JsonFormat format = JsonFormat::kText;
  if (args.left() > 1 && args.Keyword("format")) format = TRY(ParseJsonFormat(args, reply.protocol(), "strings"));
  const std::string_view path = JsonPathArgument(args);
  const int64_t index = args.More() ? args.Integer() : -1;
  TRY(args.Done());
  TRY(document.Open(path, MissingKey::kError));
  if (document.path().is_legacy() && format != JsonFormat::kText) {
    return Status::Reply("ERR Legacy paths are supported only with FORMAT STRINGS");
  }
  return document.EditAndReply(IsArray, kNotArray, "json.arrpop", reply, [&](JsonValue& value, Reply& part) {
    if (value.array().empty()) {
      part.Null();
      return Ok();
    }
    const int64_t at = Clamp(index, Size(value));
    const JsonValue popped = std::move(value.array()[static_cast<size_t>(at)]);
    value.array().erase(value.array().begin() + at);
    if (format == JsonFormat::kText) {
      part.Bulk(JsonText(popped));
    } else {
      ReplyJsonExpanded(popped, format, part);
    }
    return Ok();
  });
}

// JSON.ARRTRIM key path start stop
Status JsonArrTrim(CommandContext& ctx, Args& args, Reply& reply) {
  JsonDocument document(ctx, args.Bytes());
  const std::string_view path = args.Bytes();
  const int64_t start = args.Integer();
  const int64_t stop = args.Integer();
  TRY(args.Done());
  TRY(document.Open(path, MissingKey::kError));
  return document.EditAndReply(IsArray, kNotArray, "json.arrtrim", reply, [&](JsonValue& value, Reply& part) {
    const int64_t size = Size(value);
    JsonValue::Array& array = value.array();
    const int64_t first = start < 0 ? std::max<int64_t>(start + size, 0) : start;
    const int64_t last = stop < 0 ? stop + size : std::min(stop, size - 1);
    if (first >= size || last < first) {
      array.clear();
    } else {
      array.erase(array.begin() + last + 1, array.end());
      array.erase(array.begin(), array.begin() + first);
    }
    part.Integer(Size(value));
    return Ok();
  });
}

// The position of a value within [start, end) of an array, or -1. An `end` of 0 is the end of the array. The compared
// values count as visits of `work`.
Result<int64_t> IndexOf(const JsonValue::Array& array, const JsonValue& value, int64_t start, int64_t end,
                        JsonWork& work) {
  const auto size = static_cast<int64_t>(array.size());
  const int64_t first = Clamp(start, size);
  const int64_t last = end == 0 ? size : end < 0 ? std::max<int64_t>(end + size, 0) : std::min(end, size);
  for (int64_t i = first; i < last; ++i) {
    const JsonValue& item = array[static_cast<size_t>(i)];
    if (TRY(AreEqual(item, value, [&work](uint64_t values) { return work.Visit(values); }))) return i;
  }
  return int64_t{-1};
}

// JSON.ARRINDEX key path value [start [stop]]
Status JsonArrIndex(CommandContext& ctx, Args& args, Reply& reply) {
  JsonDocument document(ctx, args.Bytes());
  const std::string_view path = args.Bytes();
  const std::string_view text = args.Bytes();
  const int64_t start = args.More() ? args.Integer() : 0;
  const int64_t end = args.More() ? args.Integer() : 0;
  TRY(args.Done());
  TRY(document.Open(path, MissingKey::kAllowed));
  const JsonValue value = TRY(document.Parse(text));
  if (!document.exists() || document.LacksLegacy()) return Status::Reply(kNoJsonPath);
  const auto reply_index = [&](const JsonValue& each) -> Status {
    if (IsArray(each)) {
      reply.Integer(TRY(IndexOf(each.array(), value, start, end, document.work())));
    } else {
      reply.Null();
    }
    return Ok();
  };
  if (!document.path().is_legacy()) return ReplyJsonMatches(document.matches(), document.work(), reply, reply_index);
  const JsonValue& array = *document.matches()[0].value;
  if (!IsArray(array)) return Status::Reply("WRONGTYPE wrong type of path value - expected array");
  return reply_index(array);
}

// JSON.ARRLEN key [path]
Status JsonArrLen(CommandContext& ctx, Args& args, Reply& reply) {
  JsonDocument document(ctx, args.Bytes());
  const std::string_view path = JsonPathArgument(args);
  TRY(args.Done());
  const auto parsed = TRY(ParseJsonPath(ctx, path));
  const bool is_legacy = parsed->is_legacy();
  TRY(document.Open(parsed, is_legacy ? MissingKey::kAllowed : MissingKey::kError));
  if (!document.exists()) {
    reply.Null();
    return Ok();
  }
  if (document.LacksLegacy()) return Status::Reply(kNoJsonPath);
  if (is_legacy) {
    const JsonValue& array = *document.matches()[0].value;
    if (!IsArray(array)) return Status::Reply("ERR Path does not exist or not an array");
    reply.Integer(Size(array));
    return Ok();
  }
  return ReplyJsonMatches(document.matches(), document.work(), reply, [&reply](const JsonValue& value) {
    if (IsArray(value)) {
      reply.Integer(Size(value));
    } else {
      reply.Null();
    }
    return Ok();
  });
}

constexpr auto kGroup = Group::kJson;
constexpr std::string_view kComplexity = "O(N) with N the size of the document";

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "json.arrappend", .arity = -4, .flags = kWrite | kDenyOom, .keys = {OneKey(kRW | kUpdate | kAccess)},
     .run = JsonArrAppend, .group = kGroup, .since = "1.0.0", .summary = "Appends values to the arrays at a path.",
     .complexity = kComplexity, .syntax = "key path value [value ...]"},
    {.name = "json.arrinsert", .arity = -5, .flags = kWrite | kDenyOom, .keys = {OneKey(kRW | kUpdate | kAccess)},
     .run = JsonArrInsert, .group = kGroup, .since = "1.0.0",
     .summary = "Inserts values before an index of the arrays at a path.", .complexity = kComplexity,
     .syntax = "key path index value [value ...]"},
    {.name = "json.arrpop", .arity = -2, .flags = kWrite, .keys = {OneKey(kRW | kAccess | kDelete)},
     .run = JsonArrPop, .group = kGroup, .since = "1.0.0",
     .summary = "Removes an element of the arrays at a path and returns it.", .complexity = kComplexity,
     .syntax = "key [FORMAT format] [path [index]]"},
    {.name = "json.arrtrim", .arity = 5, .flags = kWrite, .keys = {OneKey(kRW | kDelete)}, .run = JsonArrTrim,
     .group = kGroup, .since = "1.0.0", .summary = "Keeps only a range of the elements of the arrays at a path.",
     .complexity = kComplexity, .syntax = "key path start stop"},
    {.name = "json.arrindex", .arity = -4, .flags = kReadonly, .keys = {OneKey(kRO | kAccess)}, .run = JsonArrIndex,
     .group = kGroup, .since = "1.0.0", .summary = "Finds a value in the arrays at a path.",
     .complexity = kComplexity, .syntax = "key path value [start [stop]]"},
    {.name = "json.arrlen", .arity = -2, .flags = kReadonly, .keys = {OneKey(kRO)}, .run = JsonArrLen,
     .group = kGroup, .since = "1.0.0", .summary = "Returns the lengths of the arrays at a path.",
     .complexity = kComplexity, .syntax = "key [path]"},
};
// clang-format on

}  // namespace

std::span<const CommandRow> JsonArrayCommands() { return kRows; }

}  // namespace cairn
